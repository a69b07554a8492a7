"""The comparison figure: teams on one problem, the mean and, because tails are heavy, the median."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cobandit.base.checks import is_list, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_path, make_folder
from cobandit.engine import Result
from cobandit.engine.result import RegretName, checked_regret
from cobandit.engine.words import distinct_labels
from cobandit.problem import FixedMeans, PiecewiseMeans, Problem, RandomMeans, RandomWalkMeans
from cobandit.report.kit.drawing import Line, Statistic, draw_line, from_zero, line_of
from cobandit.report.kit.figure import (
    TEXT_STAYS_TEXT,
    bare_axes,
    drawing_style,
    faint_grid,
    label_line_end,
    spread_labels,
    whole_numbers,
    write_figure,
)
from cobandit.report.kit.palette import COLOURS, algorithm_numbers, colour_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")

LONGEST_LINEAR = 20.0
"""Quantiles up to here are read well on a linear scale."""

SMALL = 9.0
"""The size of small letters, in points."""

STYLE = TEXT_STAYS_TEXT | {"font.size": SMALL + 1, "lines.linewidth": 2.0}

LABEL_GAP = 0.05
"""The least distance of two labels, as a share of a panel's height."""


def checked_figure(path: str | os.PathLike[str]) -> Path:
    """Create the folder of a figure and return the path; raise an error early if it cannot be drawn or written."""
    target = checked_path("path", path)
    if target.suffix.lower() not in FORMATS:
        raise InvalidInput(f"The figure must be a name that ends in {', '.join(FORMATS)}, got {str(target)!r}.")
    require_extras("Drawing a figure", plot=True)
    make_folder(target.parent)
    if target.is_dir() or not os.access(target.parent, os.W_OK):
        raise InvalidInput(f"The figure {str(target)!r} is a folder or lies in one that cannot be written to.")
    return target


def draw_comparison(results: Sequence[Result], path: str | os.PathLike[str], *, regret: RegretName = "task") -> Path:
    """Draw teams on one problem: left the mean with its standard error, right each median with its middle 80 %.

    ``regret`` is ``"task"`` or ``"team"``. If all results were diagnosed, task regret by cause is drawn below. The file
    is written completely or not at all.
    """
    if not is_list(results) or not (given := list(results)) or not all(isinstance(each, Result) for each in given):
        raise InvalidInput(f"results must be a list of at least one Result, got {short_repr(results)}.")
    checked_regret("regret", regret)
    target = checked_figure(path)
    with drawing_style(STYLE):
        write_figure(comparison_figure(given, regret), target, dpi=150)
    return target


def result_lines(results: Sequence[Result], regret: RegretName) -> list[Line]:
    """Return a line for each team, with a label that no other has."""
    labels = distinct_labels([result.team for result in results])
    numbers = algorithm_numbers([str(result.team.describe().get("agent", "")) for result in results])
    return [
        line_of(
            result.summary().of_regret(regret), result.checkpoints, name=label, label=label, number=number, factor=1.0
        )
        for number, label, result in zip(numbers, labels, results, strict=True)
    ]


def comparison_figure(results: Sequence[Result], regret: RegretName) -> Any:
    """Return the figure itself; ``regret`` is ``"task"`` or ``"team"``."""
    from matplotlib.figure import Figure

    curves = result_lines(results, regret)
    labels = [line.label for line in curves]
    rows = 1 if len(curves) <= 2 else 2 if len(curves) <= 8 else math.ceil(len(curves) / 4)
    columns = math.ceil(len(curves) / rows)
    diagnosed = all(result.counted is not None for result in results)
    below = 1.0 + 0.32 * len(results) if diagnosed else 0.0
    figure: Any = Figure(figsize=(13.0, 5.6 + below), layout="constrained")
    above = figure
    if diagnosed:
        above, bars = figure.subfigures(2, 1, height_ratios=(5.6, below))
        _draw_causes(bars, labels, results)
    left, right = above.subfigures(1, 2, width_ratios=(1.0, 1.15))
    means = left.subplots()
    _draw_means(means, curves)
    means.set_ylabel(f"cumulative {regret} regret")
    left.suptitle("Mean over the runs, with its standard error", fontsize=SMALL + 2)
    panels = right.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
    for place, panel in enumerate(panels):
        if place < len(curves):
            _draw_median(panel, curves, place, last_in_column=place + columns >= len(curves))
        else:
            panel.set_visible(False)
    scale = " (logarithmic above 1)" if _highest(curves) > LONGEST_LINEAR else ""
    right.suptitle(f"Median, with the middle 80 % of the runs{scale}", fontsize=SMALL + 2)
    figure.suptitle(comparison_title(results[0]), fontsize=SMALL + 3, fontweight="bold")
    return figure


