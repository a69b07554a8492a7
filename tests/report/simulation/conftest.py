"""Results made up quickly: the numbers of nobody's runs, in the shape of real ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cobandit.experiments import CurveResult, PanelResult, Settings
from cobandit.experiments.figures import panel
from cobandit.experiments.store import ChunkResult


@pytest.fixture(scope="session")
def made_up() -> Callable[..., PanelResult]:
    """A panel of the paper with invented runs; keywords replace parts of the panel, ``labels`` those of its curves."""

    def make(
        name: str = "sim1-left", runs: int = 20, horizon: int = 200, labels: Any = None, **changes: Any
    ) -> PanelResult:
        rng = np.random.default_rng(5)
        one = panel(name)
        curves = one.curves
        if labels is not None:
            curves = tuple(replace(curves[0], name=f"c-{n}", label=label) for n, label in enumerate(labels))
        one = replace(one, curves=curves, **changes)
        checkpoints = np.unique(np.linspace(1, horizon, min(horizon, 50)).astype(np.int64))
        results = []
        for number, curve in enumerate(one.curves):
            rounds = rng.exponential(number + 1.0, (runs, len(checkpoints)))
            task = np.cumsum(rounds * rng.lognormal(0.0, 1.0, (runs, 1)), axis=1)  # a few runs are far off
            team = task * curve.problem.team_factor
            played = ChunkResult(checkpoints, task, team, "fast", 0.5, "0.1.0", "here")
            results.append(CurveResult.of_runs(curve, played))
        return PanelResult(one, Settings(runs=runs, horizon=horizon), tuple(results))

    return make
