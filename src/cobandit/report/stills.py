"""Small drawings of a panel that need no script: for print, and for readers who run none.

They are SVG inside the page and take their colours from its style sheet (``--c0``, ``--c1``, ...).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.report.comparison import COLOURS, DASHES
from cobandit.report.figures import Drawing, Level, Line

WIDTH, HEIGHT = 440.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 16.0, 24.0, 34.0
WITHIN = 0.15
"""How far a simplified line may miss a point, in points."""

Point = tuple[float, float]


def stills(drawing: Drawing, regret: str = "team", sample: str = "runs") -> str:
    """The regret twice, the mean with its standard error and the median with the middle 80 %, and a legend.

    ``regret`` says what the lines are, with their factors, and ``sample`` what they were summarised over.
    """
    levels = [level for level in drawing.levels if math.isfinite(level.value)]
    pictures = [
        _picture("Mean ± standard error", regret, drawing, [_mean(line) for line in drawing.lines], levels),
        _picture(
            f"Median, with the middle 80 % of the {sample}",
            regret,
            drawing,
            [_median(line) for line in drawing.lines],
            [],
        ),
    ]
    entries: list[Line | Level] = [*drawing.lines, *levels]
    keys = "".join(f"<span>{swatch(one.number)}{escape(one.label)}</span>" for one in entries)
    return f'<div class="pair">{"".join(pictures)}</div><div class="keys">{keys}</div>'


def swatch(number: int) -> str:
    """A sample of a line."""
    return f'<svg class="swatch" viewBox="0 0 34 10" aria-hidden="true">{_stroke(number, "M1 5H33")}</svg>'


def dash(number: int) -> list[float]:
    """Lengths of the strokes and gaps of a line that is two points wide."""
    pattern = DASHES[number % len(DASHES)]
    return [] if pattern == "-" else [2.0 * float(length) for length in pattern[1]]


Band = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def _mean(line: Line) -> Band:
    return _from_zero(line, (line.mean, line.mean - line.se, line.mean + line.se))


def _median(line: Line) -> Band:
    return _from_zero(line, (line.median, line.q10, line.q90))


def _from_zero(line: Line, stats: Band) -> Band:
    """Centre, low and high of the regret, from the round before the first on."""
    centre, low, high = (line.factor * np.concatenate([[0.0], values]) for values in stats)
    return centre, low, high


def _picture(title: str, regret: str, drawing: Drawing, bands: Sequence[Band], levels: Sequence[Level]) -> str:
    heights = [float(np.nanmax(part)) for centre, _, high in bands for part in (centre, np.maximum(centre, high))]
    first = min(float(centre[1]) for centre, _, _ in bands)
    if levels:
        floor = 10.0 ** math.floor(math.log10(max(first, 1e-3)))
        scale = _Scale(drawing.horizon, floor, 2.0 * max(*heights, *(level.value for level in levels)))
    else:
        scale = _Scale(drawing.horizon, 0.0, 1.05 * max(heights) or 1.0)
    parts = [_axes(scale)]
    for line, (centre, low, high) in zip(drawing.lines, bands, strict=True):
        rounds = np.concatenate([[0], line.rounds])
        if np.isfinite(low).all():  # a single run has no standard error
            edges = [*scale.path(rounds, high), *reversed(scale.path(rounds, low))]
            parts.append(f'<path class="band" style="fill:{_colour(line.number)}" d="{_moves(edges)}z"/>')
        parts.append(_stroke(line.number, _moves(scale.path(rounds, centre))))
    for level in levels:
        rounds = np.linspace(0, drawing.horizon, 101)
        regrets = level.value * rounds / drawing.horizon if level.sloping else np.full(101, level.value)
        parts.append(_stroke(level.number, _moves(scale.path(rounds, regrets))))
    return (
        f'<svg class="still" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{title} of the {regret} regret">'
        f'<text x="{LEFT:g}" y="13">{title}</text>{"".join(parts)}</svg>'
    )


class _Scale:
    """From rounds and regret to points; logarithmic in the regret, from ``floor`` on, if that is above 0."""

    def __init__(self, horizon: int, floor: float, top: float) -> None:
        self.horizon, self.floor, self.top = horizon, floor, top

    def x(self, rounds: float) -> float:
        """Where a round lies."""
        return LEFT + rounds / self.horizon * (WIDTH - LEFT - RIGHT)

    def y(self, regret: float) -> float:
        """Where a regret lies."""
        share = max(regret, 0.0) / self.top
        if self.floor:
            share = math.log(max(regret, self.floor) / self.floor) / math.log(self.top / self.floor)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def path(self, rounds: NDArray[Any], regrets: NDArray[np.float64]) -> list[Point]:
        """A line's points, as few as give the same picture. Round 0 has no place where the regret is logarithmic."""
        start = 1 if self.floor else 0
        points = zip(rounds[start:].tolist(), regrets[start:].tolist(), strict=True)
        return simplified([(self.x(t), self.y(regret)) for t, regret in points], WITHIN)

    def ticks(self) -> list[float]:
        """Round numbers along the regret."""
        if self.floor:
            return [10.0**power for power in range(round(math.log10(self.floor)), math.floor(math.log10(self.top)) + 1)]
        return steps(self.top)


def steps(top: float) -> list[float]:
    """From 0 to the top in steps of 1, 2 or 5 times a power of ten, five or so of them."""
    unit = 10.0 ** math.floor(math.log10(top))
    step = next(step for step in (unit / 5, unit / 2, unit, 2 * unit) if top / step <= 7)
    return [k * step for k in range(math.floor(top / step + 1e-9) + 1)]


def simplified(points: Sequence[Point], within: float) -> list[Point]:
    """Points of a line, left to right, without those that lie on it anyway; none is missed by more than ``within``."""
    kept = list(points[:1])
    low, high = -math.inf, math.inf  # slopes from the last point kept that miss none since
    for before, (x, y) in pairwise(points):
        along, up = x - kept[-1][0], y - kept[-1][1]
        if not low <= up / along <= high:
            kept.append(before)
            low, high = -math.inf, math.inf
            along, up = x - before[0], y - before[1]
        low, high = max(low, (up - within) / along), min(high, (up + within) / along)
    return kept + list(points[1:][-1:])


def _axes(scale: _Scale) -> str:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    grid = "".join(f"M{LEFT:g} {scale.y(tick):.1f}H{right:g}" for tick in scale.ticks())
    parts = [f'<path class="gridline" d="{grid}"/><path class="axis" d="M{LEFT:g} {TOP:g}V{bottom:g}H{right:g}"/>']
    for tick in scale.ticks():
        parts.append(f'<text x="{LEFT - 6:g}" y="{scale.y(tick) + 4:.1f}" text-anchor="end">{tick:,.6g}</text>')
    for tick in steps(scale.horizon):
        if tick == round(tick):
            parts.append(f'<text x="{scale.x(tick):.1f}" y="{bottom + 16:g}" text-anchor="middle">{tick:,.0f}</text>')
    parts.append(f'<text x="{(LEFT + right) / 2:g}" y="{HEIGHT - 4:g}" text-anchor="middle">round</text>')
    return "".join(parts)


def _stroke(number: int, moves: str) -> str:
    dashes = " ".join(f"{length:g}" for length in dash(number))
    return f'<path class="line" style="stroke:{_colour(number)}" stroke-dasharray="{dashes}" d="{moves}"/>'


def _colour(number: int) -> str:
    return f"var(--c{number % len(COLOURS)})"


def _moves(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
