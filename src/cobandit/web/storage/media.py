"""Pictures and videos of designs, by the hash of their content, which is never changed.

``added_at`` is when a file was last stored or named by a design: a file that nothing names any more is deleted some
time after it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from cobandit.web.storage.schema import draft_revisions, media, studies

_HASH = re.compile(r"(?<![0-9a-fA-F])[0-9a-fA-F]{64}(?![0-9a-fA-F])")


@dataclass(frozen=True)
class StoredMedia:
    """The content of a file, and its type."""

    type: str
    content: bytes


def add_media(connection: Connection, sha256: str, type: str, content: bytes, now: int) -> bool:
    """Store a file; return whether it is new. Simultaneous writers store it once."""
    if renew_media(connection, [sha256], now):
        return False
    try:
        with connection.begin_nested():
            connection.execute(insert(media).values(sha256=sha256, type=type, content=content, added_at=now))
    except IntegrityError:
        return False
    return True


def hashes_in(text: str) -> set[str]:
    """Return everything in the text of a design that may be the hash of a file."""
    return {sha256.lower() for sha256 in _HASH.findall(text)}


def renew_media(connection: Connection, hashes: Collection[str], now: int) -> int:
    """Store that files are in use now; return how many there are. On PostgreSQL a simultaneous deletion waits."""
    return connection.execute(update(media).where(media.c.sha256.in_(hashes)).values(added_at=now)).rowcount


def unused_media(connection: Connection, before: int, most: int) -> list[str]:
    """Return the hashes of files that no stored study and no draft names, and that were last in use ``before``."""
    unused = set(connection.scalars(select(media.c.sha256).where(media.c.added_at < before)))
    for column in (studies.c.design, draft_revisions.c.text) if unused else ():
        for text in connection.scalars(select(column)):
            unused -= hashes_in(text)
    return sorted(unused)[:most]


def delete_media(connection: Connection, hashes: Collection[str], before: int) -> int:
    """Delete files, unless they are in use again; return how many."""
    return connection.execute(delete(media).where(media.c.sha256.in_(hashes), media.c.added_at < before)).rowcount


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
