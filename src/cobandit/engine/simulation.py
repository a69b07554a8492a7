"""The one entry to both engines: check everything at the door, then hand the runs to an engine."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team, TeamLike
from cobandit.base.checks import MOST, is_list, one_of, short_repr, whole
from cobandit.base.errors import InvalidInput, TooLarge
from cobandit.base.extras import require_extras
from cobandit.base.machine import available_cores, physical_memory
from cobandit.base.parquet import checked_output
from cobandit.base.streams import MOST_RUNS, checked_seed
from cobandit.engine import reference
from cobandit.engine.choice import ENGINES, Choice, Engine, engine_for
from cobandit.engine.diagnostics import Diagnostics
from cobandit.engine.result import Result
from cobandit.engine.runs_file import runs_file
from cobandit.engine.stored import KEEPS, Keep
from cobandit.problem import Problem
from cobandit.stats import StreamedSummary, worth_streaming
from cobandit.stats.streaming import batch_rows, batches

if TYPE_CHECKING:
    from cobandit.engine.fast.game import Game

BATCHES_PLAYED = 2
"""Batches of a summary played in one go: so that those of short runs, too, are enough work for lock-step kernels."""
DEFAULT_CHECKPOINTS = 100
MOST_AT_ONCE = 8
"""Runs that are played at the same time where agents wait for answers from outside."""

Progress = Callable[[int, int], None]
Done = Callable[[int], None]
"""Takes the number of runs that have just been finished."""


def simulate(
    problem: Problem,
    team: TeamLike,
    horizon: int,
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
    diagnose: bool = False,
) -> Result:
    """Play ``runs`` independent runs of ``horizon`` rounds and return their regret at the checkpoints.

    ``team`` is a `Team` or describes one: the name or class of an agent (``"knowledge-gradient+bank"`` names one for
    each seat), an agent, or a list with one for each seat.

    The result depends only on the problem, the team, the horizon and the seed, never on the engine or on the number of
    threads; ``seed=None`` draws a new seed, which the result stores. ``engine="auto"`` takes the fast engine if numba
    is installed, all models and agents have a compiled form, and the job is large enough to be worth compiling or
    loading it; else the reference engine. The result says which and why. ``checkpoints`` is their number (evenly
    spaced, the last round included) or the rounds themselves. ``first_run`` numbers the first run, so a long job can be
    split: runs 0-99 and 100-199 together are runs 0-199. ``progress(done, runs)`` is called from time to time.
    Runs of agents that wait for answers, such as language models, are played ``threads`` at a time (8 by default).

    ``keep`` selects what the result stores: every run (``"runs"``), or a summary whose size does not grow with the
    number of runs (``"summary"``). ``"auto"`` stores up to four million numbers, runs x checkpoints, and the summary
    beyond that. ``out`` is a Parquet file that gets every run in either case, written while they are played.
    ``diagnose`` counts the events of every round, for `Result.diagnostics`.
    """
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem must be a Problem, such as Problem.bernoulli(...), got {short_repr(problem)}.")
    team = Team.from_any(team)
    checked_progress(progress)
    checked_flag("diagnose", diagnose)
    horizon = whole(1, MOST)("horizon", horizon)
    first_run = whole(0, MOST_RUNS - 1)("first_run", first_run)
    runs = whole(1, MOST_RUNS - first_run)("runs", runs)
    seed = checked_seed(seed)
    points = checked_checkpoints(checkpoints, horizon)
    workers = whole(1, 4096)("threads", available_cores() if threads is None else threads)
    keeps_runs = keeps_every_run(one_of(KEEPS)("keep", keep), runs, len(points), problem)
    if one_of(ENGINES)("engine", engine) == "fast" and out is not None:
        require_extras("This simulation", fast=True, parquet=True)  # name both missing extras in one error
    target = None if out is None else checked_output(out)
    # Before an engine is asked as well: what the fast one says it can play, it has laid out already.
    _refuse_what_cannot_fit(problem, horizon, runs, len(points), 1, keeps_runs)
    chosen, reason, game = chosen_engine(engine, problem, team, horizon, runs, diagnose)
    waiting = [player for player in team.players(problem.agents) if player.waits]
    at_once = min(runs, MOST_AT_ONCE if threads is None else workers) if waiting else 1
    workers = workers if chosen == "fast" else 1
    _refuse_what_cannot_fit(problem, horizon, runs, len(points), workers, keeps_runs)
    counts = Diagnostics.empty(problem.arms, horizon, points) if diagnose else None
    if game is not None:
        from cobandit.engine import fast

        kernel = fast.choose_kernel(game, runs)

    def play(part: range, done: Done, team_regrets: NDArray[np.float64] | None) -> NDArray[np.float64]:
        def play_plainly(runs: range, done: Done) -> reference.Played:
            here = None if team_regrets is None else team_regrets[runs.start - first_run : runs.stop - first_run]
            return reference.play_runs(problem, team, horizon, seed, runs, points, done, here, diagnose)

        if game is not None:
            regrets, counted = fast.play_runs(game, seed, part, points, workers, done, kernel, diagnose)
        else:
            regrets, counted = reference.play_at_once(at_once, part, play_plainly, done)
        if counts is not None and counted is not None:
            counts.add(part.start, counted)
        return regrets

    numbers = range(first_run, first_run + runs)
    job = Job(problem, team, horizon, seed, numbers, points, chosen, reason, play, progress, counts)
    with waiting[0].running(problem.arms, horizon * runs, len(waiting)) if waiting else nullcontext():
        return job.every_run(target) if keeps_runs else job.summary(target)


@dataclass(eq=False)
class Job:
    """Runs that passed every check, and how they are played: ``play`` gives the regret of some of them."""

    problem: Any
    team: Team
    horizon: int
    seed: int
    runs: range
    points: NDArray[np.int64]
    engine: str
    reason: str
    play: Callable[[range, Done, NDArray[np.float64] | None], NDArray[np.float64]]
    progress: Progress | None
    counts: Diagnostics | None = None
    kind: type[Result] = Result
    finished: int = 0

    def __post_init__(self) -> None:
        shape = len(self.runs), len(self.points)
        self.team_regrets = None if self.problem.steady_sight else np.zeros(shape)

    def every_run(self, target: Path | None) -> Result:
        """Return the result that holds every run; ``target`` is a file for it."""
        start = time.perf_counter()
        regrets = self._play(self.runs)
        result = self._result(regrets, time.perf_counter() - start)
        if target is not None:
            result.save(target)
        return result

    def summary(self, target: Path | None) -> Result:
        """Return the result that holds a summary; ``target`` is a file that gets every run while they are played."""
        start = time.perf_counter()
        summary = StreamedSummary(len(self.points))
        with ExitStack() as open_files:
            write = None
            if target is not None:
                # The head of the file is written before the first run, so how long it will take is not known.
                provenance = self._result(summary, math.nan).stored_provenance() | {"keeps": "runs", "seconds": None}
                file = runs_file(target, self.points, self.problem.team_factor, provenance)
                write = open_files.enter_context(file)
            for numbers in batches(self.runs, BATCHES_PLAYED * batch_rows(len(self.points))):
                regrets = self._play(numbers)
                summary.add(numbers.start, regrets)
                if write is not None:
                    write(numbers.start, regrets)
                del regrets  # before the next ones are there
        return self._result(summary, time.perf_counter() - start)

    def _play(self, numbers: range) -> NDArray[np.float64]:
        if self.counts is None:
            return self.play(numbers, self._done, self.team_regrets)
        # Regret by cause has a few numbers for each checkpoint of a run, which are not stored for all runs together.
        rows = batch_rows(len(self.points) * (self.problem.agents + 3))
        pieces = [self.play(piece, self._done, self.team_regrets) for piece in batches(numbers, BATCHES_PLAYED * rows)]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def _done(self, more: int) -> None:
        self.finished += more
        if self.progress is not None:
            self.progress(self.finished, len(self.runs))

    def _result(self, regrets: NDArray[np.float64] | StreamedSummary, seconds: float) -> Result:
        return self.kind(
            problem=self.problem,
            team=self.team,
            horizon=self.horizon,
            seed=self.seed,
            first_run=self.runs.start,
            runs=len(self.runs),
            engine=self.engine,
            engine_reason=self.reason,
            seconds=seconds,
            checkpoints=self.points,
            kept=regrets,
            summed_team_regret=self.team_regrets,
            counted=self.counts,
        )


def checked_progress(progress: Any) -> None:
    """Refuse what cannot be called to show progress."""
    if progress is not None and not callable(progress):
        raise InvalidInput(f"progress must be a function of (done, runs) or None, got {short_repr(progress)}.")


def checked_flag(name: str, value: Any) -> bool:
    """Return True or False, or refuse anything else."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be True or False, got {short_repr(value)}.")
    return value


