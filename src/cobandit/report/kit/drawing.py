"""Regret curves as they are drawn: what figures and charts share, so that all show one thing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.report.kit.figure import LETTERS, regret_axes
from cobandit.report.kit.palette import colour_of, dash_lengths, dashes_of
from cobandit.stats import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Band = tuple[Array, Array, Array]
"""Centre, low and high of a curve."""

Statistic = Literal["mean", "median"]

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

    def band(self, statistic: Statistic) -> Band:
        """Return the mean and one standard error to either side, or the median and the middle 80 %."""
        if statistic == "mean":
            return self.mean, self.mean - self.se, self.mean + self.se
        return self.median, self.q10, self.q90

    def top(self, statistic: Statistic) -> float:
        """Return the highest point of the curve and its band; a single run has no standard error."""
        centre, _, high = self.band(statistic)
        return self.factor * float(np.nanmax(np.fmax(centre, high)))

    def thinned(self, most: int) -> Line:
        """Return the line with at most ``most`` checkpoints, evenly spaced."""
        keep = thinned(len(self.rounds), most)
        parts = {name: getattr(self, name)[keep] for name in ("rounds", "mean", "se", "median", "q10", "q90")}
        return replace(self, **parts)


def from_zero(values: Array) -> Array:
    """Return a curve with the round before the first, in which nothing is lost yet."""
    return np.concatenate([[0.0], values])


def thinned(size: int, most: int) -> list[int]:
    """Return places evenly along a curve, with the first and the last."""
    return np.unique(np.rint(np.linspace(0, size - 1, min(size, most))).astype(int)).tolist()  # type: ignore[no-any-return]


def line_of(stats: Summary, rounds: NDArray[np.int64], *, name: str, label: str, number: int, factor: float) -> Line:
    """Return a line from the statistics of its curves; a single one has no standard error."""
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

    ``sloping``: it is proportional to the rounds; otherwise it is constant. ``number`` continues the numbers of the
    curves.
    """

    name: str
    label: str
    number: int
    value: float
    factor: float
    sloping: bool


@dataclass(frozen=True, eq=False)
class Drawing:
    """A panel as it is drawn: little more than its lines, whatever the number of runs.

    ``logarithmic`` asks for a logarithmic regret axis, which bounds bring in any case.
    """

    name: str
    title: str
    fixed: str
    runs: int
    horizon: int
    lines: tuple[Line, ...]
    levels: tuple[Level, ...]
    logarithmic: bool = False

    @property
    def finite_levels(self) -> list[Level]:
        """The bounds that can be drawn."""
        return [level for level in self.levels if math.isfinite(level.value)]

    def thinned(self, most: int) -> Drawing:
        """Return the drawing with at most ``most`` checkpoints on each line."""
        return replace(self, lines=tuple(line.thinned(most) for line in self.lines))

    def in_task_regret(self) -> Drawing:
        """Return the same with every line in task regret."""
        return replace(self, lines=tuple(replace(line, factor=1.0) for line in self.lines))


# With Matplotlib


def draw_regret(axes: Axes, drawing: Drawing, statistic: Statistic, title: str) -> None:
    """Draw the regret over the rounds in one panel. Bounds are drawn with the mean, on a logarithmic axis."""
    levels = drawing.finite_levels if statistic == "mean" else []
    logarithmic = bool(levels) or drawing.logarithmic
    shade = 0.16 if len(drawing.lines) <= 3 else 0.08
    for line in drawing.lines:
        draw_line(axes, line, statistic, shade, from_zero=not logarithmic)
    for level in levels:
        draw_level(axes, level, drawing.horizon)
    axes.set_title(title, loc="left", fontsize=LETTERS)
    axes.set_ylim(0, None)
    if logarithmic:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(_floor(drawing), 2 * max(level.value for level in levels) if levels else None)
    regret_axes(axes, drawing.horizon)


def _floor(drawing: Drawing) -> float:
    """Return the start of a logarithmic axis: the power of ten below the first regret of any curve."""
    first = [line.factor * float(line.mean[0]) for line in drawing.lines]
    return float(10.0 ** math.floor(math.log10(max(min(first), 1e-3))))


def draw_line(axes: Any, line: Line, statistic: Statistic, shade: float = 0.16, *, from_zero: bool = True) -> None:
    """Draw a curve with its band. A logarithmic axis has no place for round 0."""
    colour = colour_of(line.number)
    first = 0 if from_zero else 1
    rounds = np.concatenate([[0], line.rounds])[first:]
    centre, low, high = (line.factor * np.concatenate([[0.0], part])[first:] for part in line.band(statistic))
    if np.isfinite(low).all():  # a single run has no standard error
        axes.fill_between(rounds, low, high, facecolor=(colour, shade), edgecolor=(colour, 0.6), linewidth=0.5)
    axes.plot(rounds, centre, color=colour, linestyle=dashes_of(line.number), gid=line.name)


def draw_level(axes: Axes, level: Level, horizon: int) -> None:
    """Draw a bound along the rounds, on a logarithmic axis."""
    rounds = np.linspace(0, horizon, 101)[1 if level.sloping else 0 :]
    heights = level.value * rounds / horizon if level.sloping else np.full(len(rounds), level.value)
    style = {"color": colour_of(level.number), "linestyle": dashes_of(level.number)}
    axes.plot(rounds, heights, gid=f"bound-{level.name}", **style)


# For a chart on a page


def chart_data(drawing: Drawing) -> dict[str, object]:
    """Return a drawing as the script of a page takes it."""
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
        **({"logarithmic": True} if drawing.logarithmic else {}),
    }


def _rounded(values: Array) -> list[float | int]:
    """Return numbers rounded to the precision that the drawing needs."""
    short = [float(f"{value:.{DIGITS}g}") for value in values.tolist()]
    return [int(value) if value.is_integer() else value for value in short]
