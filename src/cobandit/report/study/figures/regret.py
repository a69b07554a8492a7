"""Regret over time: a line for each condition, the mean and the median side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis import Analysis
from cobandit.analysis.plan import episode_word
from cobandit.base.numbers import APA, DASH, count
from cobandit.report.kit.drawing import Array, Drawing, Line, draw_line, line_of, thinned
from cobandit.report.kit.figure import LETTERS, label_line_end, regret_axes, spread_labels
from cobandit.report.kit.palette import colour_of
from cobandit.report.kit.text import SPACE, capital
from cobandit.report.study.figures.base import (
    NotDrawn,
    StudyFigure,
    about_line,
    condition_labels,
    condition_numbers,
    nobody,
    regret_name,
    unit_count,
)
from cobandit.report.study.figures.sheet import HEAD, SMALL, Margins, panels_in, sheet, wrapped
from cobandit.stats import summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

END_LETTERS = 16
"""Letters on a line of the label at the end of a curve."""


def regret_drawing(analysis: Analysis, chosen: NDArray[np.bool_] | None = None) -> Drawing | None:
    """Regret over the rounds, a line for each condition with data; ``chosen``: of these participants. None: no data."""
    measured = analysis.units
    lines = []
    numbers = condition_numbers(analysis)
    for c, label in enumerate(condition_labels(analysis)):
        own = measured.points <= measured.design.rounds_of(measured.conditions[c])
        mean = measured.mean_curves[:, c, own]
        curves = _whole(mean if chosen is None else mean[chosen])
        if len(curves):
            lines.append(
                line_of(
                    summarise(curves),
                    measured.points[own],
                    name=measured.conditions[c],
                    label=f"{label} (n{SPACE}={SPACE}{len(curves)})",
                    number=numbers[c],
                    factor=measured.design.team_factors[measured.conditions[c]],
                )
            )
    if not lines:
        return None
    return Drawing(
        name="regret",
        title="Regret over time",
        fixed=analysis.design.title,
        runs=len(measured),
        horizon=analysis.design.most_rounds,
        lines=tuple(lines),
        levels=(),
    )


def as_planned(analysis: Analysis, drawing: Drawing) -> Drawing:
    """Return the drawing in the regret that the plan chooses."""
    return drawing.in_task_regret() if analysis.plan.regret == "task" else drawing


def _whole(curves: Array) -> Array:
    return curves[np.isfinite(curves).all(axis=1)] if curves.size else curves[:0]


def regret_over_time(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Cumulative regret by condition: the mean with its standard error, and the median with the middle 80 %."""
    design, title = analysis.design, f"{capital(regret_name(analysis))} over time"
    drawing = regret_drawing(analysis)
    if drawing is None:
        why = nobody(analysis) or f"No participant has played every {_episode(analysis)} of a condition to the end."
        return [NotDrawn("regret", title, why)]
    planned = as_planned(analysis, drawing)
    several = f", the mean over the {count(design.episodes, episode_word(design))}" if design.episodes > 1 else ""
    there = {line.name for line in planned.lines}
    empty = [
        label
        for name, label in zip(analysis.units.conditions, condition_labels(analysis), strict=True)
        if name not in there
    ]
    alone = any(not np.isfinite(line.se).all() for line in planned.lines)
    caption = (
        f"Cumulative {regret_name(analysis)} after each round{several}, of "
        f"{unit_count(analysis, len(analysis.units))}. The band is one standard error to either side of "
        "the mean; around the median, it holds the middle 80 %."
        + (f" A single {analysis.units.unit} has no standard error, so there is no band around it." if alone else "")
        + (f" No whole data: {', '.join(empty)}." if empty else "")
    )
    longest = max((line.rounds for line in planned.lines), key=len)
    keep = thinned(len(longest), 20)
    rows = [
        (
            f"{longest[k]:,}",
            *(
                APA.format(line.factor * float(part[k])) if k < len(part) else DASH
                for line in planned.lines
                for part in (line.mean, line.se, line.median, line.q10, line.q90)
            ),
        )
        for k in keep
    ]
    heads = [
        f"{line.label}: {part}"
        for line in planned.lines
        for part in ("mean", "standard error", "median", "10 %", "90 %")
    ]
    return [
        StudyFigure(
            name="regret",
            title=title,
            caption=caption,
            columns=("Round", *heads),
            rows=tuple(rows),
            draw=lambda width: _draw_regret(analysis, planned, width),
        )
    ]


def _episode(analysis: Analysis) -> str:
    return "round" if analysis.design.episodes == 1 else episode_word(analysis.design)


def _draw_regret(analysis: Analysis, planned: Drawing, width: float) -> Figure:
    stacked = width < 5.0
    height = HEAD + (5.0 if stacked else 2.8)
    about = about_line(analysis)
    figure = sheet(width, height, f"Cumulative {regret_name(analysis)}", about)
    shape = (2, 1) if stacked else (1, 2)
    means, medians = panels_in(figure, shape, Margins(0.62, 1.12, 0.45, HEAD + 0.25), gap=1.55, rise=0.75)
    for line in planned.lines:
        draw_line(means, line, "mean")
        draw_line(medians, line, "median")
    means.set_title("mean ± standard error", loc="left", fontsize=LETTERS)
    medians.set_title("median, middle 80 %", loc="left", fontsize=LETTERS)
    for axes, ends in (
        (means, [line.factor * float(line.mean[-1]) for line in planned.lines]),
        (medians, [line.factor * float(line.median[-1]) for line in planned.lines]),
    ):
        top = axes.get_ylim()[1]
        top = top if top > 1e-9 else 1.0
        axes.set_ylim(0, top)
        regret_axes(axes, planned.horizon)
        label_ends(axes, planned.lines, ends, top)
    means.set_ylabel(regret_name(analysis))
    if stacked:
        medians.set_ylabel(regret_name(analysis))
    return figure


def label_ends(axes: Any, lines: Sequence[Line], ends: Sequence[float], top: float, *, numbers: bool = False) -> None:
    """Name every line where it ends, with ``numbers`` also its last value; the panel is ``top`` high."""
    labels = [wrapped(line.label, END_LETTERS) for line in lines]
    if numbers:
        labels = [_with_number(label, APA.format(end)) for label, end in zip(labels, ends, strict=True)]
    gap = 0.075 * max(label.count("\n") + 1.4 for label in labels)
    places = spread_labels([end / top for end in ends], gap)
    for line, label, end, place in zip(lines, labels, ends, places, strict=True):
        label_line_end(axes, label, (end / top, place), colour_of(line.number), SMALL)


def _with_number(label: str, number: str) -> str:
    """Return a label with a number after it: on its last line, if there is enough space."""
    fits = len(label.rpartition("\n")[2]) + len(": ") + len(number) <= END_LETTERS
    return f"{label}: {number}" if fits else f"{label}:\n{number}"
