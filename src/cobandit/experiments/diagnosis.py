"""Why the teams of a panel lost: the first runs of every curve once more, with the same luck, and counted."""

from __future__ import annotations

from cobandit.base.checks import whole
from cobandit.engine import Diagnostics, simulate
from cobandit.experiments.run import PanelResult
from cobandit.problem import Problem

DIAGNOSED_RUNS = 200
"""Default number of runs of each curve: enough to distinguish the causes."""


def diagnose_panel(result: PanelResult, runs: int = DIAGNOSED_RUNS) -> dict[str, Diagnostics]:
    """Return the diagnostics of the first ``runs`` runs of each curve, by the curve's name, except of Markov
    problems.
    """
    runs = min(whole(1)("runs", runs), result.runs)
    horizon = result.settings.horizon_of(result.panel)
    points = min(result.panel.checkpoints, horizon)
    return {
        curve.name: simulate(
            curve.problem, curve.team, horizon, runs, result.settings.seed, checkpoints=points, diagnose=True
        ).diagnostics
        for curve in result.panel.curves
        if isinstance(curve.problem, Problem)
    }
