"""What a simulation gives back."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team
from cobandit.base.checks import is_list, one_of, short_repr, whole
from cobandit.base.errors import InvalidInput, RunsNotKept
from cobandit.base.extras import installed, require_extras
from cobandit.base.html import html_table
from cobandit.base.json_types import JsonObject
from cobandit.base.lazy import provided
from cobandit.base.parquet import checked_output, pyarrow_modules
from cobandit.engine import reference
from cobandit.engine.choice import can_play_fast
from cobandit.engine.diagnostics import Diagnostics
from cobandit.engine.identity import check_agents
from cobandit.engine.runs_file import run_columns, runs_file, summary_columns, write_summary
from cobandit.engine.stored import KEEPS, Keep, described_fields, joined_fields, markov_kinds, stored_fields
from cobandit.engine.trajectory import Trajectory
from cobandit.problem import Problem
from cobandit.stats import StreamedSummary, Summary, summarise

RegretName = Literal["task", "team"]
Band = Literal["se", "quantiles", "none"]
"""What a figure shows around a curve of regret."""
checked_regret = one_of(("task", "team"), "regret")
"""A check for the name of a regret."""


STATISTICS = ("mean", "se", "median", "q10", "q90")


def _cell(value: float) -> str:
    return "-" if math.isnan(value) else format(value, ".2f")


@dataclass(frozen=True, eq=False)
class RegretSummary:
    """Task and team regret over the runs, at each checkpoint: arrays, so that ``mean - se`` is one too."""

    checkpoints: NDArray[np.int64]
    task_regret: Summary
    team_regret: Summary

    def of_regret(self, regret: RegretName) -> Summary:
        """Return the summary of the ``"task"`` or of the ``"team"`` regret."""
        return {"task": self.task_regret, "team": self.team_regret}[checked_regret("regret", regret)]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "checkpoints": self.checkpoints.tolist(),
            "task_regret": self.task_regret.to_dict(),
            "team_regret": self.team_regret.to_dict(),
        }

    def __str__(self) -> str:
        shown = picked_rows(len(self.checkpoints))
        heads = STATISTICS
        lines = [f"{'round':>10}  " + f"{'task regret':^47}" + "   " + f"{'team regret':^47}"]
        lines.append(" " * 12 + ("".join(f"{head:>9}" for head in heads) + "     ") * 2)
        for k in shown:
            cells = []
            for summary in (self.task_regret, self.team_regret):
                values = [getattr(summary, head)[k] for head in heads]
                cells.append("".join(f"{_cell(value):>9}" for value in values))
            lines.append(f"{self.checkpoints[k]:>10,}  " + "     ".join(cells))
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__

    def __call__(self) -> RegretSummary:
        """Return this summary, so that ``result.summary`` and ``result.summary()`` are the same."""
        return self

    def _repr_html_(self) -> str:
        heads = ("round", *(f"{regret}: {name}" for regret in ("task", "team") for name in STATISTICS))
        columns = [getattr(each, name) for each in (self.task_regret, self.team_regret) for name in STATISTICS]
        picked = picked_rows(len(self.checkpoints))
        rows = [(f"{self.checkpoints[k]:,}", *(_cell(column[k]) for column in columns)) for k in picked]
        return html_table("Task and team regret", heads, rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RegretSummary) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


class ResultViews(Protocol):
    """The functions that show a result; `cobandit.report` has them."""

    def plot_result(self, result: Result, ax: Any, **options: Any) -> Any:
        """Draw the regret into matplotlib's ``ax`` and return it."""

    def result_html(self, result: Result) -> str:
        """Return the result as HTML for a notebook."""

    def write_watch_page(self, result: Result, run: int, path: str | os.PathLike[str] | None) -> Path:
        """Write the page on which a run can be watched, and return its path."""


def _views() -> ResultViews:
    views: ResultViews = provided("report")
    return views


def picked_rows(count: int, most: int = 10) -> list[int]:
    """Return at most ``most`` row numbers, evenly spaced, the last included."""
    if count <= most:
        return list(range(count))
    return sorted({round((k + 1) * count / most) - 1 for k in range(most)})


