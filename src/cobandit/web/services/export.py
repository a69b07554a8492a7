"""The data of a study as a zip file of tables."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import IO

from cobandit.base.extras import require_extras
from cobandit.studies.data import StudyData
from cobandit.studies.export import write_export
from cobandit.web.services.studies import find_study
from cobandit.web.storage.database import Database
from cobandit.web.storage.study_data import study_data


class Exports:
    """Exports of one server, one after the other: a casino study fills a lot of memory."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._one_at_a_time = asyncio.Lock()

    async def export(self, number: int, *, format: str, kind: str, recruiting: bool) -> tuple[str, IO[bytes]]:
        """A name for a zip file, and the file, which is gone from the disk once it is closed."""
        require_extras("Exporting Parquet files", parquet=format == "parquet")
        study = await find_study(self._database, number)
        name = f"{study.name}-v{study.design.version}-{kind}-{format}"
        async with self._one_at_a_time:
            data = await self._database.ask(lambda connection: study_data(connection, study, kind))
            return f"{name}.zip", await asyncio.to_thread(_pack, data, name, format, recruiting)


def _pack(data: StudyData, name: str, format: str, recruiting: bool) -> IO[bytes]:
    folder = Path(tempfile.mkdtemp(prefix="cobandit-export-"))
    packed: IO[bytes] | None = None
    try:
        write_export(data, folder / "export", format=format, recruiting=recruiting)
        packed = tempfile.TemporaryFile()  # noqa: SIM115 -- the answer closes it, once it is sent
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted((folder / "export").rglob("*")):
                archive.write(path, Path(name) / path.relative_to(folder / "export"))
        packed.seek(0)
        return packed
    except BaseException:
        if packed is not None:
            packed.close()
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
