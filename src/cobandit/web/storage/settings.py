"""Settings that live with the data."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from cobandit.web.storage.schema import settings


def read_setting(connection: Connection, name: str, *, lock: bool = False) -> str | None:
    """A setting, such as the hash of the password; ``lock``: whoever asks at the same time waits."""
    query = select(settings.c.value).where(settings.c.name == name)
    return connection.scalar(query.with_for_update() if lock else query)


def delete_setting(connection: Connection, name: str) -> None:
    """Keep it no longer."""
    connection.execute(delete(settings).where(settings.c.name == name))


def write_setting(connection: Connection, name: str, value: str) -> None:
    """Keep a setting."""
    connection.execute(delete(settings).where(settings.c.name == name))
    connection.execute(insert(settings).values(name=name, value=value))
