"""The researcher's logins, of which only digests are stored, and failed ones by address."""

from __future__ import annotations

from sqlalchemy import Connection, delete, func, insert, select

from cobandit.web.storage.schema import admin_logins, failed_logins


def add_login(connection: Connection, digest: str, expires_at: int, now: int) -> None:
    """A login until a time; those that have ended are deleted."""
    connection.execute(delete(admin_logins).where(admin_logins.c.expires_at < now))
    connection.execute(insert(admin_logins).values(digest=digest, expires_at=expires_at))


def login_expiry(connection: Connection, digest: str) -> int | None:
    """When a login ends (ms); None: there is none of this digest."""
    return connection.scalar(select(admin_logins.c.expires_at).where(admin_logins.c.digest == digest))


def end_login(connection: Connection, digest: str) -> None:
    """End one login."""
    connection.execute(delete(admin_logins).where(admin_logins.c.digest == digest))


def end_logins(connection: Connection) -> None:
    """End every login: a new password is to keep out whoever knew the old one."""
    connection.execute(delete(admin_logins))


def count_failures(connection: Connection, address: str, since: int) -> int:
    """How many wrong passwords came from an address after a time."""
    recent = select(func.count()).where(failed_logins.c.address == address, failed_logins.c.at > since)
    return connection.scalar(recent) or 0


def add_failure(connection: Connection, address: str, at: int) -> None:
    """A wrong password."""
    connection.execute(insert(failed_logins).values(address=address, at=at))


def delete_failures(connection: Connection, before: int) -> None:
    """Delete the addresses of failed logins from before a time."""
    connection.execute(delete(failed_logins).where(failed_logins.c.at < before))
