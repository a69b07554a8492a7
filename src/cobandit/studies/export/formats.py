"""The formats in which a study can be exported: one list for the command line, the researcher's page and the server."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from cobandit.base.checks import one_of
from cobandit.base.extras import installed, require_extras
from cobandit.studies.data import StudyData, StudyParts
from cobandit.studies.export.folder import table_parts, write_export
from cobandit.studies.export.spss import write_sav_parts
from cobandit.studies.export.statistics import write_psych_ds_parts


@dataclass(frozen=True)
class ExportFormat:
    """A format by its name in commands and addresses, with a title for pages and the extra that it needs.

    ``derived`` formats are for statistics programs; they are made from the tables and cannot be read back.
    """

    name: str
    title: str
    extra: str | None = None
    derived: bool = False

    @property
    def available(self) -> bool:
        """Return whether everything that the format needs is installed; the page of a study asks."""
        return self.extra is None or installed(self.extra)

    def require(self, purpose: str) -> None:
        """Refuse, before any work, if the extra of the format is missing."""
        if self.extra is not None:
            require_extras(purpose, **{self.extra: True})


EXPORT_FORMATS = {
    known.name: known
    for known in (
        ExportFormat("csv", "CSV"),
        ExportFormat("parquet", "Parquet", "parquet"),
        ExportFormat("psych-ds", "Psych-DS, with an R script", derived=True),
        ExportFormat("sav", "SPSS", "spss", derived=True),
    )
}


def write_study(
    data: StudyData | StudyParts,
    folder: str | os.PathLike[str],
    format: str = "csv",
    *,
    recruiting: bool = False,
    texts: bool = False,
) -> list[Path]:
    """Write a study into a folder in any of `EXPORT_FORMATS`; return the paths written.

    Participants are read part by part. Only SPSS files need all rows in memory, because their writer takes whole
    tables.
    """
    wanted = EXPORT_FORMATS[one_of(tuple(EXPORT_FORMATS), "format of an export")("format", format)]
    wanted.require("Exporting a study")
    if not wanted.derived:
        return write_export(data, folder, format=format, recruiting=recruiting, texts=texts)
    study = data if isinstance(data, StudyParts) else StudyParts.of(data)
    # The part without participants gives a study without participants its empty tables.
    nobody = replace(study.about, participants=())
    parts = table_parts(replace(study, parts=chain([nobody], study.parts)), recruiting=recruiting, texts=texts)
    write = write_sav_parts if wanted.name == "sav" else write_psych_ds_parts
    return write(study.about.design, parts, folder)
