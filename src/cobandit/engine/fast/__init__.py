"""The fast engine: compiled loops that play the reference engine's very trajectories. The only place for numba."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team
from cobandit.engine.environment import Environment, run_streams
from cobandit.engine.fast import caching, lockstep
from cobandit.engine.fast.blocks import block_size, run_blocks
from cobandit.engine.fast.caching import make_ready
from cobandit.engine.fast.diagnosis import DiagnosedLoop
from cobandit.engine.fast.game import Game, make_game
from cobandit.engine.fast.loop import Record, play
from cobandit.engine.fast.models import NotCompiled
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
    "obstacle",
    "readiness",
    "run_diagnosed",
    "run_regrets",
    "run_trajectory",
    "table",
]


def obstacle(problem: Problem, team: Team, horizon: int) -> str | None:
    """Why the fast engine cannot play this, in a few words; None where it can."""
    try:
        make_game(problem, team, horizon)
    except NotCompiled as reason:
        return str(reason)
    return None


def choose_kernel(problem: Problem, team: Team, horizon: int, runs: int) -> str:
    """The loop that is faster for so many runs in all, also if they are asked for in parts."""
    return _kernel(make_game(problem, team, horizon), horizon, runs)


def readiness(problem: Problem, team: Team, horizon: int, runs: int, diagnose: bool) -> tuple[str, object]:
    """Return where the code of the loop is that so many runs take (``memory``, ``disk`` or ``none``), and its key."""
    play = run_diagnosed if diagnose else run_regrets
    kernel = choose_kernel(problem, team, horizon, runs)
    points = np.array([horizon])
    return caching.readiness(lambda: play(problem, team, horizon, 0, range(1), points, 1, lambda more: None, kernel))


def _kernel(game: Game, horizon: int, runs: int) -> str:
    worth_it = runs >= lockstep.FEWEST_RUNS and runs * horizon >= ROUNDS_WORTH_STEPPING
    return "lockstep" if worth_it and lockstep.can_play(game) else "general"


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

    ``kernel`` forces the ``general`` or the ``lockstep`` loop; they differ in speed alone.
    """
    game = make_game(problem, team, horizon)
    if kernel is None:
        kernel = _kernel(game, horizon, len(runs))
    regrets = np.zeros((len(runs), len(checkpoints)))
    size = block_size(len(runs), horizon, ROUNDS_PER_BLOCK, threads)
    if kernel == "lockstep":
        size = -(-size // lockstep.LANES) * lockstep.LANES
        step: Callable[..., None] = lockstep.Lockstep(game).play
    else:
        step = _general(game, team.label)

    def block(start: int) -> int:
        part = runs[start : start + size]
        step(seed, part, checkpoints, regrets[start : start + size])
        return len(part)

    run_blocks(block, range(0, len(runs), size), threads, done)
    return regrets


def run_diagnosed(
    problem: Problem,
    team: Team,
    horizon: int,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    threads: int,
    done: Callable[[int], None],
    kernel: str | None = None,
) -> tuple[NDArray[np.float64], Counted]:
    """The same with what was counted of every round."""
    game = make_game(problem, team, horizon)
    kernel = kernel or _kernel(game, horizon, len(runs))
    regrets = np.zeros((len(runs), len(checkpoints)))
    lost = np.zeros((*regrets.shape, problem.agents + 3))
    size = block_size(len(runs), horizon, ROUNDS_PER_BLOCK, threads)
    if kernel == "lockstep":
        size = -(-size // lockstep.LANES) * lockstep.LANES
        loop: Any = lockstep.Lockstep(game, len(checkpoints), size)
    else:
        loop = DiagnosedLoop(game, checkpoints, size, team.label)

    def block(start: int) -> int:
        part = slice(start, start + size)
        loop.play(seed, runs[part], checkpoints, regrets[part], lost[part])
        return len(runs[part])

    run_blocks(block, range(0, len(runs), size), threads, done)
    totals, overall = loop.counted(len(runs), checkpoints)
    return regrets, Counted(totals, overall, lost)


def run_trajectory(problem: Problem, team: Team, horizon: int, seed: int, run: int) -> Trajectory:
    """One run with everything that happened in it."""
    game = make_game(problem, team, horizon)
    rounds = Trajectory.empty(run, np.zeros(problem.arms), (0,) * problem.agents, horizon, changing=True)
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


def _general(game: Game, label: str) -> Callable[..., None]:
    """The general loop, ready to play; each thread takes a stage that is free, and makes one where none is."""
    free = [game.stage()]
    make_ready(play, game.arguments(free[0], 0, range(0), np.zeros(1, dtype=np.int64), np.zeros((0, 1))), label)

    def step(seed: int, runs: range, checkpoints: NDArray[np.int64], out: NDArray[np.float64]) -> None:
        try:
            stage = free.pop()
        except IndexError:
            stage = game.stage()
        play(*game.arguments(stage, seed, runs, checkpoints, out))
        free.append(stage)

    return step
