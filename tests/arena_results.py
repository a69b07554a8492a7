"""Results of a whole arena, invented: what pages and leagues make of them needs no play."""

from __future__ import annotations

import numpy as np

from cobandit.experiments import Arena, ArenaResult, CurveResult, PanelResult
from cobandit.experiments.arena import arena_settings
from cobandit.experiments.store import ChunkResult


def invented(arena: Arena, runs: int = 8) -> ArenaResult:
    """Every curve of an arena with regrets that were drawn, common luck and all."""
    settings = arena_settings(runs)
    played = []
    for panel in arena.panels():
        rng = np.random.default_rng(len(panel.name))
        luck = rng.exponential(1.0, (runs, 1))
        curves = []
        for curve in panel.curves:
            regret = luck * np.array([[0.5, 1.0]]) * rng.uniform(2.0, 20.0)
            rounds = np.array([panel.horizon // 2, panel.horizon])
            chunk = ChunkResult(rounds, regret, regret / 2, "fast", 0.1, "0", "invented")
            curves.append(CurveResult.of_runs(curve, chunk))
        played.append(PanelResult(panel, settings, tuple(curves)))
    return ArenaResult.of(arena, settings, played)
