"""A panel of an experiment as it is drawn, on paper and on the page."""

from __future__ import annotations

from cobandit.experiments.claims import BelowBound
from cobandit.experiments.run import PanelResult
from cobandit.report.kit.drawing import Drawing, Level, line_of
from cobandit.report.kit.text import plain
from cobandit.theory import bound

BOUNDS = {
    "printed": "bound as printed",
    "proved": "bound as proved",
    "safe": "safe bound",
    "linear": "every round lost",
}
"""Theorem 1's bounds that are drawn, and what they are called."""


def drawing_of(result: PanelResult) -> Drawing:
    """Statistics over the runs, and Theorem 1's bounds if the panel is about them."""
    lines = [
        line_of(
            played.summary(),
            played.checkpoints,
            name=played.curve.name,
            label=plain(played.curve.label),
            number=number,
            factor=played.curve.problem.team_factor,
        )
        for number, played in enumerate(result.curves)
    ]
    return Drawing(
        name=result.panel.name,
        title=plain(result.panel.title),
        fixed=plain(result.panel.fixed),
        runs=result.curves[0].runs,
        horizon=int(result.curves[0].checkpoints[-1]),
        lines=tuple(lines),
        levels=tuple(_levels(result)),
    )


def _levels(result: PanelResult) -> list[Level]:
    levels: list[Level] = []
    curves = {played.curve.name: played.curve for played in result.curves}
    for claim in result.panel.claims:
        if isinstance(claim, BelowBound):
            problem = curves[claim.curve].problem
            limits = bound(problem, result.settings.horizon_of(result.panel))
            for name, label in BOUNDS.items():
                number = len(curves) + len(levels)
                value = float(getattr(limits, name))
                levels.append(Level(name, label, number, value, problem.team_factor, sloping=name == "linear"))
    return levels
