"""The fast engine: Numba kernels that play the reference engine's very trajectories. The only place for numba."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team
from cobandit.engine.fast.blocks import run_blocks
from cobandit.engine.fast.encode import Encoded, encode
from cobandit.engine.fast.forest import play_forest
from cobandit.engine.fast.kernel import play_runs
from cobandit.engine.fast.lanes import LANES, play_lanes
from cobandit.engine.fast.random import seed_words
from cobandit.engine.trajectory import Trajectory
from cobandit.problem import Problem

ROUNDS_PER_BLOCK = 400_000
"""Long enough to hide the cost of a call, short enough for progress and Ctrl-C."""

BLOCKS_PER_THREAD = 4
"""So that a thread on a slower core does not leave the others waiting at the end."""

ROUNDS_WORTH_STEPPING = 1_000_000
"""Below this much work the general kernel is done before a lock-step one has been loaded."""

RUNS_WORTH_STEPPING = LANES // 4
"""With fewer runs most lanes would play for nobody."""


__all__ = ["run_regrets", "run_trajectory"]


def run_regrets(
    problem: Problem,
    team: Team,
    horizon: int,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    threads: int,
    done: Callable[[int], None],
    kernel: str | None = None,
) -> NDArray[np.float64]:
    """Task regret of each run at each checkpoint, blocks of runs spread over threads that hold no lock.

    ``kernel`` forces one of ``general``, ``lanes`` and ``forest``; they differ in speed alone.
    """
    encoded = encode(problem, team, horizon)
    if kernel is None:
        worth_it = len(runs) >= RUNS_WORTH_STEPPING and len(runs) * horizon >= ROUNDS_WORTH_STEPPING
        kernel = encoded.kernel if worth_it else "general"
    words = seed_words(seed)
    regrets = np.zeros((len(runs), len(checkpoints)))
    size = max(1, min(ROUNDS_PER_BLOCK // horizon, -(-len(runs) // (threads * BLOCKS_PER_THREAD))))
    if kernel != "general":
        size = -(-size // LANES) * LANES
    starts = range(0, len(runs), size)

    def block(start: int) -> int:
        out = regrets[start : start + size]
        if kernel == "general":
            _play(encoded, words, runs.start + start, checkpoints, out, None)
        else:
            _play_in_step(kernel, encoded, words, runs.start + start, checkpoints, out)
        return len(out)

    run_blocks(block, starts, threads, done)
    return regrets


def run_trajectory(problem: Problem, team: Team, horizon: int, seed: int, run: int) -> Trajectory:
    """One run with everything that happened in it."""
    encoded = encode(problem, team, horizon)
    kept = Trajectory.empty(run, np.zeros(problem.arms), (0,) * problem.agents, horizon)
    ranks = np.zeros(problem.agents, dtype=np.int64)
    out = np.zeros((1, 1))
    _play(encoded, seed_words(seed), run, np.array([horizon]), out, (kept, ranks))
    return Trajectory(run, kept.means, tuple(ranks.tolist()), kept.actions, kept.rewards, kept.seen, kept.predictions)


def _play(
    encoded: Encoded,
    words: NDArray[np.uint32],
    first_run: int,
    checkpoints: NDArray[np.int64],
    out: NDArray[np.float64],
    record: tuple[Trajectory, NDArray[np.int64]] | None,
) -> None:
    if record is None:
        agents = len(encoded.arms)
        kept, ranks = Trajectory.empty(0, np.zeros(0), (0,) * agents, 0), np.zeros(0, dtype=np.int64)
    else:
        kept, ranks = record
    play_runs(
        words,
        first_run,
        *encoded.arguments,
        checkpoints,
        out,
        record is not None,
        kept.means.reshape(-1),
        ranks,
        kept.actions,
        kept.rewards,
        kept.seen,
        kept.predictions,
    )


def _play_in_step(
    kernel: str,
    encoded: Encoded,
    words: NDArray[np.uint32],
    first_run: int,
    checkpoints: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None:
    shared = (
        words,
        first_run,
        encoded.horizon,
        encoded.arms,
        encoded.fixed_means,
        encoded.mean_range,
        encoded.sight,
        encoded.levels,
        encoded.ranks,
        encoded.options,
    )
    if kernel == "lanes":
        each = (0,) * encoded.padded_cells
        play_lanes(each, *shared, encoded.scales, encoded.roots, encoded.ring_size, checkpoints, out)
    else:
        play_forest(*shared, encoded.bonuses, encoded.ring_size, checkpoints, out)
