"""A panel of an experiment as it is drawn, on paper and on the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cobandit.base.numbers import DASH, PAGE
from cobandit.experiments.claims import AgainstBound
from cobandit.experiments.run import PanelResult
from cobandit.report.kit.drawing import Drawing, Level, Line, line_of
from cobandit.report.kit.palette import algorithm_numbers
from cobandit.report.kit.text import with_subscripts
from cobandit.theory import bound

BOUNDS = {
    "printed": "bound as printed",
    "proved": "bound as proved",
    "safe": "safe bound",
    "linear": "every round lost",
}
"""Theorem 1's bounds that are drawn, and what they are called."""


def _numbers(result: PanelResult) -> list[int]:
    """Return the places of the curves in the palette: each algorithm has its own; a mixed team is none of them."""
    return algorithm_numbers([str(played.curve.team.describe().get("agent", "")) for played in result.curves])


def drawing_of(result: PanelResult) -> Drawing:
    """Return statistics over the runs, and the bounds of Theorem 1 if the panel is about them."""
    numbers = _numbers(result)
    lines = [
        line_of(
            played.summary(),
            played.checkpoints,
            name=played.curve.name,
            label=with_subscripts(played.curve.label),
            number=number,
            factor=played.curve.problem.team_factor,
        )
        for number, played in zip(numbers, result.curves, strict=True)
    ]
    return Drawing(
        name=result.panel.name,
        title=with_subscripts(result.panel.title),
        fixed=with_subscripts(result.panel.fixed),
        runs=result.curves[0].runs,
        horizon=int(result.curves[0].checkpoints[-1]),
        lines=tuple(lines),
        levels=tuple(_levels(result, max(numbers) + 1)),
        logarithmic=result.panel.logarithmic,
    )


def _levels(result: PanelResult, first: int) -> list[Level]:
    """Return the bounds, in the places of the palette from ``first`` on."""
    levels: list[Level] = []
    curves = {played.curve.name: played.curve for played in result.curves}
    for claim in result.panel.claims:
        if not isinstance(claim, AgainstBound):
            continue
        curve = curves[claim.curve]
        limits = bound(curve.problem, result.settings.horizon_of(result.panel))
        if claim.side == "below":
            drawn = [(name, name, label) for name, label in BOUNDS.items()]
        else:
            drawn = [(claim.bound, f"{claim.bound}-{claim.curve}", f"bound for {with_subscripts(curve.label)}")]
        for which, name, label in drawn:
            value, factor = float(getattr(limits, which)), curve.problem.team_factor
            levels.append(Level(name, label, first + len(levels), value, factor, sloping=which == "linear"))
    return levels


def final_rows(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    """Return the rows of a table about the curves after the last round.

    A row has the label, the mean with its standard error, the median, the quantiles and the growth.
    """
    finals = [
        [line.factor * float(stat[-1]) for stat in (line.mean, line.se, line.median, line.q10, line.q90)]
        for line in lines
    ]
    decimals = PAGE.decimals_for(value for final in finals for value in final)
    rows: list[tuple[str, ...]] = []
    for line, final in zip(lines, finals, strict=True):
        mean, se, median, q10, q90 = (PAGE.format(value, decimals) for value in final)
        rows.append((line.label, mean if se == DASH else f"{mean} ± {se}", median, f"{q10} to {q90}", _growth(line)))
    return rows


def _growth(line: Line) -> str:
    half = float(line.mean[int(np.searchsorted(line.rounds, line.rounds[-1] / 2))])
    return PAGE.format(float(line.mean[-1]) / half, 2) if half > 0.0 else DASH
