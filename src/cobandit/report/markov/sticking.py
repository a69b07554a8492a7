"""Where runs stick: runs whose regret still grows, and the places at which they lose it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobandit.mdp import MarkovResult

MOST_REPLAYED = 20
"""The number of runs that are replayed for visits and positions."""


@dataclass(frozen=True)
class StuckRun:
    """A run that still loses: its number, what it lost in the second half, and where most of that was."""

    run: int
    lost: float
    step: int
    state: str
    share: float


def late_losses(result: MarkovResult) -> NDArray[np.float64]:
    """Return the loss of each run in the second half."""
    half = int(np.searchsorted(result.checkpoints, -(-result.horizon // 2)))
    return np.asarray(result.task_regret[:, -1] - result.task_regret[:, half])


def stuck_runs(result: MarkovResult, most: int = 5) -> list[StuckRun]:
    """Return the runs that lost most in the second half, and the step and state at which they lost most of it."""
    losses = late_losses(result)
    order = np.argsort(-losses)[:most]
    names = result.problem.dynamics.state_names()
    stuck = []
    for row in order.tolist():
        if losses[row] <= 0.0:
            continue
        run = result.trajectory(result.first_run + row)
        assert run.round_regret is not None
        late = np.arange(len(run)) >= len(run) // 2
        steps = np.arange(len(run)) % run.steps
        lost = np.zeros((run.steps, len(names)))
        np.add.at(lost, (steps[late], run.states[late]), run.round_regret[late])
        step, state = np.unravel_index(int(lost.argmax()), lost.shape)
        share = float(lost.max() / max(lost.sum(), 1e-300))
        stuck.append(StuckRun(result.first_run + row, float(losses[row]), int(step), names[int(state)], share))
    return stuck


def visits_over_time(result: MarkovResult, parts: int = 40) -> NDArray[np.float64]:
    """Return how often each state is visited, by part of the run: states x parts, shares of the steps of a part."""
    runs = min(result.runs, MOST_REPLAYED)
    steps = result.problem.steps
    episodes = result.horizon // steps
    parts = min(parts, episodes)
    shares = np.zeros((result.problem.states, parts))
    for run in range(result.first_run, result.first_run + runs):
        states = result.trajectory(run).states
        part = np.arange(len(states)) // steps * parts // episodes
        np.add.at(shares, (states, part), 1.0)
    return np.asarray(shares / shares.sum(axis=0))