@dataclass(frozen=True, eq=False)
class Result:
    """The regret of every run at every checkpoint, or its summary, and all that is needed to repeat it.

    ``task_regret`` and ``team_regret`` are arrays of runs x checkpoints. Task regret sums mu_* - mu_a over the
    rounds; team regret (the paper's R(T)) counts what the agents observe of it. Where there are too many runs to keep
    them all (``keeps_runs`` is false), only ``kept``, a summary, is there; asking for the arrays is then an error.
    ``engine`` played, for ``engine_reason``. The result of a Markov problem is a `cobandit.mdp.MarkovResult`, whose
    rounds are the steps of all episodes. ``counted`` is there if it was simulated with ``diagnose=True``.
    """

    problem: Problem
    team: Team
    horizon: int
    seed: int
    first_run: int
    runs: int
    engine: str
    engine_reason: str
    seconds: float
    checkpoints: NDArray[np.int64]
    kept: NDArray[np.float64] | StreamedSummary
    summed_team_regret: NDArray[np.float64] | None = None
    counted: Diagnostics | None = None

    @property
    def keeps_runs(self) -> bool:
        """Whether every run is here; else only their summary."""
        return not isinstance(self.kept, StreamedSummary)

    @property
    def task_regret(self) -> NDArray[np.float64]:
        """Task regret of each run at each checkpoint."""
        if isinstance(self.kept, StreamedSummary):
            raise RunsNotKept(
                f"Of {self.runs:,} runs x {len(self.checkpoints):,} checkpoints this result keeps the summary alone. "
                "For the regret of every run simulate with keep='runs', or with out='runs.parquet' into a file."
            )
        return self.kept

    @cached_property
    def team_regret(self) -> NDArray[np.float64]:
        """The paper's R(T) of each run at each checkpoint; added up round by round where sight may change."""
        if self.summed_team_regret is not None:
            return self.summed_team_regret
        return np.asarray(self.task_regret * self.problem.team_factor)

    @cached_property
    def summary(self) -> RegretSummary:
        """Mean, standard error, median and quantiles of both regrets at each checkpoint; ``summary()`` is the same.

        Where the runs are not kept, median and quantiles are within 0.4 %; the others are exact.
        """
        if isinstance(self.kept, StreamedSummary):
            task = self.kept.summary()
            return RegretSummary(self.checkpoints, task, task.scaled(self.problem.team_factor))
        return RegretSummary(self.checkpoints, summarise(self.task_regret), summarise(self.team_regret))

    def trajectory(self, run: int) -> Trajectory:
        """Return the rounds of one run, played again from the seed (so nothing had to be kept)."""
        last = self.first_run + self.runs - 1
        number = whole(self.first_run, last)("run", run)
        return self._played_again(number)

    def _played_again(self, number: int) -> Trajectory:
        if self.engine == "fast" and can_play_fast():  # both engines play the same rounds
            from cobandit.engine import fast

            return fast.run_trajectory(self.problem, self.team, self.horizon, self.seed, number)
        return reference.run_trajectory(self.problem, self.team, self.horizon, self.seed, number)

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Why the team lost: events in all runs. The runs are played again if the events were not counted.

        ``diagnostics()`` returns the same.
        """
        if self.counted is not None:
            return self.counted
        if not isinstance(self.problem, Problem):
            raise InvalidInput(f"Diagnostics are those of bandit teams; here {type(self.problem).__name__} was played.")
        from cobandit.engine.simulation import simulate

        again = simulate(
            self.problem,
            self.team,
            self.horizon,
            self.runs,
            self.seed,
            engine="reference" if self.engine == "reference" else "auto",
            checkpoints=self.checkpoints.tolist(),
            first_run=self.first_run,
            diagnose=True,
        )
        assert again.counted is not None
        return again.counted

    def watch(self, run: int, path: str | os.PathLike[str] | None = None) -> Path:
        """Write an offline page that replays a run, and return its path.

        ``path`` is ``watch-run-3.html`` in this folder by default. Small pictures show the other runs.
        """
        return _views().write_watch_page(self, run, path)

    def provenance(self) -> dict[str, Any]:
        """Return the provenance of the numbers."""
        from cobandit import __version__

        return {
            "cobandit": __version__,
            "problem": self.problem.describe(),
            "team": self.team.describe(),
            "horizon": self.horizon,
            "runs": self.runs,
            "first_run": self.first_run,
            "seed": self.seed,
            "engine": self.engine,
            "engine_reason": self.engine_reason,
            "keeps": "runs" if self.keeps_runs else "summary",
            "seconds": self.seconds,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "machine": f"{platform.system()} {platform.machine()}",
        }

    def stored_provenance(self) -> dict[str, Any]:
        """Return what a file is stored with: the provenance, and the identity of each agent's class."""
        return self.provenance() | {"agents": self.team.identities()}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Keep every run in a Parquet file, one row per run and checkpoint, the provenance in its metadata.

        A result without its runs keeps what it has: one row per checkpoint with the statistics, the extremes and a
        histogram of task regret. The file appears whole or not at all.
        """
        target = checked_output(path)
        counted = None if self.counted is None else self.counted.describe()
        if isinstance(self.kept, StreamedSummary):
            stored = self.stored_provenance()
            write_summary(target, self.checkpoints, self.problem.team_factor, self.kept, stored, counted)
            return target
        with runs_file(target, self.checkpoints, self.problem.team_factor, self.stored_provenance(), counted) as write:
            write(self.first_run, self.kept, self.summed_team_regret)
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, own: Iterable[type] = (), keep: Keep = "auto") -> Self:
        """Return the result in a Parquet file that `save`, or `simulate` with ``out``, wrote.

        ``own`` holds the classes of agents and models that are not ours. The file knows which classes played: another
        one of the same name is refused, and one that was changed since must replay the first run as it is stored. In a
        file that is too old to know them, a registered agent that plays differently gives a warning. ``keep`` says, as
        in `simulate`, whether every run is held or only a summary of them; ``"auto"`` holds up to four million numbers.
        """
        return cls._loaded(stored_fields(path, own, one_of(KEEPS)("keep", keep)))

    @classmethod
    def concat(cls, results: Iterable[Result]) -> Self:
        """Consecutive runs of one job, in whatever order they come: runs 0-99 and 100-199 are runs 0-199.

        Problem, team, horizon, seed and checkpoints must be the same, and no run may be missing or there twice.
        """
        if not is_list(results):
            raise InvalidInput(f"results must be a list of results, got {short_repr(results)}.")
        return cls._of_problem(joined_fields(list(results)))

    def describe(self) -> dict[str, Any]:
        """Return the provenance and the numbers as plain data. This can be large (`save` writes a file instead)."""
        counted = {} if self.counted is None else {"diagnostics": self.counted.describe()}
        known = {**self.stored_provenance(), "checkpoints": self.checkpoints.tolist(), **counted}
        if isinstance(self.kept, StreamedSummary):
            numbers: dict[str, Any] = {name: array.tolist() for name, array in self.kept.to_arrays().items()}
            return {**known, "summary": numbers}
        regrets: JsonObject = {"task_regret": self.kept.tolist()}
        if self.summed_team_regret is not None:
            regrets["team_regret"] = self.summed_team_regret.tolist()
        return {**known, **regrets}

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], own: Iterable[type] = ()) -> Self:
        """Create the result from the output of `describe`, also after conversion to JSON and back; ``own`` as in
        `load`.
        """
        return cls._loaded(described_fields(description, own))

    @classmethod
    def _loaded(cls, fields: dict[str, Any]) -> Self:
        """Return a result that was stored, if its agents are those that played it."""
        identities = fields.pop("agents")
        result = cls._of_problem(fields)
        check_agents(result, identities)
        return result

    @classmethod
    def _of_problem(cls, fields: dict[str, Any]) -> Self:
        """Create a result of the class for the problem: with states or without."""
        kind: type[Self] = cls if isinstance(fields["problem"], Problem) else markov_kinds().MarkovResult
        return kind(**fields)

    def to_arrow(self) -> Any:
        """Return a pyarrow Table with the columns that `save` writes, the provenance in its metadata.

        Whatever reads the Arrow C stream takes the result itself: ``polars.DataFrame(result)``.
        """
        require_extras("A table of Arrow", parquet=True)
        arrow, _ = pyarrow_modules()
        if isinstance(self.kept, StreamedSummary):
            columns = summary_columns(self.checkpoints, self.problem.team_factor, self.kept)
        else:
            columns = run_columns(self.first_run, self.checkpoints, self.kept, self.team_regret)
        return arrow.table(columns).replace_schema_metadata(
            {"cobandit": json.dumps(self.stored_provenance(), default=str)}
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_xarray(self) -> Any:
        """Return an xarray Dataset with the dimensions ``run`` and ``t``, the provenance in its attributes."""
        require_extras("A dataset of xarray", xarray=True)
        import xarray

        regrets = {"task_regret": self.task_regret, "team_regret": self.team_regret}
        return xarray.Dataset(
            {name: (("run", "t"), values) for name, values in regrets.items()},
            coords={"run": np.arange(self.first_run, self.first_run + self.runs), "t": self.checkpoints},
            attrs={"cobandit": json.dumps(self.provenance(), default=str)},
        )

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the regret over the rounds into matplotlib's ``ax``, or into a new one, and give it back.

        The options are those of `cobandit.report.plot_result`: ``regret``, ``label``, ``band``, ``color`` and whatever
        matplotlib's ``plot`` takes.
        """
        return _views().plot_result(self, ax, **options)

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same runs with the same numbers, whatever engine and machine played them."""
        if not isinstance(other, Result):
            return NotImplemented
        facts = ("horizon", "seed", "first_run", "runs", "keeps_runs", "problem", "team")
        return (
            all(getattr(self, name) == getattr(other, name) for name in facts)
            and np.array_equal(self.checkpoints, other.checkpoints)
            and _same_numbers(self.kept, other.kept)
            and _same_numbers(self.summed_team_regret, other.summed_team_regret)
        )

    def __hash__(self) -> int:
        return hash((self.horizon, self.seed, self.first_run, self.runs))

    def _repr_html_(self) -> str | None:
        return _views().result_html(self) if installed("plot") else None

    def __repr__(self) -> str:
        if isinstance(self.kept, StreamedSummary):
            mean, remark = self.summary.task_regret.mean[-1], ", summary only"
        else:
            mean, remark = float(self.kept[:, -1].mean()), ""
        return (
            f"<Result of {self.team.label}: {self.runs:,} runs x {self.horizon:,} rounds, "
            f"mean task regret {mean:.2f}, seed {self.seed}, {self.engine} engine{remark}>"
        )


def _same_numbers(mine: Any, other: Any) -> bool:
    """Return whether two arrays, two summaries or two Nones hold the same."""
    if isinstance(mine, StreamedSummary):
        arrays, others = mine.to_arrays(), other.to_arrays()
        return arrays.keys() == others.keys() and all(np.array_equal(arrays[key], others[key]) for key in arrays)
    return mine is None and other is None if mine is None or other is None else np.array_equal(mine, other)
