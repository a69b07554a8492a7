"""Pictures and videos of designs: stored with a study or from the editor, and sent to anybody who knows the hash."""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.studies import StudyDesign
from cobandit.studies.media import media_file, media_type
from cobandit.web.refusals import not_found
from cobandit.web.roles import Viewer
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.media import (
    StoredMedia,
    add_media,
    delete_media,
    find_media,
    media_bytes,
    missing_media,
    renew_media,
    unused_media,
)
from cobandit.web.storage.values import now_ms

CACHE_BYTES = 32 * 2**20
LARGEST_STORE = 2**30
"""How many bytes of uploads a server stores."""

UNUSED_MS = 7 * 24 * 3_600_000
"""How long a file stays that no stored study and no draft names: a page with a draft that is not saved yet may."""

MOST_DELETED = 20
"""Files in one transaction, for which participants may have to wait."""

UNKNOWN = "There is no picture or video at this address."


class MediaStore:
    """The files of one server; the latest ones are kept in memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache: OrderedDict[str, StoredMedia] = OrderedDict()
        self._one_reads = asyncio.Lock()

    async def find(self, sha256: str) -> StoredMedia:
        """Return a file by its hash. One is read at a time: many people ask for the same ones at the same moment."""
        known = self._cache.get(sha256)
        if known is None:
            async with self._one_reads:
                known = self._cache.get(sha256) or await self._read(sha256)
                self._cache[sha256] = known
        self._cache.move_to_end(sha256)
        while sum(len(stored.content) for stored in self._cache.values()) > CACHE_BYTES:
            self._cache.popitem(last=False)
        return known

    async def _read(self, sha256: str) -> StoredMedia:
        # Not with the heavy reads: participants wait for the pictures of their page.
        known = await self._database.ask(lambda connection: find_media(connection, sha256))
        if known is None:
            raise not_found(UNKNOWN)
        return known


def store_design_media(connection: Connection, design: StudyDesign) -> None:
    """Store the files that came with a design; refuse a design whose files are neither with it nor stored."""
    for file in design.media:
        if file.content is not None:
            add_media(connection, file.sha256, media_type(file.file), file.content, now_ms())
    renew_media(connection, [file.sha256 for file in design.media], now_ms())
    missing = missing_media(connection, (file.sha256 for file in design.media))
    names = [file.file for file in design.media if file.sha256 in missing]
    if names:
        raise InvalidInput(
            f"The files {', '.join(names)} of {design.name!r} are not stored at this server. Serve the design from the "
            "folder that has them, or upload them in the editor."
        )


async def upload(database: Database, viewer: Viewer, file: str, content: bytes) -> JsonObject:
    """Store a picture or video for drafts; return its entry in the table ``media`` of a design."""
    viewer.require("designs")
    read = await asyncio.to_thread(media_file, file, content)

    def job(connection: Connection) -> None:
        if media_bytes(connection) + len(content) > LARGEST_STORE:
            raise InvalidInput(f"All files together must have at most {LARGEST_STORE // 2**20} MiB.")
        if add_media(connection, read.sha256, media_type(file), content, now_ms()):
            record(connection, viewer.account, "file-uploaded", None, file=file, sha256=read.sha256, bytes=len(content))

    await database.commit(job)
    return read.to_dict() | {"type": media_type(file), "size": len(content)}


async def delete_unused(database: Database, viewer: Viewer) -> None:
    """Delete some of the files that have been named by no stored study and no draft for a while."""
    before = now_ms() - UNUSED_MS
    unused = await database.ask(lambda connection: unused_media(connection, before, MOST_DELETED), heavy=True)

    def job(connection: Connection) -> None:
        if deleted := delete_media(connection, unused, before):
            record(connection, viewer.account, "files-deleted", None, files=deleted)

    if unused:
        await database.commit(job)
