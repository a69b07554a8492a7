"""``cobandit study analyse``: a study, real or rehearsed, as the results section of a paper."""

from __future__ import annotations

import io
import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import InvalidInput, MissingExtra, UnknownName
from cobandit.base.extras import installed, require_extras
from cobandit.cli import output
from cobandit.cli.door import say
from cobandit.cli.study.common import DATABASE, THE_OUTPUT, DatabaseUrl, Version, existing_database, stored_study

if TYPE_CHECKING:
    from cobandit.analysis import Analysis, AnalysisPlan, Result

KINDS = ("real", "rehearsal")
RESULTS = "results.json"
THE_DATA = "The data"


def analyse(
    study: Annotated[
        str, typer.Argument(metavar="STUDY|EXPORT-DIR", help="A stored study, or the folder of an export.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="The folder to fill (out/STUDY-analysis, where not given).", rich_help_panel=THE_OUTPUT
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            metavar="real|rehearsal",
            help="People, or simulated ones (people, where there are any).",
            rich_help_panel=THE_DATA,
        ),
    ] = None,
    plan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml",
            help="Follow this plan; whatever it changes in the stored one is a deviation.",
            rich_help_panel=THE_DATA,
        ),
    ] = None,
    changed: Annotated[
        bool,
        typer.Option(
            "--changed", help="Read an export although its files were changed later.", rich_help_panel=THE_DATA
        ),
    ] = False,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the whole analysis as JSON.", rich_help_panel=THE_OUTPUT)
    ] = False,
) -> None:
    """Turn a study into the paper's results section: tests, figures, and the words.

    The folder gets results.json, results.csv (a row for each test), methods.md and results.md in the style of the APA,
    the plan that was followed, and the report. What was not planned before the data is called exploratory; every
    exclusion and every deviation from the plan is named.
    """
    if kind is not None and kind not in KINDS:
        raise UnknownName("kind of participants called", kind, KINDS)
    format = _format_of(Path(study))
    _require_extras(format)
    from cobandit.analysis import parse_plan, read_plan_text

    followed = None if plan is None else parse_plan(read_plan_text(plan), repr(str(plan)))
    if format is not None:
        made = _of_export(Path(study), kind, followed, changed)
    else:
        made = _of_database(study, kind, followed, database, version)
    folder = Path("out") / f"{made.design.name}-analysis" if out is None else out
    _check_folder(folder, made)
    if not len(made.measures):
        say("There is nobody to analyse; the files say so.")
    files = _write(made, folder)
    if json:
        output.print_json(made.to_dict())
    else:
        _show(made)
    for file in files:
        say(str(file))


def _format_of(folder: Path) -> str | None:
    """The kind of files of an export, None where the folder holds none; what is damaged is told by its reader."""
    about = folder / "study.json"
    if not about.is_file():
        return None
    try:
        return str(json_format.loads(about.read_text(encoding="utf-8"))["format"])
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ""


def _require_extras(format: str | None) -> None:
    """Refuse what cannot be analysed; what cannot be drawn is only told."""
    needed = {"stats": True, "web": format is None, "parquet": format == "parquet"}
    lacking = any(needed[extra] and not installed(extra) for extra in needed)
    # Figures are no condition, but whoever has to install something gets one command for everything.
    require_extras("Analysing a study", **needed, plot=lacking)
    if not installed("plot"):
        say(f"No report will be drawn: {MissingExtra('plot', 'Drawing figures')}")


def _of_export(folder: Path, kind: str | None, plan: AnalysisPlan | None, changed: bool) -> Analysis:
    from cobandit.analysis import analyse
    from cobandit.studies.export import read_export

    design, tables, about = read_export(folder, changed=changed)
    return analyse(design, tables, about, kind=kind, plan=plan)


