"""Accounts: adding and removing them, their passwords and one-time codes, and the logins that are open.

Every function works in the caller's transaction and writes to the audit log.
"""

from __future__ import annotations

import re
import secrets

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.web.refusals import Refused
from cobandit.web.roles import ROLES
from cobandit.web.security import code_step, hash_password, new_recovery_codes, recovery_digest
from cobandit.web.storage import accounts
from cobandit.web.storage.accounts import Account
from cobandit.web.storage.audit import OWNER, record
from cobandit.web.storage.database import Connection
from cobandit.web.storage.values import now_ms

SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1000
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")


def add_account(connection: Connection, by: str, name: str, role: str) -> str:
    """Return a new account; the password that was made up for it, which is shown once."""
    if not _NAME.fullmatch(name) or name in ("unknown", "server"):
        raise InvalidInput(
            f"The account is to be called {name!r:.60}; up to 40 lower-case letters, digits, dots, dashes and "
            "underscores are needed."
        )
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    if accounts.find_account(connection, name) is not None:
        raise InvalidInput(f"There is an account {name!r} already.")
    password = new_password()
    accounts.add_account(connection, name, role, hash_password(password), now_ms())
    record(connection, by, "account-added", account=name, role=role)
    return password


def remove_account(connection: Connection, by: str, name: str) -> None:
    """Delete an account and end its logins; the owner stays."""
    known_account(connection, name)
    if name == OWNER:
        raise InvalidInput("The owner's account cannot be removed.")
    accounts.remove_account(connection, name)
    record(connection, by, "account-removed", account=name)


def reset_account(connection: Connection, by: str, name: str) -> str:
    """Create a new password, which is shown once, and turn off one-time codes, after either was lost."""
    known_account(connection, name)
    password = new_password()
    accounts.set_password(connection, name, hash_password(password))
    accounts.set_codes(connection, name, None, ())
    record(connection, by, "account-changed", account=name, reset="password and codes")
    return password


def hashed_password(new: str) -> str:
    """Return the stored hash of a password."""
    if not SHORTEST_PASSWORD <= len(new) <= LONGEST_PASSWORD:
        raise InvalidInput(f"The new password has {len(new)} characters; at least {SHORTEST_PASSWORD} are needed.")
    return hash_password(new)


def change_password(connection: Connection, name: str, hashed: str) -> None:
    """Store another password; every login of the account ends."""
    known_account(connection, name)
    accounts.set_password(connection, name, hashed)
    record(connection, name, "password-changed", account=name)


def turn_codes_on(connection: Connection, name: str, key: str, code: str, keep: str | None = None) -> list[str]:
    """Ask for one-time codes from now on, and return the recovery codes, which are shown once.

    Every other login of the account ends: it was granted to the password alone. ``keep`` is the digest of the login
    that turns them on.
    """
    if known_account(connection, name).code_key is not None:
        raise InvalidInput("This account has one-time codes already; turn them off first.")
    if not re.fullmatch(r"[A-Z2-7]{32}", key):
        raise InvalidInput("The key of the codes is not one that this page has made; begin again.")
    step = code_step(key, code, now_ms() / 1000)
    if step is None:
        raise InvalidInput("The code does not fit. Check the clock of the phone, and type the code that it shows now.")
    recovery = new_recovery_codes()
    accounts.set_codes(connection, name, key, [recovery_digest(given) for given in recovery], step)
    accounts.end_logins_of(connection, name, but=keep)
    record(connection, name, "account-changed", account=name, codes="on")
    return recovery


def turn_codes_off(connection: Connection, name: str) -> None:
    """Ask for the password alone again."""
    known_account(connection, name)
    accounts.set_codes(connection, name, None, ())
    record(connection, name, "account-changed", account=name, codes="off")


def end_session(connection: Connection, by: str, role: str, session: str) -> None:
    """End a login: the user's own, or any as the owner."""
    whose = accounts.end_session(connection, session, None if role == "owner" else by)
    if whose is None:
        raise Refused(404, "not-found", "There is no such login; it may have ended.")
    record(connection, by, "login-ended", account=whose)


def known_account(connection: Connection, name: str) -> Account:
    """Return an account that must be there."""
    account = accounts.find_account(connection, name)
    if account is None:
        known = [stored.name for stored in accounts.all_accounts(connection)]
        raise UnknownName("account", name, known)
    return account


def new_password() -> str:
    """Return a password that is made up."""
    return secrets.token_urlsafe(12)
