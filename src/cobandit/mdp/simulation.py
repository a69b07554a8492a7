"""The one entry to both engines of Markov problems: check everything at the door, then hand the runs to an engine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import TeamLike
from cobandit.base.checks import MOST, one_of, short_repr, whole
from cobandit.base.errors import InvalidInput, TooLarge
from cobandit.base.extras import require_extras
from cobandit.base.machine import available_cores, physical_memory
from cobandit.base.parquet import checked_output
from cobandit.base.streams import MOST_RUNS, checked_seed
from cobandit.engine.choice import ENGINES, Engine, engine_for
from cobandit.engine.simulation import Done, Job, Progress, checked_checkpoints, checked_progress, keeps_every_run
from cobandit.engine.stored import KEEPS, Keep
from cobandit.mdp import match
from cobandit.mdp.model import MarkovProblem
from cobandit.mdp.result import MarkovResult
from cobandit.mdp.team import Team
from cobandit.mdp.trajectory import MarkovTrajectory

if TYPE_CHECKING:
    from cobandit.mdp.fast.game import MarkovGame


def simulate(
    problem: MarkovProblem,
    team: TeamLike,
    episodes: int,
    runs: int = 100,
    seed: int | None = 0,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    checkpoints: int | Sequence[int] | None = None,
    first_run: int = 0,
    keep: Keep = "auto",
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> MarkovResult:
    """Play ``runs`` independent runs of ``episodes`` episodes and keep their regret at the checkpoints.

    The rounds of the result are the steps of all episodes, T = E H; so are ``checkpoints``. All other arguments are
    those of `cobandit.simulate`.
    """
    if not isinstance(problem, MarkovProblem):
        raise InvalidInput(
            f"problem must be a MarkovProblem, such as mdp.make_problem('burger-line'), got {short_repr(problem)}."
        )
    team = Team.from_any(team)
    checked_progress(progress)
    horizon = whole(1, MOST // problem.steps)("episodes", episodes) * problem.steps
    first_run = whole(0, MOST_RUNS - 1)("first_run", first_run)
    runs = whole(1, MOST_RUNS - first_run)("runs", runs)
    seed = checked_seed(seed)
    points = checked_checkpoints(checkpoints, horizon)
    workers = whole(1, 4096)("threads", available_cores() if threads is None else threads)
    keeps_runs = keeps_every_run(one_of(KEEPS)("keep", keep), runs, len(points), problem)
    if one_of(ENGINES)("engine", engine) == "fast" and out is not None:
        require_extras("This simulation", fast=True, parquet=True)  # name both missing extras in one error
    target = None if out is None else checked_output(out)
    _refuse_what_cannot_fit(problem, runs * len(points) if keeps_runs else len(points), workers)
    team.players(problem.agents)

    def prepare() -> MarkovGame:
        from cobandit.mdp import fast

        return fast.make_game(problem, team, horizon)

    def readiness(game: MarkovGame) -> tuple[str, object]:
        from cobandit.mdp import fast

        return fast.readiness(game)

    choice = engine_for(engine, prepare, problem.agents * horizon * runs, problem.cells, readiness)
    chosen, reason, game = choice

    def play(numbers: range, done: Done, _: NDArray[np.float64] | None) -> NDArray[np.float64]:
        if game is None:
            return match.run_regrets(problem, team, horizon, seed, numbers, points, done)
        from cobandit.mdp import fast

        return fast.run_regrets(game, seed, numbers, points, workers, done)

    numbers = range(first_run, first_run + runs)
    job = Job(problem, team, horizon, seed, numbers, points, chosen, reason, play, progress, kind=MarkovResult)
    return cast(MarkovResult, job.every_run(target) if keeps_runs else job.summary(target))


def run_trajectory(
    problem: MarkovProblem, team: Team, horizon: int, seed: int, run: int, engine: str = "reference"
) -> MarkovTrajectory:
    """Return one run of ``horizon`` steps with all its steps."""
    if engine == "fast":
        from cobandit.mdp import fast

        return fast.run_trajectory(problem, team, horizon, seed, run)
    return match.run_trajectory(problem, team, horizon, seed, run)


def _refuse_what_cannot_fit(problem: MarkovProblem, numbers: int, workers: int) -> None:
    """Refuse a size that does not fit into memory before any work starts."""
    per_agent = problem.states * problem.cells * (problem.states + 2 * problem.steps + 8)
    needed = 8 * (numbers + (workers + 1) * (problem.agents + 3) * per_agent)
    memory = physical_memory()
    if memory is not None and needed > memory:
        raise TooLarge(
            f"{problem.states:,} states, {problem.cells:,} team actions and {problem.steps:,} steps, with {numbers:,} "
            f"numbers to keep, need about {needed / 2**30:,.1f} GiB; this machine has {memory / 2**30:,.1f} GiB. "
            "Ask for fewer of them."
        )
