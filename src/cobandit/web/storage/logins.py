"""The researcher's logins, of which only digests are stored, and failed ones by network."""

from __future__ import annotations

import json

from sqlalchemy import Connection, delete, func, insert, select

from cobandit.web.storage.schema import admin_logins, failed_logins, known_browsers, settings
from cobandit.web.storage.settings import claim_setting, read_setting, write_setting
from cobandit.web.storage.values import as_json

BROWSER_KNOWN_MS = 90 * 86_400_000
MOST_BROWSERS = 20
"""Of how many browsers each account is known, the latest ones."""
NETWORK_KNOWN_MS = 30 * 86_400_000
MOST_NETWORKS = 50
_NETWORKS = "login-networks"


def add_login(connection: Connection, digest: str, expires_at: int, now: int, **whose: str) -> None:
    """Store a login with its end and its account; expired logins are deleted."""
    connection.execute(delete(admin_logins).where(admin_logins.c.expires_at < now))
    connection.execute(insert(admin_logins).values(digest=digest, expires_at=expires_at, created_at=now, **whose))


def end_login(connection: Connection, digest: str) -> None:
    """End one login."""
    connection.execute(delete(admin_logins).where(admin_logins.c.digest == digest))


def end_logins(connection: Connection) -> None:
    """End every login: a new password must lock out everyone who knew the old one."""
    connection.execute(delete(admin_logins))


def count_failures(connection: Connection, network: str | None, since: int, now: int) -> int:
    """Return how many wrong passwords came from a network (None: from all) after a time; none can have come
    after now.
    """
    recent = select(func.count()).where(failed_logins.c.at > since, failed_logins.c.at <= now)
    return connection.scalar(recent if network is None else recent.where(failed_logins.c.address == network)) or 0


def add_failure(connection: Connection, network: str, at: int) -> int:
    """Return a wrong password; its number."""
    result = connection.execute(insert(failed_logins).values(address=network, at=at))
    assert result.inserted_primary_key is not None
    return int(result.inserted_primary_key[0])


def delete_failure(connection: Connection, number: int) -> None:
    """Delete an attempt that did not fail after all."""
    connection.execute(delete(failed_logins).where(failed_logins.c.id == number))


def delete_failures(connection: Connection, before: int, now: int) -> None:
    """Delete failed logins from before a time, and those that a clock ahead of its time has left."""
    connection.execute(delete(failed_logins).where((failed_logins.c.at < before) | (failed_logins.c.at > now)))


def remember_network(connection: Connection, network: str, now: int) -> None:
    """Record a login from a network."""
    before: dict[str, int] = json.loads(claim_setting(connection, _NETWORKS, "{}"))
    known = {name: at for name, at in before.items() if 0 <= now - at < NETWORK_KNOWN_MS}
    latest = sorted((known | {network: now}).items(), key=lambda entry: entry[1])[-MOST_NETWORKS:]
    write_setting(connection, _NETWORKS, as_json(dict(latest)))


def network_is_known(connection: Connection, network: str, now: int) -> bool:
    """Return whether there was a login from a network in the last weeks."""
    at = _networks(connection).get(network)
    return at is not None and now - at < NETWORK_KNOWN_MS


def forget_networks(connection: Connection) -> None:
    """Forget logins and failures of all networks after a new password."""
    connection.execute(delete(settings).where(settings.c.name == _NETWORKS))
    connection.execute(delete(failed_logins))


def remember_browser(connection: Connection, digest: str, account: str, now: int, before: str | None = None) -> None:
    """Know a browser in which an account has just logged in, in place of what it was known by ``before``."""
    theirs = known_browsers.c.account == account
    latest = select(known_browsers.c.digest).where(theirs).order_by(known_browsers.c.created_at.desc())
    newest = connection.scalars(latest.limit(MOST_BROWSERS - 1)).all()
    connection.execute(delete(known_browsers).where(theirs, known_browsers.c.digest.not_in(newest)))
    connection.execute(
        delete(known_browsers).where(
            (known_browsers.c.digest == before) | (known_browsers.c.created_at <= now - BROWSER_KNOWN_MS)
        )
    )
    connection.execute(insert(known_browsers).values(digest=digest, account=account, created_at=now))


def browser_is_known(connection: Connection, digest: str, account: str, now: int) -> bool:
    """Return whether an account has logged in from a browser in the last months."""
    query = select(known_browsers.c.created_at).where(
        known_browsers.c.digest == digest, known_browsers.c.account == account
    )
    at = connection.scalar(query)
    return at is not None and 0 <= now - at < BROWSER_KNOWN_MS


def forget_browsers(connection: Connection, account: str | None = None) -> None:
    """Forget the browsers of an account (None: of all accounts)."""
    everything = delete(known_browsers)
    connection.execute(everything if account is None else everything.where(known_browsers.c.account == account))


def _networks(connection: Connection) -> dict[str, int]:
    stored = read_setting(connection, _NETWORKS)
    return {} if stored is None else json.loads(stored)