def _of_database(
    study: str, kind: str | None, plan: AnalysisPlan | None, database: str, version: str | None
) -> Analysis:
    from cobandit.analysis import analyse_data

    if any(sign in study for sign in "/\\"):
        raise InvalidInput(f"{study!r} is no folder of an export: it has no study.json.")
    with existing_database(database) as opened:
        from cobandit.web.storage.study_data import census, study_data

        found = stored_study(opened, study, version)
        with opened.read() as connection:
            people = census(connection, found)
            real = people["finished"] + people["active"] + people["dropped"]
            chosen = kind or ("rehearsal" if not real and people["rehearsals"] else "real")
            data = study_data(connection, found, chosen)
    if kind is None and chosen == "rehearsal":
        say("No real participant has started yet; these are the simulated ones.")
    return analyse_data(data, kind=chosen, plan=plan)


def _check_folder(folder: Path, made: Analysis) -> None:
    """A new or an empty folder, or an earlier analysis of the same study."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{str(folder)!r} is a file; a folder is needed.")
    if not folder.exists() or not any(folder.iterdir()):
        return
    try:
        earlier = json_format.loads((folder / RESULTS).read_text(encoding="utf-8"))["study"]
    except (OSError, ValueError, TypeError, KeyError):
        earlier = None
    if earlier != made.design.name:
        raise InvalidInput(f"The folder {str(folder)!r} holds something else already; a new or an empty one is needed.")


def _write(made: Analysis, folder: Path) -> list[Path]:
    from cobandit.analysis import plan_toml
    from cobandit.analysis.analysis import COLUMNS
    from cobandit.base.files import whole_file

    table = io.StringIO()
    output.write_csv(table, COLUMNS, ([row[name] for name in COLUMNS] for row in made.rows()))
    texts = {
        RESULTS: json_format.dumps(made.to_dict(), indent=1, allow_nan=False) + "\n",
        "results.csv": table.getvalue(),
        "methods.md": _markdown("Methods", made.methods_parts),
        "results.md": _markdown("Results", made.results_parts),
        "plan.toml": plan_toml(made.plan),
    }
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, text in texts.items():
        with whole_file(folder / name) as file:
            file.write(text.encode("utf-8"))
        files.append(folder / name)
    if installed("plot"):
        files.append(_report(made, folder))
    return files


def _report(made: Analysis, folder: Path) -> Path:
    """The page with the figures."""
    from datetime import UTC, datetime

    from cobandit.report import write_study_report

    return write_study_report(made, folder, {"when": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"})


def _markdown(title: str, parts: tuple[tuple[str, str], ...]) -> str:
    return "\n\n".join([f"# {title}", *(f"**{name}.** {text}" for name, text in parts)]) + "\n"


def _show(made: Analysis) -> None:
    """The answers to the hypotheses in a table, and what readers must know beside it."""
    from cobandit.analysis import words

    screen = output.console()
    who = "simulated participants" if made.simulated else "participants"
    flow = made.measures.flow
    output.paragraph(
        screen, f"{made.design.title}: {flow.analysed} {who} analysed, {flow.excluded} of {flow.began} excluded."
    )
    output.paragraph(screen, made.stored.sentence)
    for status, rows in (("planned", made.planned), ("exploratory", made.exploratory)):
        if not rows:
            continue
        table = output.table(status, "n", "test", "p", "effect", "", first="left")
        for row in rows:
            table.add_row(*_cells(row))
        screen.print(table)
    for grid in made.grids:
        output.paragraph(
            screen,
            f"By {grid.by}: {grid.measure.replace('_', ' ')} lower with "
            f"{words.condition_label(made.design, grid.compares[0])} for {grid.lower} of {len(grid.rows)}, "
            f"p < .05 for {grid.significant}.",
        )
    for text in (*made.deviations, *made.exclusions):
        output.paragraph(screen, text)


def _cells(row: Result) -> list[str]:
    from cobandit.analysis import words

    found = row.finding
    p = "-" if row.p is None else words.p_value(row.p).removeprefix("p ").removeprefix("= ")
    effect = "-" if found.effect is None else f"{words.number(found.effect)}"
    verdict = row.verdict if row.planned or row.p is None else ""
    return [row.id, str(found.n), words.statistic(found) or "-", f"{p}{row.mark}", effect, verdict]
