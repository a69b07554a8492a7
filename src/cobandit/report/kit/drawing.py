"""Regret curves as they are drawn: what figures, static pictures and charts share, so that all show one thing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.report.kit.palette import colour_of, dash_lengths, dashes_of
from cobandit.stats import Summary

Array = NDArray[np.float64]
Band = tuple[Array, Array, Array]
"""Centre, low and high of a curve."""

DIGITS = 5
"""Significant digits of the numbers that a chart is drawn from: far more than a screen has points."""


@dataclass(frozen=True, eq=False)
class Line:
    """One curve as it is drawn: statistics of its task regret over the runs, one entry per checkpoint.

    Team regret is ``factor`` times that. ``number`` is its place in the panel and decides colour and dashes.
    """

    name: str
    label: str
    number: int
    rounds: NDArray[np.int64]
    mean: Array
    se: Array
    median: Array
    q10: Array
    q90: Array
    factor: float

    @property
    def mean_band(self) -> Band:
        """The mean, one standard error to either side."""
        return self.mean, self.mean - self.se, self.mean + self.se

    @property
    def median_band(self) -> Band:
        """The median and the middle 80 %."""
        return self.median, self.q10, self.q90


def from_zero(values: Array) -> Array:
    """A curve with the round before the first, in which nothing is lost yet."""
    return np.concatenate([[0.0], values])


def line_of(stats: Summary, rounds: NDArray[np.int64], *, name: str, label: str, number: int, factor: float) -> Line:
    """A line from the statistics of its curves; a single one has no standard error."""
    return Line(
        name=name,
        label=label,
        number=number,
        rounds=rounds,
        mean=stats.mean,
        se=stats.se,
        median=stats.median,
        q10=stats.q10,
        q90=stats.q90,
        factor=factor,
    )


@dataclass(frozen=True)
class Level:
    """An upper bound on the team regret after the last round.

    ``sloping``: it is proportional to the rounds; else the same all along. ``number`` goes on from the curves'.
    """

    name: str
    label: str
    number: int
    value: float
    factor: float
    sloping: bool


@dataclass(frozen=True, eq=False)
class Drawing:
    """A panel as it is drawn: little more than its lines, whatever the number of runs."""

    name: str
    title: str
    fixed: str
    runs: int
    horizon: int
    lines: tuple[Line, ...]
    levels: tuple[Level, ...]

    @property
    def finite_levels(self) -> list[Level]:
        """The bounds that can be drawn."""
        return [level for level in self.levels if math.isfinite(level.value)]

    def in_task_regret(self) -> Drawing:
        """The same with every line in task regret."""
        return replace(self, lines=tuple(replace(line, factor=1.0) for line in self.lines))


# For print


def draw_line(axes: Any, line: Line, stats: Band, shade: float, *, from_zero: bool = True) -> None:
    """A curve with its band. A logarithmic axis has no place for round 0."""
    colour = colour_of(line.number)
    first = 0 if from_zero else 1
    rounds = np.concatenate([[0], line.rounds])[first:]
    centre, low, high = (line.factor * np.concatenate([[0.0], part])[first:] for part in stats)
    if np.isfinite(low).all():  # a single run has no standard error
        axes.fill_between(rounds, low, high, color=colour, alpha=shade, linewidth=0)
        for edge in (low, high):
            axes.plot(rounds, edge, color=colour, linewidth=0.5, alpha=0.6)
    axes.plot(rounds, centre, color=colour, linestyle=dashes_of(line.number), gid=line.name)


def draw_level(axes: Any, level: Level, horizon: int) -> None:
    """A bound along the rounds, on a logarithmic axis."""
    rounds = np.linspace(0, horizon, 101)[1 if level.sloping else 0 :]
    heights = level.value * rounds / horizon if level.sloping else np.full(len(rounds), level.value)
    style = {"color": colour_of(level.number), "linestyle": dashes_of(level.number)}
    axes.plot(rounds, heights, gid=f"bound-{level.name}", **style)


# For a chart on a page


def chart_data(drawing: Drawing) -> dict[str, Any]:
    """A drawing as the script of a page takes it."""
    return {
        "name": drawing.name,
        "horizon": drawing.horizon,
        "rounds": drawing.lines[0].rounds.tolist(),
        "curves": [
            {
                "label": line.label,
                "number": line.number,
                "dash": dash_lengths(line.number),
                "factor": line.factor,
                "mean": _rounded(line.mean),
                "se": _rounded(line.se) if np.isfinite(line.se).all() else None,
                "median": _rounded(line.median),
                "q10": _rounded(line.q10),
                "q90": _rounded(line.q90),
            }
            for line in drawing.lines
        ],
        "levels": [
            {
                "label": level.label,
                "number": level.number,
                "dash": dash_lengths(level.number),
                "factor": level.factor,
                "value": level.value,
                "sloping": level.sloping,
            }
            for level in drawing.finite_levels
            if level.factor > 0.0
        ],
    }


def _rounded(values: Array) -> list[float | int]:
    """Numbers as short as they can be drawn from."""
    short = [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
    return [int(value) if value.is_integer() else value for value in short]
