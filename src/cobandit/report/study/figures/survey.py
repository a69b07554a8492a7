"""The survey: bars of agreement, with intervals and the paper's asterisks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cobandit.analysis import Analysis
from cobandit.analysis.plan import SCORE, SURVEY, contrasts
from cobandit.base.numbers import APA
from cobandit.report.kit.figure import LETTERS, bare_axes, faint_grid
from cobandit.report.kit.palette import GREY, colour_of
from cobandit.report.study.figures.base import (
    STARS,
    NotDrawn,
    StudyFigure,
    about_line,
    condition_labels,
    condition_numbers,
    correction,
    described,
    level_text,
    nobody,
    paired_result,
    sample_cells,
    unit_count,
)
from cobandit.report.study.figures.sheet import (
    HEAD,
    SMALL,
    Margins,
    fitting,
    key_shape,
    keys_on_top,
    panels_in,
    sheet,
    wrapped,
)
from cobandit.stats import Description

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LESS = "less is better"
"""The note on a statement that is negative about the AI."""

BAR = 0.19
"""Inches of one bar."""


def survey_bars(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Mean agreement with every item by condition, with intervals and the paper's asterisks."""
    measured, design = analysis.units, analysis.design
    title = "What the participants said"
    if not np.isfinite(measured.survey).any():
        return [NotDrawn("survey", title, nobody(analysis) or "No participant has answered the survey.")]
    groups = [_Bars(analysis, f"{SURVEY}{item.id}") for item in design.survey.items] + [_Bars(analysis, SCORE)]
    scale = f"from 1 ({design.survey.low}) to {design.survey.points} ({design.survey.high})"
    tests = [test for group in groups for _, test in group.tests]
    untested = any(test is None or test.p is None for test in tests)
    constant = [group.name for group in groups[:-1] if group.constant]
    turned = any(measured.reversed)
    caption = (
        f"Mean agreement {scale} of {unit_count(analysis, len(measured))}, with {level_text(analysis)} intervals."
        + (" The answers of a team are averaged over its members." if design.group is not None else "")
        + (
            " Every bar is the agreement with the statement next to it, as it was given; 'less is better' marks "
            "statements against the AI, whose answers are reversed in the score."
            if turned
            else " The score is the mean of all items."
        )
        + (f" {STARS}{correction(analysis, tests)}; what has no mark is not significant" if tests else "")
        + (", and where it says 'not tested', no test was possible" if tests and untested else "")
        + ("." if tests else "")
        + (f" All participants gave the same answer: {', '.join(constant)}." if constant else "")
    )
    labels = condition_labels(analysis)
    rows = [
        (group.name, f"{group.text} ({LESS})" if group.turned else group.text, labels[c], *sample_cells(sample))
        for group in groups
        for c, sample in enumerate(group.means)
    ]
    return [
        StudyFigure(
            name="survey",
            title=title,
            caption=caption,
            columns=("Item", "Statement", "Condition", "n", "M", "SD", f"{level_text(analysis)} interval"),
            rows=tuple(rows),
            draw=lambda width: _draw_survey(analysis, groups, width),
        )
    ]


class _Bars:
    """One item of the survey, or the score, in every condition."""

    def __init__(self, analysis: Analysis, measure: str) -> None:
        design, measured = analysis.design, analysis.units
        items = {item.id: item for item in design.survey.items}
        item = items.get(measure.removeprefix(SURVEY)) if measure != SCORE else None
        self.name = "score" if item is None else item.id
        self.text = "Mean of all items, reversed ones turned round" if item is None else item.text
        self.turned = item is not None and item.reversed
        samples = described(analysis, measure)
        self.means = [samples[name] for name in measured.conditions]
        self.tests = [
            (tuple(map(measured.column, pair)), paired_result(analysis, measure, pair)) for pair in contrasts(design)
        ]
        given = measured.totals(measure)
        given = given[np.isfinite(given)]
        self.constant = len(given) > 1 and float(np.ptp(given)) == 0.0


