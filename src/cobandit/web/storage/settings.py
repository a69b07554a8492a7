"""Settings that live with the data."""

from __future__ import annotations

from sqlalchemy import Connection, delete, select, text

from cobandit.web.storage.schema import settings

# In one statement: between two of them another process may write the same.
_INSERT = "INSERT INTO settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value"
_WRITE = text(f"{_INSERT} = excluded.value")
_CLAIM = text(f"{_INSERT} = settings.value")


def read_setting(connection: Connection, name: str, *, lock: bool = False) -> str | None:
    """Return a setting, such as the hash of the password; ``lock``: simultaneous requests wait."""
    query = select(settings.c.value).where(settings.c.name == name)
    return connection.scalar(query.with_for_update() if lock else query)


def delete_setting(connection: Connection, name: str) -> None:
    """Keep it no longer."""
    connection.execute(delete(settings).where(settings.c.name == name))


def write_setting(connection: Connection, name: str, value: str) -> None:
    """Keep a setting; of two who write it at the same time the later one waits, and has the last word."""
    connection.execute(_WRITE, {"name": name, "value": value})


def claim_setting(connection: Connection, name: str, value: str) -> str:
    """Return the stored setting, or store the given one if there is none; other writers wait for this transaction."""
    connection.execute(_CLAIM, {"name": name, "value": value})
    return str(connection.scalar(select(settings.c.value).where(settings.c.name == name)))


def lease_setting(connection: Connection, name: str, owner: str, now: int, milliseconds: int) -> bool:
    """Take or renew a lease; return False where another owner has it."""
    value = claim_setting(connection, name, f"{owner} {now + milliseconds}")
    holder, _, until = value.partition(" ")
    if holder != owner and int(until) > now:
        return False
    write_setting(connection, name, f"{owner} {now + milliseconds}")
    return True
