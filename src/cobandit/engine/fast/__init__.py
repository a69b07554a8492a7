"""The fast engine: compiled loops that play the reference engine's very trajectories. The only place for numba."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team
from cobandit.engine.choice import NotCompiled
from cobandit.engine.environment import Environment, run_streams
from cobandit.engine.fast import caching, lockstep
from cobandit.engine.fast.blocks import block_size, run_blocks
from cobandit.engine.fast.caching import make_ready
from cobandit.engine.fast.game import Game, make_game
from cobandit.engine.fast.general import GeneralLoop
from cobandit.engine.fast.loop import Record, play
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.tally import Counted
from cobandit.engine.trajectory import Trajectory
from cobandit.problem import Problem

ROUNDS_PER_BLOCK = 400_000
"""Long enough to hide the cost of a call, short enough for progress and Ctrl-C."""

ROUNDS_WORTH_STEPPING = 1_000_000
"""Below this much work the general loop is done before the lock-step one has been loaded."""

__all__ = [
    "NotCompiled",
    "Seat",
    "choose_kernel",
    "make_game",
    "obstacle",
    "play_runs",
    "readiness",
    "run_trajectory",
    "table",
]


def obstacle(problem: Problem, team: Team, horizon: int) -> str | None:
    """Return why the fast engine cannot play this, in a few words; None where it can."""
    try:
        make_game(problem, team, horizon)
    except NotCompiled as reason:
        return str(reason)
    return None


def choose_kernel(game: Game, runs: int) -> str:
    """Return the loop that is faster for ``runs`` runs in total, also if they are played in several calls."""
    worth_it = runs >= lockstep.FEWEST_RUNS and runs * game.horizon >= ROUNDS_WORTH_STEPPING
    return "lockstep" if worth_it and lockstep.can_play(game) else "general"


def readiness(game: Game, runs: int, diagnose: bool) -> tuple[str, object]:
    """Return where the code of the loop for ``runs`` runs is (``memory``, ``disk`` or ``none``), and its key."""
    kernel, points = choose_kernel(game, runs), np.array([game.horizon])
    return caching.readiness(lambda: play_runs(game, 0, range(1), points, 1, lambda more: None, kernel, diagnose))


def play_runs(
    game: Game,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    threads: int,
    done: Callable[[int], None],
    kernel: str | None = None,
    diagnose: bool = False,
) -> tuple[NDArray[np.float64], Counted | None]:
    """Return the task regret of each run at each checkpoint and, with ``diagnose``, what was counted of every round.

    Blocks of runs are spread over threads that hold no lock. ``kernel`` forces the ``general`` or the ``lockstep``
    loop; they differ in speed alone.
    """
    regrets = np.zeros((len(runs), len(checkpoints)))
    lost = np.zeros((*regrets.shape, game.problem.agents + 3)) if diagnose else None
    size = block_size(len(runs), game.horizon, ROUNDS_PER_BLOCK, threads)
    points = checkpoints if diagnose else None
    loop: GeneralLoop | lockstep.Lockstep
    if (kernel or choose_kernel(game, len(runs))) == "lockstep":
        size = -(-size // lockstep.LANES) * lockstep.LANES
        loop = lockstep.Lockstep(game, points, size)
    else:
        loop = GeneralLoop(game, points, size)

    def block(start: int) -> int:
        part = slice(start, start + size)
        loop.play(seed, runs[part], checkpoints, regrets[part], None if lost is None else lost[part])
        return len(runs[part])

    run_blocks(block, range(0, len(runs), size), threads, done)
    return regrets, None if lost is None else Counted(*loop.counted(len(runs)), lost)


def run_trajectory(problem: Problem, team: Team, horizon: int, seed: int, run: int) -> Trajectory:
    """Return one run with all its rounds."""
    game = make_game(problem, team, horizon)
    rounds = Trajectory.empty(run, np.zeros(problem.arms), (0,) * problem.agents, horizon, changing=True)
    assert rounds.round_regret is not None
    record = Record(
        1,
        rounds.actions.reshape(-1),
        rounds.rewards,
        rounds.seen.reshape(-1),
        rounds.predictions.reshape(-1),
        rounds.round_regret,
    )
    out = np.zeros((1, 1))
    stage = game.stage(record)
    arguments = game.arguments(stage, seed, range(run, run + 1), np.array([horizon]), out)
    make_ready(play, arguments, team.label)
    play(*arguments)
    means, ranks = game.drawn(stage)
    if not problem.means.changes and not problem.relabel:
        return dataclasses.replace(rounds, means=means, ranks=ranks, round_regret=None)
    first = Environment(problem, run_streams(problem, seed, run)).instance
    regret = rounds.round_regret if problem.means.changes else None
    return dataclasses.replace(rounds, means=first.means, ranks=ranks, round_regret=regret, labels=first.labels)
