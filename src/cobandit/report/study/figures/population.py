"""Two populations: regret over time of those who research AI (left) and of the others (right)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cobandit.analysis import Analysis, StudyResult
from cobandit.analysis.plan import researcher_question
from cobandit.analysis.teams import MIXED
from cobandit.analysis.words import statistic
from cobandit.base.numbers import DASH
from cobandit.report.kit.drawing import Drawing, draw_line
from cobandit.report.kit.figure import LETTERS, regret_axes
from cobandit.report.kit.palette import GREY
from cobandit.report.kit.text import capital
from cobandit.report.study.figures.base import (
    STARS,
    NotDrawn,
    StudyFigure,
    about_line,
    condition_labels,
    correction,
    level_text,
    nobody,
    p_text,
    regret_name,
    sample_cells,
    unit_count,
    verdict_text,
)
from cobandit.report.study.figures.regret import as_planned, label_ends, regret_drawing
from cobandit.report.study.figures.sheet import HEAD, SMALL, Margins, panels_in, sheet, wrapped

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Two populations over time"


def population_split(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Regret over time, a panel for each answer to the question that splits the participants (Fig. "researchers")."""
    question = researcher_question(analysis.design)
    if question is None:
        return [NotDrawn("population", TITLE, "The design has no question that splits the participants.")]
    given = analysis.units.group(question.id)
    panels = []
    for choice in question.choices:
        drawing = regret_drawing(analysis, np.array([answer == choice for answer in given], dtype=bool))
        panels.append((choice, None if drawing is None else as_planned(analysis, drawing)))
    if not any(drawing for _, drawing in panels):
        why = nobody(analysis) or f"No participant who answered {question.text!r} has complete data."
        return [NotDrawn("population", TITLE, why)]
    silent, mixed = sum(answer is None for answer in given), sum(answer is MIXED for answer in given)
    answers = ", ".join(f"{sum(answer == choice for answer in given)} {choice!r}" for choice in question.choices)
    empty = [choice for choice, drawing in panels if drawing is None]
    tests = _tests(analysis, question.id)
    sides = f" (left: {question.choices[0]!r}, right: {question.choices[1]!r})" if len(panels) == 2 else ""
    caption = (
        f"Cumulative {regret_name(analysis)} after each round by the answer to {question.text!r}{sides}, of "
        f"{unit_count(analysis, len(analysis.units))} ({answers}"
        + (f", {silent} without answer" if silent else "")
        + (f", {mixed} whose members differ" if mixed else "")
        + "). The bands are one standard error to either side of the mean. "
        + _between(analysis, tests)
        + (f" No participant with data answered {' or '.join(map(repr, empty))}." if empty else "")
    )
    return [
        StudyFigure(
            name="population",
            title=TITLE,
            caption=caption.strip(),
            columns=(
                "Condition", question.text, "n", "M", "SD", f"{level_text(analysis)} interval", "Welch", "p", "Student",
                "p (Student)",
            ),
            rows=tuple(_rows(analysis, question.id, tests)),
            draw=lambda width: _draw_population(analysis, panels, question.text, width),
        )
    ]  # fmt: skip


Tests = dict[str, tuple[StudyResult | None, StudyResult | None]]
"""By condition, Welch's and Student's test between the populations."""


def _tests(analysis: Analysis, question: str) -> Tests:
    tests: Tests = {}
    measure = analysis.plan.regret_measure
    for condition in analysis.units.conditions:
        answers = [
            row
            for row in analysis.section("hypothesis")
            if row.group == question and row.compares == (condition,) and row.measure == measure
        ]
        beside = [row for row in analysis.section("companion") if answers and row.id.startswith(f"{answers[0].id}/")]
        by_test = {row.finding.test: row for row in (*answers[:1], *beside)}
        tests[condition] = (by_test.get("Welch t"), by_test.get("Student t"))
    return tests


def _between(analysis: Analysis, tests: Tests) -> str:
    """Return the tests between the populations, in a caption."""
    parts = []
    for label, (welch, student) in zip(condition_labels(analysis), tests.values(), strict=True):
        known = [("Welch's t", welch), ("Student's t", student)]
        said = ", ".join(f"{name}: {verdict_text(analysis, row)}" for name, row in known if row is not None)
        parts += [f"{label}: {said}"] if said else []
    rows = [row for pair in tests.values() for row in pair]
    return f"Between the two: {'; '.join(parts)}. {STARS}{correction(analysis, rows)}." if parts else ""


def _rows(analysis: Analysis, question: str, tests: Tests) -> list[tuple[str, ...]]:
    rows = []
    for label, condition in zip(condition_labels(analysis), analysis.units.conditions, strict=True):
        split = [
            row
            for row in analysis.described
            if row.measure == analysis.plan.regret_measure and row.condition == condition and row.question == question
        ]
        for place, row in enumerate(split):
            cells: list[str] = []
            for test in tests[condition]:
                tested = place == 0 and test is not None and test.finding.p is not None
                cells += [statistic(test.finding), p_text(test.finding.p)] if tested and test else [DASH, DASH]
            rows.append((label, row.answer, *sample_cells(row.description), *cells))
    return rows


def _draw_population(
    analysis: Analysis, panels: Sequence[tuple[str, Drawing | None]], asked: str, width: float
) -> Figure:
    stacked = width < 5.0
    across = 1 if stacked else min(len(panels), 2)
    down = math.ceil(len(panels) / across)
    letters = int((width - 0.62 - 1.12 - 1.55 * (across - 1)) / across / 0.062)
    question = wrapped(asked, letters, 2)
    titled = 0.14 * (question.count("\n") + 1)  # inches, for the question above the answer
    height = HEAD + 0.1 + ((2.55 if stacked else 2.75) + titled) * down
    figure = sheet(width, height, f"{capital(regret_name(analysis))} of two populations", about_line(analysis))
    margins = Margins(0.62, 1.12, 0.45, HEAD + 0.3 + titled)
    drawn = panels_in(figure, (down, across), margins, gap=1.55, rise=0.8 + titled)
    tops = [line.top("mean") for _, drawing in panels if drawing is not None for line in drawing.lines]
    top = 1.05 * max(tops) or 1.0
    for place, axes in enumerate(drawn):
        if place >= len(panels):
            axes.set_visible(False)
            continue
        choice, drawing = panels[place]
        axes.set_title(f"{question}\n{wrapped(choice, letters, 1)}", loc="left", fontsize=LETTERS)
        axes.set_ylim(0, top)
        regret_axes(axes, analysis.design.most_rounds)
        axes.set_ylabel(regret_name(analysis) if place % across == 0 else "")
        if drawing is None:
            axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", fontsize=SMALL, color=GREY)
            continue
        for line in drawing.lines:
            draw_line(axes, line, "mean")
        ends = [line.factor * float(line.mean[-1]) for line in drawing.lines]
        label_ends(axes, drawing.lines, ends, top, numbers=True)
    return figure
