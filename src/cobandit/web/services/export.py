"""The data of a study as a zip file of tables."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import threading
import zipfile
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from cobandit.base.json_types import JsonObject
from cobandit.studies.data import StudyData, StudyParts
from cobandit.studies.export import EXPORT_FORMATS, write_study
from cobandit.web.refusals import Refused
from cobandit.web.roles import Viewer
from cobandit.web.services.studies import find_study, stored_study
from cobandit.web.storage.audit import record
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.study_data import study_parts

LOOK_SECONDS = 0.5
COMPRESSION = 1
"""The fastest level of zip files: a quarter of the time of level 6, for a fifth more bytes."""


Gone = Callable[[], Awaitable[bool]]
"""Whether the client has disconnected."""


class Exports:
    """Exports of one server, one after the other."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._one_at_a_time = asyncio.Lock()

    async def export(
        self, number: int, *, format: str, kind: str, recruiting: bool, texts: bool = False, gone: Gone, viewer: Viewer
    ) -> tuple[str, IO[bytes]]:
        """Return a name for a zip file, and the file, which is deleted from the disk once it is closed.

        Participants are read and written some at a time, so that memory does not grow with the study. The export ends
        when the client has disconnected.
        """
        viewer.require("export")
        EXPORT_FORMATS[format].require("Exporting a study in this format")
        study = await find_study(self._database, number)
        name = f"{study.name}-v{study.design.version}-{kind}-{format}"
        cancelled = threading.Event()
        # Written down before anything leaves: no data without an entry.
        details: JsonObject = {"format": format, "kind": kind, "recruiting": recruiting}
        details |= {"texts": True} if texts else {}
        await record_export(self._database, viewer, number, "export", tables="all", **details)

        def job(connection: Connection) -> IO[bytes]:
            stored = study_parts(connection, study, kind)
            parts = (_unless(cancelled, part) for part in stored.parts)
            return _pack(replace(stored, parts=parts), name, format, recruiting, texts)

        async with self._one_at_a_time:
            work = asyncio.ensure_future(self._database.ask(job, heavy=True))
            try:
                while not (await asyncio.wait({work}, timeout=LOOK_SECONDS))[0]:
                    if await gone():
                        cancelled.set()
                return f"{name}.zip", await work
            except asyncio.CancelledError:
                cancelled.set()
                raise


async def record_export(database: Database, viewer: Viewer, number: int | None, data: str, **details: Any) -> None:
    """Record that data leave the server, of one study or (None) of the server; refuse accounts without the right."""
    viewer.require(data)

    def job(connection: Connection) -> None:
        label = None if number is None else stored_study(connection, number).label
        record(connection, viewer.account, "export", label, **details)

    await database.commit(job)


def _unless(cancelled: threading.Event, part: StudyData) -> StudyData:
    if cancelled.is_set():
        raise Refused(499, "gone", "The export was cancelled, because the client has disconnected.")
    return part


def _pack(data: StudyParts, name: str, format: str, recruiting: bool, texts: bool) -> IO[bytes]:
    folder = Path(tempfile.mkdtemp(prefix="cobandit-export-"))
    packed: IO[bytes] | None = None
    try:
        write_study(data, folder / "export", format=format, recruiting=recruiting, texts=texts)
        packed = tempfile.TemporaryFile()  # noqa: SIM115 -- the answer closes it, once it is sent
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive:
            for path in sorted(file for file in (folder / "export").rglob("*") if file.is_file()):
                # Parquet files are compressed already.
                method = zipfile.ZIP_STORED if path.suffix == ".parquet" else zipfile.ZIP_DEFLATED
                archive.write(path, Path(name) / path.relative_to(folder / "export"), method)
        packed.seek(0)
        return packed
    except BaseException:
        if packed is not None:
            packed.close()
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