def keeps_every_run(keep: str, runs: int, points: int, problem: Any) -> bool:
    """Return whether the result will hold every run."""
    if not problem.steady_sight:
        if keep == "summary":
            raise InvalidInput(
                "keep is 'summary', but the sight of this problem may change from round to round, so that team regret "
                "is no multiple of task regret; keep='runs' is needed."
            )
        return True
    return not worth_streaming(runs, points) if keep == "auto" else keep == "runs"


def chosen_engine(engine: str, problem: Problem, team: Team, horizon: int, runs: int, diagnose: bool) -> Choice[Game]:
    """Return the engine that will play, why, and the game for the fast one."""

    def prepare() -> Game:
        from cobandit.engine import fast

        return fast.make_game(problem, team, horizon)

    def readiness(game: Game) -> tuple[str, object]:
        from cobandit.engine import fast

        return fast.readiness(game, runs, diagnose)

    return engine_for(engine, prepare, problem.agents * horizon * runs, problem.cells, readiness)


def checked_checkpoints(checkpoints: Any, horizon: int) -> NDArray[np.int64]:
    """Return the rounds after which regret is kept, ascending."""
    if checkpoints is None or isinstance(checkpoints, (int, np.integer)):
        count = min(DEFAULT_CHECKPOINTS if checkpoints is None else whole(1)("checkpoints", checkpoints), horizon)
        return np.array([-(-k * horizon // count) for k in range(1, count + 1)], dtype=np.int64)
    if not is_list(checkpoints):
        raise InvalidInput(f"checkpoints must be how many, or a list of rounds, got {short_repr(checkpoints)}.")
    check = whole(1, horizon)
    points = [check(f"checkpoints[{i}]", point) for i, point in enumerate(checkpoints)]
    if not points or any(b <= a for a, b in itertools.pairwise(points)):
        raise InvalidInput(f"checkpoints must be at least one round, in ascending order, got {short_repr(points)}.")
    return np.array(points, dtype=np.int64)


def _refuse_what_cannot_fit(
    problem: Problem, horizon: int, runs: int, points: int, workers: int, keeps_runs: bool
) -> None:
    """Refuse a size that does not fit into memory before any work starts."""
    # A summary has bins for numbers over six powers of ten, and a batch of runs is copied some times to be added.
    copies = 6 + 2 * BATCHES_PLAYED
    results = 8 * points * (runs if keeps_runs else 2_500 + copies * min(runs, batch_rows(points)))
    # Per cell and agent: counts, sums, indices and a tournament over arms padded to powers of two; per round tables.
    padding = min(8.0, math.prod(1 << (size - 1).bit_length() for size in problem.arms) / problem.cells)
    per_cell = int(80 + 48 * padding)
    playing = workers * problem.cells * (problem.agents + 1) * per_cell + 8 * (problem.agents * 2 + 1) * horizon
    memory = physical_memory()
    if memory is not None and results + playing > memory:
        raise TooLarge(
            f"{runs:,} runs x {points:,} checkpoints with {problem.cells:,} team actions and {horizon:,} rounds "
            f"need about {(results + playing) / 2**30:,.1f} GiB; this machine has {memory / 2**30:,.1f} GiB. "
            "Ask for fewer of them" + ("; keep='summary' keeps no runs." if keeps_runs and results > playing else ".")
        )
