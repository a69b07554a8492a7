"""The report of an analysed human-AI study: figures for print, and one self-contained HTML file.

The page starts with its main figure, regret over time. Then it follows the order in which a reviewer reads:
participants and exclusions, plan, results, text for a paper, other figures, checks. It marks every result as planned or
not, and says at the top whether the participants were people. A sentence explains every test or figure that was not
possible.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cobandit import __version__
from cobandit.analysis import Analysis, StudyResult
from cobandit.analysis.findings import NOT_SUPPORTED, SUPPORTED, UNTESTABLE
from cobandit.analysis.plan import GOOD, contrasts
from cobandit.analysis.plan_state import CHANGED, LATE, OPEN, PLANNED, UNPLANNED
from cobandit.analysis.words import (
    EXCLUSION_REASONS,
    condition_label,
    marks_note,
    numbers,
    people_word,
    regret_note,
    unit_note,
    unit_word,
)
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import make_folder
from cobandit.base.numbers import count
from cobandit.experiments.store import this_machine
from cobandit.report.kit.drawing import chart_data
from cobandit.report.kit.figure import FORMATS, NARROW, WIDE, figure_svg, save_figure
from cobandit.report.kit.html import FIGURES, Frame, dated, figure_kinds, named_facts, write_html
from cobandit.report.kit.static_svg import inline_figure
from cobandit.report.study.figures import study_figures
from cobandit.report.study.figures.base import NotDrawn, StudyFigure, level_text, paired_result
from cobandit.report.study.figures.regret import regret_drawing
from cobandit.report.study.figures.sheet import HEAD
from cobandit.report.study.tables import ResultTable, data_table, description_table, result_anchor, result_table

if TYPE_CHECKING:
    from markupsafe import Markup

NAME = "report.html"

VERDICTS = {SUPPORTED: "holds", NOT_SUPPORTED: "does not hold", UNTESTABLE: "undecided"}
"""Which verdict of a simulation looks like which one of a hypothesis."""

KINDS = {"rehearsal": "SIMULATED", "demo": "visitors of the demo", "real": "real"}

PLANS = {
    PLANNED: ("holds", "fixed before the first participant"),
    OPEN: ("holds", "stored before any real participant"),
    LATE: ("does not hold", "stored after the data"),
    CHANGED: ("does not hold", "not the plan that was stored"),
    UNPLANNED: ("undecided", "no plan was stored"),
}
"""How the plan is headed, by its status."""

PLANNED_HEADS = {
    PLANNED: "Planned: asked for by a plan that was fixed before the first participant started",
    OPEN: "Planned: asked for by the stored plan; no real participant has started yet",
    LATE: "Planned: nothing counts as planned, because the plan was stored after the data",
    CHANGED: "Planned: nothing counts as planned, because the stored plan is not the original one",
    UNPLANNED: "Planned: nothing, because no plan was stored",
}
"""How the planned hypotheses are headed, by the status of the plan."""

CONTENTS = {
    "headline": "Headline",
    "participants": "Participants",
    "plan": "Plan",
    "summary": "Hypotheses",
    "results": "Results",
    "words": "Paragraphs",
    "figures": "More figures",
    "checks": "Checks",
    "left-out": "Left out",
    "made": "How it was made",
}

CHECKS = {
    "reliability": (
        "Does the survey measure one thing?",
        "Cronbach's alpha after each condition, and over all surveys; reversed items are turned round.",
    ),
    "order": (
        "Order and labels",
        "Whether it matters which condition came first, which set it was, and, where labels are swapped, how an arm is "
        "labelled. Carry-over compares those who began with one condition and with the other.",
    ),
    "robustness": (
        "Mixed-effects model",
        "The same comparison with a level for each participant, the set and the order; it also uses those who have a "
        "value in some conditions only.",
    ),
}
"""The checks, by section of the analysis: heading and explanation."""

TEAM_MODEL = (
    "The same comparison with a level for each team, a level for each of its members, and the set. What people play "
    "together is one observation with the mean of their levels, so no participant counts twice; teams that have a "
    "value in some conditions only are used too."
)


def write_study_report(
    analysis: Analysis, folder: str | os.PathLike[str], about: Mapping[str, object] | None = None
) -> Path:
    """Write ``folder/figures/*.pdf``, ``.svg``, ``.png`` and ``folder/report.html``; where the page is.

    ``about`` says what the analysis does not know: ``when`` the report was made (else: now), the ``command``,
    ``machine``, ``version``; ``title`` and ``lead`` replace the headline and the line under it. Any other key is shown
    as it is. Equal analyses and facts give equal files.
    """
    if not isinstance(analysis, Analysis):
        raise InvalidInput(f"The analysis is a {type(analysis).__name__}; what `analyse` gives is needed.")
    require_extras("Drawing the figures of a study", plot=True)
    out = make_folder(Path(folder))
    figures = study_figures(analysis)
    drawings = {figure.name: _written(figure, out / FIGURES) for figure in figures if isinstance(figure, StudyFigure)}
    for figure in figures:
        if isinstance(figure, NotDrawn):  # what an earlier report drew here is out of date
            for kind in FORMATS:
                (out / FIGURES / f"{figure.name}.{kind}").unlink(missing_ok=True)
    facts = {"version": __version__} | dated(about)
    headline, *others = (_figure(analysis, figure, drawings, out) for figure in figures)
    content = {
        "analysis": analysis,
        "contents": CONTENTS,
        "verdicts": VERDICTS,
        "headline": headline,
        "headline_answers": _headline(analysis),
        **_top(analysis),
        **_hypotheses(analysis),
        **_results(analysis),
        "figures": others,
        "checks": _checks(analysis),
        "left_out": _left_out(analysis, figures),
        "facts": _facts(analysis, facts),
    }
    return write_html(out / NAME, "study/report.html", _frame(analysis, facts), content)


def _frame(analysis: Analysis, about: Mapping[str, object]) -> Frame:
    of_whom = ": results of simulated participants" if analysis.simulated else ": results"
    drawing = regret_drawing(analysis)
    return Frame(
        title=str(about.get("title", analysis.design.title + of_whom)),
        lead=str(about.get("lead", _lead(analysis))),
        version=str(about["version"]),
        styles=("report.css", "study.css"),
        scripts=("report.js", "study.js"),
        data={"panels": [] if drawing is None else [chart_data(drawing) | {"regret": analysis.plan.regret}]},
    )


# The top


def _lead(analysis: Analysis) -> str:
    flow = analysis.measures.flow
    verdicts = Counter(row.verdict for row in analysis.planned)
    outcome = (
        f"{count(len(analysis.planned), 'planned hypothesis', 'planned hypotheses')}, {verdicts[SUPPORTED]} supported"
        if analysis.planned
        else "nothing was planned, every result is exploratory"
    )
    return f"{_analysed(analysis)} analysed of {flow.began} who began; {outcome}"


def _analysed(analysis: Analysis) -> str:
    """Return how many people are analysed, and in how many teams, where they are in teams."""
    people = people_word(analysis, analysis.measures.flow.analysed)
    return people if analysis.design.group is None else f"{people} in {unit_word(analysis, len(analysis.units))}"


def _headline(analysis: Analysis) -> list[tuple[StudyResult, str, str]]:
    """Return the answers on the two measures of performance, with the place on the page and the numbers of each."""
    answers = [
        row
        for measure in (analysis.plan.regret_measure, GOOD)
        for pair in contrasts(analysis.design)
        if (row := paired_result(analysis, measure, pair)) is not None
    ]
    return [(row, result_anchor(row), numbers(row.finding)) for row in answers]


def _top(analysis: Analysis) -> dict[str, object]:
    flow = analysis.measures.flow
    look, heading = PLANS[analysis.stored.status]
    rules = Counter(entry.rule for entry in analysis.measures.excluded)
    return {
        "analysed": _analysed(analysis),
        "unit_note": "" if analysis.design.group is None else unit_note(analysis.design),
        "flow": {
            "In the data": flow.in_tables,
            "Of another kind (real, simulated, demo)": -flow.of_another_kind,
            "Invited, never begun": -flow.not_begun,
            "Began": flow.began,
            "Excluded": -flow.excluded,
            "Analysed": flow.analysed,
        }
        | ({} if analysis.design.group is None else {"Teams analysed": len(analysis.units)}),
        "exclusion_reasons": [f"{many} {EXCLUSION_REASONS.get(rule, rule)}" for rule, many in rules.items()],
        "plan_look": look,
        "plan_heading": heading,
        "glance": _glance(analysis),
    }


def _glance(analysis: Analysis) -> dict[str, object]:
    design = analysis.design
    rounds = design.rounds_words.removesuffix("s").removesuffix(" round")
    sets = rounds if design.episodes == 1 else f"{design.episodes} episodes of {rounds}"

    def outcomes(rows: Sequence[StudyResult]) -> str | None:
        verdicts = Counter(row.verdict for row in rows)
        return ", ".join(f"{verdicts[verdict]} {verdict}" for verdict in VERDICTS if verdicts[verdict]) or None

    return {
        "Study": f"{design.name}, version {design.version}",
        "Participants": KINDS[analysis.kind] if analysis.measures.flow.began else "nobody yet",
        "Analysed": f"{analysis.measures.flow.analysed:,}",
        "Unit of tests": None if design.group is None else f"team; {len(analysis.units):,} analysed",
        "Excluded": f"{analysis.measures.flow.excluded:,}",
        "Conditions": ", ".join(condition_label(design, name) for name in analysis.measures.conditions),
        "Rounds": f"{sets} in each condition",
        "Plan": PLANS[analysis.stored.status][1],
        "Planned": outcomes(analysis.planned) or "nothing",
        "Exploratory": outcomes(analysis.exploratory),
        "Deviations": f"{len(analysis.deviations)}",
    }


# Hypotheses and results


def _hypotheses(analysis: Analysis) -> dict[str, object]:
    groups = {
        "planned": (PLANNED_HEADS[analysis.stored.status], analysis.planned),
        "exploratory": ("Exploratory: not planned before the data", analysis.exploratory),
    }
    every = (*analysis.planned, *analysis.exploratory)
    return {
        "alpha": f"{analysis.plan.alpha:g}".removeprefix("0"),
        "marks_note": marks_note(analysis.plan),
        "regret_note": regret_note(analysis.design, analysis.plan),
        "verdict_counts": {verdict: sum(row.verdict == verdict for row in every) for verdict in VERDICTS},
        "hypothesis_groups": [
            {
                "word": word,
                "head": head,
                "rows": [(row, result_anchor(row), numbers(row.finding)) for row in rows],
                "counts": [sum(row.verdict == verdict for row in rows) for verdict in VERDICTS],
            }
            for word, (head, rows) in groups.items()
        ],
    }


def _results(analysis: Analysis) -> dict[str, object]:
    planned = [row for answer in analysis.planned for row in _with_companions(analysis, answer)]
    others = [row for answer in analysis.exploratory for row in _with_companions(analysis, answer)]
    populations = [row for level in analysis.section("population") for row in _with_companions(analysis, level)]
    groups = [("Hypotheses", others), ("Populations", populations)]
    groups = [(title, rows) for title, rows in groups if rows]
    marks = analysis.plan.marks
    return {
        "level": level_text(analysis).removesuffix(" %"),
        "planned_results": result_table("Planned results", [("", planned)], marks) if planned else None,
        "exploratory_results": result_table("Exploratory results", groups, marks) if groups else None,
        "descriptions": description_table(analysis),
    }


def _with_companions(analysis: Analysis, answer: StudyResult) -> list[StudyResult]:
    """Return the result of a hypothesis, and its companion tests."""
    beside = analysis.section("companion", "anova")
    return [answer, *(row for row in beside if row.id.rpartition("/")[0] == answer.id)]


# Figures


def _written(figure: StudyFigure, folder: Path) -> list[Markup]:
    """Return the figure in its files; and as a part of the page, for wide screens and for narrow ones."""
    files = save_figure(lambda: figure.draw(WIDE), folder, figure.name)
    wide = files["svg"].read_text(encoding="utf-8")
    narrow = figure_svg(lambda: figure.draw(NARROW))
    label = f"{figure.title}. {figure.caption}"
    head = HEAD - 0.08
    return [
        inline_figure(svg, figure.name, label, kind=kind, head=head)
        for svg, kind in ((wide, "wide"), (narrow, "narrow"))
    ]


def _figure(
    analysis: Analysis, figure: StudyFigure | NotDrawn, drawings: Mapping[str, list[Markup]], out: Path
) -> dict[str, object]:
    if isinstance(figure, NotDrawn):
        return {"name": figure.name, "title": figure.title, "reason": figure.reason}
    drawing = regret_drawing(analysis) if figure.name == "regret" else None
    return {
        "name": figure.name,
        "title": figure.title,
        "reason": "",
        "caption": figure.caption,
        "kinds": figure_kinds(figure.name, out),
        "numbers": data_table(f"{figure.title}: the numbers", figure.columns, figure.rows),
        "pictures": drawings[figure.name],
        "labels": "" if drawing is None else ", ".join(line.label for line in drawing.lines),
    }


# Checks and exclusions


def _checks(analysis: Analysis) -> list[tuple[str, str, ResultTable | None]]:
    """Heading, explanation and results of each check; None: there is nothing to check."""
    checks = []
    for section, (title, text) in CHECKS.items():
        rows = analysis.section(section)
        if section == "robustness" and analysis.design.group is not None:
            text = TEAM_MODEL
        checks.append((title, text, result_table(title, [("", rows)], analysis.plan.marks) if rows else None))
    return checks


def _left_out(
    analysis: Analysis, figures: Sequence[StudyFigure | NotDrawn]
) -> list[tuple[str, str, Sequence[str], str]]:
    """Return the sections about exclusions and gaps: heading, subject, sentences, and the text if there are none."""
    untested = [
        f"{row.id}: {row.finding.note or row.reason or 'the method gave no p-value.'}"
        for row in analysis.results
        if row.finding.p is None and row.section != "reliability"
    ]
    untested += [
        f"{row.id}: {row.finding.note or 'alpha could not be computed.'}"
        for row in analysis.section("reliability")
        if row.finding.statistic is None
    ]
    undrawn = [f"{figure.title}: {figure.reason}" for figure in figures if isinstance(figure, NotDrawn)]
    gaps = [gap.sentence for gap in analysis.measures.gaps]
    return [
        ("People who were excluded", "exclusions", analysis.exclusions, "No one was excluded."),
        ("People who are in, but lack something", "gaps", gaps, "All analysed participants have complete data."),
        ("Tests that could not be made", "tests", untested, "Every test could be made."),
        ("Figures that could not be drawn", "figures", undrawn, "Every figure could be drawn."),
        ("Notes", "notes", analysis.notes, "There is nothing else to say."),
    ]


def _facts(analysis: Analysis, about: Mapping[str, object]) -> dict[str, object]:
    design, stored = analysis.design, analysis.stored
    given = named_facts(about)
    versions = dict(analysis.versions)
    analysed = versions.pop("analysed_with", None)
    known = {
        "Made": given.get("Made"),
        "Version": given.get("Version"),
        "Study": f"{design.name}, version {design.version}",
        "Design": f"SHA-256 {design.digest}",
        "Plan": "no stored plan" if stored.digest is None else f"SHA-256 {stored.digest}",
        "Plan fixed at": stored.fixed_at,
        "Participants": KINDS[analysis.kind],
        "Data written by": ", ".join(f"{name} {version}" for name, version in versions.items()) or "not known",
        "Analysed with": None if analysed is None else f"cobandit {analysed}",
        "Machine": this_machine(),
    }
    return known | given
