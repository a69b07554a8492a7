"""Health of the server: a real write, and free space on the disk."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass

from cobandit.web.refusals import Refused
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.settings import delete_setting, write_setting

FRESH_SECONDS = 2.0
LITTLE_ROOM = 1_000_000_000
_SETTING = "readiness"
_WRITTEN = "x" * 32_768  # some pages: an empty corner of one that is there already proves nothing


@dataclass(frozen=True)
class Disk:
    """The disk that a SQLite database lies on, in bytes."""

    free: int
    total: int

    @property
    def full(self) -> bool:
        """Whether it is time to do something."""
        return self.free < LITTLE_ROOM

    def __str__(self) -> str:
        return f"{_size(self.free)} of {_size(self.total)}"


class Health:
    """Whether this server can store what people do; asked often, by anybody, so an answer holds for two seconds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._checked = -FRESH_SECONDS
        self._refusal: Refused | None = None

    async def require(self) -> None:
        """Write something for real, or say why it cannot be done."""
        if time.monotonic() - self._checked >= FRESH_SECONDS:
            self._checked = time.monotonic()
            try:
                await self._database.commit(_write)
                self._refusal = None
            except Refused as refusal:
                self._refusal = refusal
        if self._refusal is not None:
            raise self._refusal

    def disk(self) -> Disk | None:
        """Return the free space on the disk; None for PostgreSQL, whose disk this server cannot see."""
        folder = self._database.folder
        try:
            usage = None if folder is None else shutil.disk_usage(folder)
        except OSError:
            usage = None
        return None if usage is None else Disk(usage.free, usage.total)


def _write(connection: Connection) -> None:
    write_setting(connection, _SETTING, _WRITTEN)
    delete_setting(connection, _SETTING)


def _size(count: float) -> str:
    units = ("B", "KB", "MB", "GB", "TB")
    place = 0
    while count >= 1000 and place < len(units) - 1:
        count, place = count / 1000, place + 1
    return f"{count:.1f} {units[place]}" if place and count < 10 else f"{count:.0f} {units[place]}"
