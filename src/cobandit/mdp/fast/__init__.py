"""The fast engine of Markov problems: a compiled loop that plays the plain engine's very trajectories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.streams import SETUP, generator
from cobandit.engine.choice import NotCompiled
from cobandit.engine.fast import caching
from cobandit.engine.fast.blocks import Pool, block_size, run_blocks
from cobandit.engine.fast.caching import make_ready
from cobandit.mdp.fast.game import MarkovGame, make_game
from cobandit.mdp.fast.loop import StepRecord, play
from cobandit.mdp.model import MarkovProblem
from cobandit.mdp.team import Team
from cobandit.mdp.trajectory import MarkovTrajectory

STEPS_PER_BLOCK = 100_000
"""Long enough to hide the cost of a call, short enough for progress and Ctrl-C."""

BYTES_PER_BLOCK = 1 << 26
"""What the drawn worlds of a block may take."""

__all__ = ["NotCompiled", "make_game", "readiness", "run_regrets", "run_trajectory"]


def readiness(game: MarkovGame) -> tuple[str, object]:
    """Return where the code of the loop is (``memory``, ``disk`` or ``none``), and its key."""
    points = np.array([game.horizon])
    return caching.readiness(lambda: run_regrets(game, 0, range(1), points, 1, lambda more: None))


def run_regrets(
    game: MarkovGame,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    threads: int,
    done: Callable[[int], None],
) -> NDArray[np.float64]:
    """Return the task regret of each run at each checkpoint; blocks of runs are spread over threads without a lock."""
    regrets = np.zeros((len(runs), len(checkpoints)))
    fitting = max(1, BYTES_PER_BLOCK // (8 * game.world_size))
    size = min(fitting, block_size(len(runs), game.horizon, STEPS_PER_BLOCK, threads))
    pool = Pool(game.stage)
    make_ready(play, game.arguments(pool.first, 0, range(0), checkpoints, np.zeros((0, 1))), game.label)

    def block(start: int) -> int:
        part = slice(start, start + size)
        with pool.one() as stage:
            play(*game.arguments(stage, seed, runs[part], checkpoints, regrets[part]))
        return len(runs[part])

    run_blocks(block, range(0, len(runs), size), threads, done)
    return regrets


def run_trajectory(problem: MarkovProblem, team: Team, horizon: int, seed: int, run: int) -> MarkovTrajectory:
    """Return one run with all its steps."""
    game: MarkovGame = make_game(problem, team, horizon)
    instance = problem.instance(generator(seed, run, SETUP))
    steps = MarkovTrajectory.of_run(problem, run, instance, horizon)
    assert steps.round_regret is not None
    record: Any = StepRecord(
        1,
        steps.actions.reshape(-1),
        steps.rewards,
        steps.seen.reshape(-1),
        steps.predictions.reshape(-1),
        steps.states,
        steps.round_regret,
    )
    points = np.array([horizon])
    arguments = game.arguments(game.stage(record), seed, range(run, run + 1), points, np.zeros((1, 1)))
    make_ready(play, arguments, team.label)
    play(*arguments)
    return steps
