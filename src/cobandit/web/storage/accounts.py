"""Accounts: who may log in, as whom, and with which one-time codes.

The owner's password is the one that `cobandit study serve --password` sets; it stands among the settings, as it always
did.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select, update

from cobandit.web.storage.audit import OWNER
from cobandit.web.storage.logins import forget_browsers
from cobandit.web.storage.schema import accounts, admin_logins
from cobandit.web.storage.settings import read_setting, write_setting
from cobandit.web.storage.values import as_json

PASSWORD = "admin-password"
"""The setting that holds the hash of the owner's password."""


@dataclass(frozen=True)
class Account:
    """An account as stored; ``password`` is a hash, ``recovery`` are hashes of codes that were not used yet."""

    name: str
    role: str
    password: str | None
    code_key: str | None
    code_step: int
    recovery: tuple[str, ...]
    created_at: int


def _account(connection: Connection, row: Row[Any]) -> Account:
    password = read_setting(connection, PASSWORD) if row.name == OWNER else row.password
    recovery = tuple(json.loads(row.recovery))
    return Account(row.name, row.role, password, row.code_key, row.code_step, recovery, row.created_at)


def find_account(connection: Connection, name: str, *, lock: bool = False) -> Account | None:
    """Return an account by its name; ``lock``: simultaneous requests wait."""
    query = select(accounts).where(accounts.c.name == name)
    row = connection.execute(query.with_for_update() if lock else query).first()
    return None if row is None else _account(connection, row)


def all_accounts(connection: Connection) -> list[Account]:
    """Return every account, the first first."""
    rows = connection.execute(select(accounts).order_by(accounts.c.created_at, accounts.c.name)).all()
    return [_account(connection, row) for row in rows]


def add_account(connection: Connection, name: str, role: str, password: str, now: int) -> None:
    """Add an account, without one-time codes."""
    values = {"name": name, "role": role, "password": password, "code_step": 0, "recovery": "[]", "created_at": now}
    connection.execute(insert(accounts).values(**values))


def remove_account(connection: Connection, name: str) -> None:
    """Delete an account, end its logins and forget its browsers."""
    end_logins_of(connection, name)
    forget_browsers(connection, name)
    connection.execute(delete(accounts).where(accounts.c.name == name))


def set_password(connection: Connection, name: str, hashed: str) -> None:
    """Store another password, end every login, and forget every browser that is known by the old one."""
    if name == OWNER:
        write_setting(connection, PASSWORD, hashed)
    else:
        connection.execute(update(accounts).where(accounts.c.name == name).values(password=hashed))
    end_logins_of(connection, name)
    forget_browsers(connection, name)


def set_codes(connection: Connection, name: str, key: str | None, recovery: Sequence[str], step: int = 0) -> None:
    """Store the key of one-time codes and hashes of recovery codes; None: no codes."""
    values = {"code_key": key, "code_step": step, "recovery": as_json(list(recovery))}
    connection.execute(update(accounts).where(accounts.c.name == name).values(**values))


def use_step(connection: Connection, name: str, step: int) -> bool:
    """Return whether the code of a step of time is used for the first time, and none after it was."""
    newer = update(accounts).where(accounts.c.name == name, accounts.c.code_step < step)
    return connection.execute(newer.values(code_step=step)).rowcount == 1


def use_recovery(connection: Connection, name: str, digest: str) -> bool:
    """Return whether a recovery code was there; it is not any more."""
    account = find_account(connection, name, lock=True)
    if account is None or digest not in account.recovery:
        return False
    left = [code for code in account.recovery if code != digest]
    connection.execute(update(accounts).where(accounts.c.name == name).values(recovery=as_json(left)))
    return True


# Logins


@dataclass(frozen=True)
class Session:
    """A login that has not ended; ``id`` names it and opens nothing."""

    id: str
    account: str
    created_at: int
    expires_at: int
    via: str
    network: str


_ID_LENGTH = 16


def session_id(digest: str) -> str:
    """Return the name of a login."""
    return digest[:_ID_LENGTH]


def sessions(connection: Connection, now: int, account: str | None = None) -> list[Session]:
    """Return every login that has not ended, of one account or of all, the newest first."""
    query = select(admin_logins).where(admin_logins.c.expires_at > now).order_by(admin_logins.c.expires_at.desc())
    rows = connection.execute(query if account is None else query.where(admin_logins.c.account == account))
    return [
        Session(session_id(row.digest), row.account, row.created_at, row.expires_at, row.via, row.network)
        for row in rows
    ]


def end_session(connection: Connection, id: str, account: str | None) -> str | None:
    """End the login of a name, of one account or of any; whose it was, None where there is none."""
    mine = admin_logins.c.digest.startswith(id, autoescape=True)
    query = select(admin_logins.c.digest, admin_logins.c.account).where(mine)
    row = connection.execute(query if account is None else query.where(admin_logins.c.account == account)).first()
    if row is None or len(id) != _ID_LENGTH:
        return None
    connection.execute(delete(admin_logins).where(admin_logins.c.digest == row.digest))
    return str(row.account)


def end_logins_of(connection: Connection, name: str, but: str | None = None) -> None:
    """End every login of an account, except the one with the digest ``but``."""
    theirs = delete(admin_logins).where(admin_logins.c.account == name)
    connection.execute(theirs if but is None else theirs.where(admin_logins.c.digest != but))


def login_of(connection: Connection, digest: str) -> tuple[int, str, str] | None:
    """Return the end of a login (ms), its account, and the role; None: there is no login with this digest."""
    query = (
        select(admin_logins.c.expires_at, accounts.c.name, accounts.c.role)
        .join(accounts, accounts.c.name == admin_logins.c.account)
        .where(admin_logins.c.digest == digest)
    )
    row = connection.execute(query).first()
    return None if row is None else (int(row[0]), str(row[1]), str(row[2]))