def _draw_survey(analysis: Analysis, groups: Sequence[_Bars], width: float) -> Figure:
    design = analysis.design
    sets = len(design.conditions)
    wide = width > 5.0
    each = max(BAR * sets + 0.16, 0.54 if wide else 0.36)
    names = [fitting(label, 2.6, SMALL) for label in condition_labels(analysis)]
    keys = key_shape(names, width)[1] + 0.06
    bottom = 0.46 if wide else 0.62
    height = HEAD + keys + bottom + each * (len(groups) + 0.25)
    about = about_line(analysis)
    figure = sheet(width, height, "What the participants said", about)
    margins = Margins(2.75 if wide else 0.95, 0.95 if wide else 0.75, bottom, HEAD + keys)
    (axes,) = panels_in(figure, (1, 1), margins)
    points = design.survey.points
    thick = BAR / each
    numbers = condition_numbers(analysis)
    middles = []
    for place, group in enumerate(groups):
        middle = place + (0.25 if place == len(groups) - 1 else 0.0)
        middles.append(middle)
        for c, sample in enumerate(group.means):
            _draw_bar(axes, middle + (c - (sets - 1) / 2) * thick, numbers[c], sample, thick)
        _draw_marks(axes, group, middle, sets, thick)
    axes.set_xlim(1, points + 0.15)
    axes.set_ylim(middles[-1] + 0.5, -0.5)
    axes.set_xticks(range(1, points + 1))
    axes.set_yticks([])
    ends = (f"1: {design.survey.low}", f"{points}: {design.survey.high}")
    space = (width - 3.7) / 2 if wide else width - 1.0
    axes.set_xlabel(("; " if wide else "\n").join(fitting(end, space, LETTERS) for end in ends))
    faint_grid(axes, "x")
    bare_axes(axes)
    _survey_labels(axes, groups, middles, wide)
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=colour_of(number), hatch=_hatch(number), edgecolor="#FFFFFF", linewidth=0.0)
        for number in numbers
    ]
    keys_on_top(figure, handles, names)
    return figure


def _hatch(number: int) -> str:
    """Return a hatch pattern in addition to the colour, for grey prints."""
    return "" if number % 2 == 0 else "////"


def _draw_bar(axes: Axes, y: float, number: int, sample: Description, thick: float) -> None:
    if sample.mean is None:
        axes.text(1.05, y, "no answers", va="center", fontsize=SMALL, color=GREY)
        return
    axes.barh(
        y, sample.mean - 1, thick * 0.92, left=1, color=colour_of(number), hatch=_hatch(number), edgecolor="#FFFFFF",
        linewidth=0.0,
    )  # fmt: skip
    high = sample.mean
    if sample.low is not None and sample.high is not None:
        axes.plot([sample.low, sample.high], [y, y], color="#000000", linewidth=1.0, clip_on=False)
        high = sample.high
    axes.annotate(
        APA.format(sample.mean), (high, y), xytext=(3, 0), textcoords="offset points", va="center", fontsize=SMALL,
        annotation_clip=False,
    )  # fmt: skip


def _draw_marks(axes: Axes, group: _Bars, middle: float, sets: int, thick: float) -> None:
    """Draw the asterisks right of the bars, each with a bracket around the two bars that it compares."""
    level = 0
    for columns, row in group.tests:
        tested = row is not None and row.p is not None
        mark = row.mark if row is not None else ""
        if tested and not mark:
            continue
        if not tested and sets > 2:
            continue  # several brackets would overlap; the caption lists them
        ends = [middle + (c - (sets - 1) / 2) * thick for c in columns]
        x = 1.0 + 0.09 + 0.05 * level  # in shares of the axes' width
        transform = axes.get_yaxis_transform()
        if tested:
            axes.plot(
                [x - 0.012, x, x, x - 0.012],
                [min(ends), min(ends), max(ends), max(ends)],
                color="#000000",
                linewidth=0.8,
                transform=transform,
                clip_on=False,
            )
        axes.text(
            x + 0.015,
            middle,
            mark if tested else "not\ntested",
            transform=transform,
            va="center",
            fontsize=LETTERS + 1.5 if tested else SMALL,
            color="#000000" if tested else GREY,
        )
        level += 1


def _survey_labels(axes: Axes, groups: Sequence[_Bars], middles: Sequence[float], wide: bool) -> None:
    for group, middle in zip(groups, middles, strict=True):
        less = f" ({LESS})" if group.turned else ""
        if wide:
            lines = wrapped(group.text, 46, 2)
            head: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "ha": "right"}
            shift = 5.5 * (lines.count("\n") + 1)
            axes.annotate(
                wrapped(group.name, 28, 1) + less, (0, middle), xytext=(-7, shift), va="center", fontsize=LETTERS,
                **head,
            )  # fmt: skip
            axes.annotate(lines, (0, middle), xytext=(-7, -6.5), va="center", fontsize=SMALL, color=GREY, **head)
        else:
            text = wrapped(group.name, 13, 2) + (f"\n{LESS}" if group.turned else "")
            axes.annotate(
                text, (0, middle), xycoords=("axes fraction", "data"), xytext=(-5, 0), textcoords="offset points",
                ha="right", va="center", fontsize=SMALL,
            )  # fmt: skip