def _draw_causes(figure: Figure, labels: Sequence[str], results: Sequence[Result]) -> None:
    """Draw the task regret of every team after the last round as a bar with one part per cause."""
    axes = figure.subplots()
    causes = results[0].diagnostics.causes
    pieces = np.array([result.diagnostics.regret[-1] for result in results])
    starts = np.cumsum(pieces, axis=1) - pieces
    for number, name in enumerate(causes):
        colour = COLOURS[number % len(COLOURS)]
        axes.barh(labels, pieces[:, number], left=starts[:, number], color=colour, label=name, alpha=0.8)
    axes.invert_yaxis()
    axes.set_xlim(left=0.0)
    axes.set_xlabel("task regret after the last round, by cause")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=SMALL)
    bare_axes(axes)
    figure.suptitle("Why the teams lost", fontsize=SMALL + 2)


def _mark(label: str) -> str:
    """Return the id by which an SVG file can be searched for a team's line."""
    return re.sub(r"[^\w.]+", "-", label.replace(" + ", "-and-")).strip("-")


def _broken(label: str) -> str:
    """Return a label with a line for each member of a mixed team, and one for the options that distinguish it."""
    return label.replace(" + ", " +\n").replace(" (", "\n(")


def _draw(axes: Axes, line: Line, statistic: Statistic, shade: float) -> None:
    draw_line(axes, replace(line, name=f"{statistic}-{_mark(line.label)}"), statistic, shade)


def _draw_means(axes: Axes, lines: Sequence[Line]) -> None:
    """Draw all teams in one panel, each named where its line ends."""
    for line in lines:
        _draw(axes, line, "mean", 0.2)
    top = 1.05 * max(line.top("mean") for line in lines) or 1.0
    axes.set_xlim(0, int(lines[0].rounds[-1]))
    axes.set_ylim(0, top)
    _plain_axes(axes)
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel("round")
    ends = [float(line.mean[-1]) / top for line in lines]
    gap = LABEL_GAP * max(_broken(line.label).count("\n") + 1 for line in lines)
    for line, end, place in zip(lines, ends, spread_labels(ends, gap), strict=True):
        label_line_end(axes, _broken(line.label), (end, place), colour_of(line.number), SMALL)


def _draw_median(axes: Axes, lines: Sequence[Line], place: int, *, last_in_column: bool) -> None:
    """Draw one team in front, the others' medians in grey behind it; bands of several teams would hide each other."""
    for number, other in enumerate(lines):
        if number != place:
            rounds = np.concatenate([[0], other.rounds])
            axes.plot(rounds, from_zero(other.median), color="#BBBBBB", linewidth=0.8, zorder=1)
    line = lines[place]
    _draw(axes, line, "median", 0.25)
    axes.set_title(_broken(line.label), fontsize=SMALL)
    top = _highest(lines)
    if top > LONGEST_LINEAR:
        # Linear up to 1, so that a regret of 0 has its place, and logarithmic above: the quantiles span decades.
        axes.set_yscale("symlog", linthresh=1.0, linscale=0.5)
        axes.set_yticks([0.0, *(10.0**power for power in range(math.ceil(math.log10(1.3 * top))))])
        axes.set_yticks([], minor=True)
        whole_numbers(axes.yaxis)
    axes.set_ylim(0, 1.3 * top if top > 0.0 else 1.0)
    axes.set_xlim(0, int(line.rounds[-1]))
    axes.locator_params(axis="x", nbins=3, integer=True)
    axes.tick_params(labelsize=SMALL - 1, labelbottom=last_in_column)
    _plain_axes(axes)
    if last_in_column:
        axes.set_xlabel("round", fontsize=SMALL)


def _highest(lines: Sequence[Line]) -> float:
    return max(line.top("median") for line in lines)


def _plain_axes(axes: Axes) -> None:
    bare_axes(axes)
    faint_grid(axes)
    whole_numbers(axes.xaxis)


def comparison_title(result: Result) -> str:
    """Return the problem and the runs in a line."""
    problem = result.problem
    arms = " x ".join(str(size) for size in problem.arms)
    kinds: dict[type, str] = {
        FixedMeans: "fixed means",
        RandomMeans: "random means",
        PiecewiseMeans: "means that change suddenly",
        RandomWalkMeans: "means that walk",
    }
    if isinstance(problem, Problem):
        means = kinds.get(type(problem.means), f"means by {type(problem.means).__name__}")
        means += ", relabelled arms" if problem.relabel else ""
    else:
        means = f"{problem.dynamics.name}, {problem.states:,} states, {problem.steps:,} steps"
    kind = "noise" if problem.observation.name == "noisy" else "observability"
    if not problem.steady_sight:
        kind = f"sight by {type(problem.observation).__name__}:"
    levels = ", ".join(f"{level:.3g}" for level in problem.observation.levels)
    return f"{arms} arms, {means}, {kind} {levels}; {result.runs:,} runs, seed {result.seed}"
