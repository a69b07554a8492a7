"""Where commands about finished studies read their data: a stored study or the folder of an export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, MissingExtra, UnknownName
from cobandit.base.extras import installed, require_extras
from cobandit.base.files import checked_folder
from cobandit.cli.declare import option
from cobandit.cli.door import say
from cobandit.cli.study.common import existing_database, stored_study

if TYPE_CHECKING:
    from cobandit.studies import StudyData

KINDS = ("real", "rehearsal")
THE_DATA = "The data"

StudyOrExport = Annotated[str, typer.Argument(metavar="STUDY|EXPORT-DIR", help="Stored study, or folder of an export")]
Kind = Annotated[
    str | None, option("real|rehearsal", "Real or simulated participants (default: real, if any)", THE_DATA)
]


def checked_source(work: str, study: str, kind: str | None, out: Path | None) -> str | None:
    """Return the file format of an export, or None for a stored study.

    Refuse an unknown kind of participants, missing extras and an output folder that cannot be used before any work.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of participants called", kind, KINDS)
    format = export_format(Path(study))
    require_study_extras(work, format)
    if out is not None:
        checked_folder(out)
    return format


def export_format(folder: Path) -> str | None:
    """Return the file format of an export, or None if the folder contains none. The reader reports damaged files."""
    about = folder / "study.json"
    if not about.is_file():
        return None
    try:
        return str(json.loads(about.read_text(encoding="utf-8"))["format"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ""


def require_study_extras(work: str, format: str | None) -> None:
    """Refuse data that cannot be read or tested; only warn if figures cannot be drawn."""
    needed = {"stats": True, "web": format is None, "parquet": format == "parquet"}
    lacking = any(needed[extra] and not installed(extra) for extra in needed)
    # Figures are optional, but if an extra is missing, the error contains one install command for all of them.
    require_extras(work, **needed, plot=lacking)
    if not installed("plot"):
        say(f"No report will be drawn: {MissingExtra('plot', 'Drawing figures')}")


def stored_data(study: str, kind: str | None, database: str, version: int | None) -> tuple[StudyData, str]:
    """Return a stored study, with the kind of its participants: real ones, if there are any and no kind is named."""
    if any(sign in study for sign in "/\\"):
        if not Path(study).exists():
            raise InvalidInput(
                f"The folder {study!r} is not there; one that `cobandit study export` has written is needed."
            )
        raise InvalidInput(f"{study!r} is no folder of an export: it has no study.json.")
    with existing_database(database) as opened:
        from cobandit.web.storage.study_data import census, study_data

        stored = stored_study(opened, study, version)
        with opened.read() as connection:
            people = census(connection, stored)
            real = people["finished"] + people["active"] + people["dropped"] + people["removed"]
            chosen = kind or ("rehearsal" if not real and people["rehearsals"] else "real")
            data = study_data(connection, stored, chosen)
    if kind is None and chosen == "rehearsal":
        say("No real participant has started yet; these are the simulated ones.")
    return data, chosen
