"""The researcher's logins, of which only digests are stored, and failed ones by network."""

from __future__ import annotations

import json

from sqlalchemy import Connection, delete, func, insert, select

from cobandit.web.storage.schema import admin_logins, failed_logins, settings
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.values import as_json

NETWORK_KNOWN_MS = 30 * 86_400_000
MOST_NETWORKS = 50
_NETWORKS = "login-networks"


def add_login(connection: Connection, digest: str, expires_at: int, now: int, **whose: str) -> None:
    """A login until a time, and whose it is; those that have ended are deleted."""
    connection.execute(delete(admin_logins).where(admin_logins.c.expires_at < now))
    connection.execute(insert(admin_logins).values(digest=digest, expires_at=expires_at, created_at=now, **whose))


def end_login(connection: Connection, digest: str) -> None:
    """End one login."""
    connection.execute(delete(admin_logins).where(admin_logins.c.digest == digest))


def end_logins(connection: Connection) -> None:
    """End every login: a new password is to keep out whoever knew the old one."""
    connection.execute(delete(admin_logins))


def count_failures(connection: Connection, network: str | None, since: int, now: int) -> int:
    """How many wrong passwords came from a network (None: from all) after a time; none can have come after now."""
    recent = select(func.count()).where(failed_logins.c.at > since, failed_logins.c.at <= now)
    return connection.scalar(recent if network is None else recent.where(failed_logins.c.address == network)) or 0


def add_failure(connection: Connection, network: str, at: int) -> int:
    """A wrong password; its number."""
    result = connection.execute(insert(failed_logins).values(address=network, at=at))
    assert result.inserted_primary_key is not None
    return int(result.inserted_primary_key[0])


def delete_failure(connection: Connection, number: int) -> None:
    """It was no failure."""
    connection.execute(delete(failed_logins).where(failed_logins.c.id == number))


def delete_failures(connection: Connection, before: int, now: int) -> None:
    """Delete failed logins from before a time, and those that a clock ahead of its time has left."""
    connection.execute(delete(failed_logins).where((failed_logins.c.at < before) | (failed_logins.c.at > now)))


def remember_network(connection: Connection, network: str, now: int) -> None:
    """Somebody has logged in from a network."""
    before: dict[str, int] = json.loads(claim_setting(connection, _NETWORKS, "{}"))
    known = {name: at for name, at in before.items() if 0 <= now - at < NETWORK_KNOWN_MS}
    latest = sorted((known | {network: now}).items(), key=lambda entry: entry[1])[-MOST_NETWORKS:]
    write_setting(connection, _NETWORKS, as_json(dict(latest)))


def network_is_known(connection: Connection, network: str, now: int) -> bool:
    """Whether somebody has logged in from a network in the last weeks."""
    at = _networks(connection).get(network)
    return at is not None and now - at < NETWORK_KNOWN_MS


def forget_networks(connection: Connection) -> None:
    """A new password: nobody has logged in with it, and nobody has failed to."""
    connection.execute(delete(settings).where(settings.c.name == _NETWORKS))
    connection.execute(delete(failed_logins))


def _networks(connection: Connection) -> dict[str, int]:
    stored = read_setting(connection, _NETWORKS)
    return {} if stored is None else json.loads(stored)
