"""Settings that live with the data."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, text

from cobandit.web.storage.schema import settings

# In one statement: between two of them another process may write the same.
_INSERT = "INSERT INTO settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value"
_WRITE = text(f"{_INSERT} = excluded.value")
_CLAIM = text(f"{_INSERT} = settings.value")


def read_setting(connection: Connection, name: str, *, lock: bool = False) -> str | None:
    """A setting, such as the hash of the password; ``lock``: whoever asks at the same time waits."""
    query = select(settings.c.value).where(settings.c.name == name)
    return connection.scalar(query.with_for_update() if lock else query)


def delete_setting(connection: Connection, name: str) -> None:
    """Keep it no longer."""
    connection.execute(delete(settings).where(settings.c.name == name))


def write_setting(connection: Connection, name: str, value: str) -> None:
    """Keep a setting; of two who write it at the same time the later one waits, and has the last word."""
    connection.execute(_WRITE, {"name": name, "value": value})


def claim_setting(connection: Connection, name: str, value: str) -> str:
    """The setting as it stands, or as given where there was none; whoever writes it waits for this transaction."""
    connection.execute(_CLAIM, {"name": name, "value": value})
    return str(connection.scalar(select(settings.c.value).where(settings.c.name == name)))
