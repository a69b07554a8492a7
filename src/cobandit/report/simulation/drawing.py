"""A panel of an experiment as it is drawn, on paper and on the page."""

from __future__ import annotations

from cobandit.experiments.claims import AgainstBound
from cobandit.experiments.run import PanelResult
from cobandit.report.kit.drawing import Drawing, Level, line_of
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
    """The places of the curves in the palette: each algorithm has its own; a mixed team is none of them."""
    return algorithm_numbers([str(played.curve.team.describe().get("agent", "")) for played in result.curves])


def drawing_of(result: PanelResult) -> Drawing:
    """Statistics over the runs, and Theorem 1's bounds if the panel is about them."""
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
    )


def _levels(result: PanelResult, first: int) -> list[Level]:
    """The bounds, in the places of the palette from ``first`` on."""
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
