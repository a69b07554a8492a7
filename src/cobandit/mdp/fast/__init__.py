"""The fast engine of Markov problems: a compiled loop that plays the plain engine's very trajectories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.streams import SETUP, generator
from cobandit.engine.fast import caching
from cobandit.engine.fast.blocks import block_size, run_blocks
from cobandit.engine.fast.caching import make_ready
from cobandit.engine.fast.models import NotCompiled
from cobandit.mdp.fast.game import MarkovGame, make_game
from cobandit.mdp.fast.loop import StepRecord, play
from cobandit.mdp.model import MarkovProblem
from cobandit.mdp.team import Team
from cobandit.mdp.trajectory import MarkovTrajectory

STEPS_PER_BLOCK = 100_000
"""Long enough to hide the cost of a call, short enough for progress and Ctrl-C."""

BYTES_PER_BLOCK = 1 << 26
"""What the drawn worlds of a block may take."""

__all__ = ["NotCompiled", "obstacle", "readiness", "run_regrets", "run_trajectory"]


def obstacle(problem: MarkovProblem, team: Team, horizon: int) -> str | None:
    """Why the fast engine cannot play this, in a few words; None where it can."""
    try:
        make_game(problem, team, horizon)
    except NotCompiled as reason:
        return str(reason)
    return None


def readiness(problem: MarkovProblem, team: Team, horizon: int) -> tuple[str, object]:
    """Return where the code of the loop is (``memory``, ``disk`` or ``none``), and its key."""
    points = np.array([horizon])
    return caching.readiness(lambda: run_regrets(problem, team, horizon, 0, range(1), points, 1, lambda more: None))


def run_regrets(
    problem: MarkovProblem,
    team: Team,
    horizon: int,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    threads: int,
    done: Callable[[int], None],
) -> NDArray[np.float64]:
    """Task regret of each run at each checkpoint, blocks of runs spread over threads that hold no lock."""
    game = make_game(problem, team, horizon)
    regrets = np.zeros((len(runs), len(checkpoints)))
    fitting = max(1, BYTES_PER_BLOCK // (8 * game.world_size))
    size = min(fitting, block_size(len(runs), horizon, STEPS_PER_BLOCK, threads))
    free = [game.stage()]
    make_ready(play, game.arguments(free[0], 0, range(0), checkpoints, np.zeros((0, 1))), team.label)

    def block(start: int) -> int:
        part = runs[start : start + size]
        try:
            stage = free.pop()
        except IndexError:
            stage = game.stage()
        play(*game.arguments(stage, seed, part, checkpoints, regrets[start : start + size]))
        free.append(stage)
        return len(part)

    run_blocks(block, range(0, len(runs), size), threads, done)
    return regrets


def run_trajectory(problem: MarkovProblem, team: Team, horizon: int, seed: int, run: int) -> MarkovTrajectory:
    """One run with everything that happened in it."""
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
