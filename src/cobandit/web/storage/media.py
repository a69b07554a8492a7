"""Pictures and videos of designs, by the hash of their content; they are never changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import IntegrityError

from cobandit.web.storage.schema import media


@dataclass(frozen=True)
class StoredMedia:
    """The content of a file, and its type."""

    type: str
    content: bytes


def add_media(connection: Connection, sha256: str, type: str, content: bytes, now: int) -> bool:
    """Store a file; return whether it is new. Simultaneous writers store it once."""
    if connection.execute(select(media.c.sha256).where(media.c.sha256 == sha256)).first() is not None:
        return False
    try:
        with connection.begin_nested():
            connection.execute(insert(media).values(sha256=sha256, type=type, content=content, added_at=now))
    except IntegrityError:
        return False
    return True


def find_media(connection: Connection, sha256: str) -> StoredMedia | None:
    """Return a stored file by its hash."""
    row = connection.execute(select(media.c.type, media.c.content).where(media.c.sha256 == sha256)).first()
    return None if row is None else StoredMedia(row.type, bytes(row.content))


def missing_media(connection: Connection, hashes: Iterable[str]) -> set[str]:
    """Return the hashes of files that are not stored."""
    wanted = set(hashes)
    if not wanted:
        return wanted
    stored = connection.scalars(select(media.c.sha256).where(media.c.sha256.in_(wanted)))
    return wanted - set(stored)


def media_bytes(connection: Connection) -> int:
    """Return the size of all stored files."""
    return int(connection.scalar(select(func.coalesce(func.sum(func.length(media.c.content)), 0))) or 0)
