"""The results of a study in the browser: the analysis and the report of the data as they are now.

Everything that `cobandit study analyse` writes is written by a process of its own, so that participants never wait for
statistics or figures. The files of the latest report of each study are kept until the data change: they name people
by pseudonym, and a person may have been deleted.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import multiprocessing
import os
import shutil
import tempfile
import zipfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from cobandit.base.extras import require_extras
from cobandit.base.json_types import JsonObject
from cobandit.web.refusals import Refused
from cobandit.web.roles import Viewer
from cobandit.web.services.blinding import masks_for
from cobandit.web.services.export import record_export
from cobandit.web.services.studies import pulse, stored_study
from cobandit.web.services.watching import NICENESS
from cobandit.web.storage.database import Connection, Database
from cobandit.web.storage.study_data import study_data

if TYPE_CHECKING:
    from cobandit.analysis.findings import StudyResult

KINDS = ("real", "rehearsal")
WATCH_SECONDS = 2.0
"""How long the files of a report may outlive a change of the data, by whichever process."""

BLIND = "The results are hidden while you are blind to the conditions. Ask to see the conditions first."


@dataclass(frozen=True)
class StudyReport:
    """The files of a report, what the page shows of it, and the state of the data it was made of."""

    folder: Path
    summary: JsonObject
    state: str
    shown_to: set[str] = field(default_factory=set)
    """The accounts whose look at this report is in the audit log."""

    def packed(self) -> bytes:
        """Return all files as a zip archive."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
            for path in sorted(file for file in self.folder.rglob("*") if file.is_file()):
                target.write(path, path.relative_to(self.folder.parent))
        return archive.getvalue()


class Reports:
    """The latest report of each study. One is written at a time; those who ask meanwhile wait for it."""

    def __init__(self, database: Database, url: str) -> None:
        self._database = database
        self._url = url
        self._one_at_a_time = asyncio.Lock()
        self._reports: dict[tuple[int, str], StudyReport] = {}
        self._root: tempfile.TemporaryDirectory[str] | None = None

    async def report(self, number: int, kind: str, viewer: Viewer) -> StudyReport:
        """Return the report of the current data of a kind of participants; refuse a viewer who is blind to them."""
        viewer.require("export")
        await self._database.ask(lambda connection: _refuse_blind(connection, number, viewer, kind))
        require_extras("Showing the results of a study", stats=True, plot=True)
        async with self._one_at_a_time:
            state = await pulse(self._database, number)
            report = self._reports.get((number, kind))
            if report is None or report.state != state:
                report = self._reports[number, kind] = await asyncio.to_thread(self._make, number, kind, state)
            if viewer.account not in report.shown_to:
                await record_export(
                    self._database, viewer, number, "export", tables="results", format="page", kind=kind
                )
                report.shown_to.add(viewer.account)
            return report

    def _make(self, number: int, kind: str, state: str) -> StudyReport:
        if self._root is None:
            self._root = tempfile.TemporaryDirectory(prefix="cobandit-results-")
        folder = Path(self._root.name) / f"study-{number}-{kind}"
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            try:
                summary = pool.submit(_write, self._url, number, kind, str(folder)).result()
            except BrokenProcessPool:
                raise Refused(503, "busy", "The results could not be computed, please try again.") from None
        return StudyReport(folder, summary, state)

    async def watch(self) -> None:
        """Delete the files of every report whose data have changed; runs as long as the server does."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            async with self._one_at_a_time:
                for (number, kind), report in list(self._reports.items()):
                    try:
                        state = await pulse(self._database, number)
                    except Refused:  # the database is busy
                        continue
                    if state != report.state:
                        del self._reports[number, kind]
                        await asyncio.to_thread(shutil.rmtree, report.folder, ignore_errors=True)

    def close(self) -> None:
        """Delete the files."""
        if self._root is not None:
            self._root.cleanup()


def _refuse_blind(connection: Connection, number: int, viewer: Viewer, kind: str) -> None:
    """Refuse an account that has not asked to see the conditions: every result tells them apart."""
    if masks_for(connection, stored_study(connection, number), viewer, kind) is not None:
        raise Refused(403, "blind", BLIND)


# ---- within the process ----


def _write(url: str, number: int, kind: str, folder: str) -> JsonObject:
    """Write the analysis and the report into a folder, and return what the page shows of them."""
    from cobandit.analysis import analyse_data
    from cobandit.analysis.words import marks_note, p_cells, result_cells
    from cobandit.report import write_study_report
    from cobandit.report.kit.html import FIGURES

    with contextlib.suppress(AttributeError, OSError):  # not on Windows
        os.nice(NICENESS)
    database = Database(url)
    try:
        with database.read() as connection:
            data = study_data(connection, stored_study(connection, number), kind)
    finally:
        database.close()
    analysis = analyse_data(data, kind=kind)
    analysis.save(folder)
    write_study_report(analysis, folder)
    flow = analysis.measures.flow

    def cells(row: StudyResult) -> list[str]:
        id, n, test, _, effect, verdict = result_cells(row)
        return [row.question, id, n, test, *p_cells(row, analysis.plan), effect, verdict]

    return {
        "analysed": flow.analysed,
        "began": flow.began,
        "excluded": flow.excluded,
        "plan": analysis.stored.sentence,
        "planned": [cells(row) for row in analysis.planned],
        "exploratory": [cells(row) for row in analysis.exploratory],
        "marks": marks_note(analysis.plan),
        "exclusions": list(analysis.exclusions),
        "deviations": list(analysis.deviations),
        "notes": list(analysis.notes),
        "figures": sorted(path.stem for path in (Path(folder) / FIGURES).glob("*.svg")),
    }
