"""``cobandit study analyse``: analyse a study, real or rehearsed, and write the results section."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, MissingExtra, UnknownName
from cobandit.base.extras import installed, require_extras
from cobandit.base.files import checked_folder
from cobandit.cli import output
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import DATABASE, THE_OUTPUT, DatabaseUrl, Version, existing_database, stored_study

if TYPE_CHECKING:
    from cobandit.analysis import Analysis, AnalysisPlan
    from cobandit.studies import StudyData

KINDS = ("real", "rehearsal")
THE_DATA = "The data"


@with_option_groups
def analyse(
    study: Annotated[str, typer.Argument(metavar="STUDY|EXPORT-DIR", help="Stored study, or folder of an export")],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for the results (default: out/STUDY-analysis)", rich_help_panel=THE_OUTPUT
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="real|rehearsal",
            help="Real or simulated participants (default: real, if any)",
            rich_help_panel=THE_DATA,
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="Analysis plan; changes to the stored one are deviations",
            rich_help_panel=THE_DATA,
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="Read an export whose files were changed later", rich_help_panel=THE_DATA),
    ] = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Analyse a study: tests, figures and a report.

    The report contains the paragraphs of a results section.

    The folder gets results.json, results.csv (a row for each test), methods.md and results.md in APA style, the
    analysis plan, and the report. Tests that were not planned before the data are marked as exploratory. Every
    exclusion and every deviation from the plan is listed.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of participants called", kind, KINDS)
    format = export_format(Path(study))
    require_study_extras("Analysing a study", format)
    if out is not None:
        checked_folder(out)  # checked before the work, not after it
    from cobandit.analysis import parse_plan, read_plan_text

    followed = None if plan is None else parse_plan(read_plan_text(plan), repr(str(plan)))
    if format is not None:
        analysis = _of_export(Path(study), kind, followed, changed)
    else:
        analysis = _of_database(study, kind, followed, database, version)
    folder = Path("out") / f"{analysis.design.name}-analysis" if out is None else out
    files = analysis.save(folder)
    if installed("plot"):
        from cobandit.cli.progress import working
        from cobandit.report import write_study_report

        with working("drawing figures"):
            files.append(write_study_report(analysis, folder))
    if not len(analysis.measures):
        say("There are no participants to analyse; the files say so.")
    if form.as_json:
        output.print_json(analysis.to_dict())
    else:
        _show(analysis)
    for file in files:
        say(str(file))


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


def _of_export(folder: Path, kind: str | None, plan: AnalysisPlan | None, changed: bool) -> Analysis:
    from cobandit.analysis import analyse
    from cobandit.studies.export import read_export

    design, tables, about = read_export(folder, changed=changed)
    return analyse(design, tables, about, kind=kind, plan=plan)


def _of_database(
    study: str, kind: str | None, plan: AnalysisPlan | None, database: str, version: int | None
) -> Analysis:
    from cobandit.analysis import analyse_data

    data, chosen = stored_data(study, kind, database, version)
    return analyse_data(data, kind=chosen, plan=plan)


def stored_data(study: str, kind: str | None, database: str, version: int | None) -> tuple[StudyData, str]:
    """Return a stored study, with the kind of its participants: real ones, if there are any and no kind is named."""
    if any(sign in study for sign in "/\\"):
        from pathlib import Path

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
            real = people["finished"] + people["active"] + people["dropped"]
            chosen = kind or ("rehearsal" if not real and people["rehearsals"] else "real")
            data = study_data(connection, stored, chosen)
    if kind is None and chosen == "rehearsal":
        say("No real participant has started yet; these are the simulated ones.")
    return data, chosen


def _show(analysis: Analysis) -> None:
    """Print the results of the hypotheses as a table, with the notes that readers need."""
    from cobandit.analysis import words

    screen = output.console()
    who = "simulated participants" if analysis.simulated else "participants"
    flow = analysis.measures.flow
    output.paragraph(
        screen, f"{analysis.design.title}: {flow.analysed} {who} analysed, {flow.excluded} of {flow.began} excluded."
    )
    output.paragraph(screen, analysis.stored.sentence)
    for status, rows in (("planned", analysis.planned), ("exploratory", analysis.exploratory)):
        if not rows:
            continue
        table = output.table(status, "n", "test", "p", "effect", "", first="left")
        for row in rows:
            table.add_row(*words.result_cells(row))
        screen.print(table)
    for grid in analysis.grids:
        output.paragraph(
            screen,
            f"By {grid.by}: {grid.measure.replace('_', ' ')} lower with "
            f"{words.condition_label(analysis.design, grid.compares[0])} for {grid.lower} of {len(grid.rows)}, "
            f"p < .05 for {grid.significant}.",
        )
    for text in (*analysis.deviations, *analysis.exclusions):
        output.paragraph(screen, text)
