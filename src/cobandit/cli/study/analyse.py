"""``cobandit study analyse``: analyse a study, real or rehearsed, and write the results section."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cobandit.base.extras import installed
from cobandit.cli import output
from cobandit.cli.declare import flag, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import DATABASE, THE_OUTPUT, DatabaseUrl, Version
from cobandit.cli.study.source import THE_DATA, Kind, StudyOrExport, checked_source, stored_data

if TYPE_CHECKING:
    from cobandit.analysis import Analysis, AnalysisPlan


@with_option_groups
def analyse(
    study: StudyOrExport,
    out: Annotated[
        Path | None, option("DIR", "Folder for the results (default: out/STUDY-analysis)", THE_OUTPUT)
    ] = None,
    kind: Kind = None,
    plan: Annotated[
        Path | None, option("FILE.toml", "Analysis plan; changes to the stored one are deviations", THE_DATA)
    ] = None,
    changed: Annotated[bool, flag("--changed", "Read an export whose files were changed later", THE_DATA)] = False,
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
    format = checked_source("Analysing a study", study, kind, out)
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
    if any(row.mark for row in (*analysis.planned, *analysis.exploratory)):
        output.paragraph(screen, words.marks_note(analysis.plan))
    for grid in analysis.grids:
        output.paragraph(
            screen,
            f"By {grid.by}: {grid.measure.replace('_', ' ')} lower with "
            f"{words.condition_label(analysis.design, grid.compares[0])} for {grid.lower} of {len(grid.rows)}, "
            f"p < .05 for {grid.significant}.",
        )
    for text in (*analysis.deviations, *analysis.exclusions):
        output.paragraph(screen, text)
