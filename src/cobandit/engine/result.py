"""What a simulation gives back."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team
from cobandit.checks import whole
from cobandit.engine import reference
from cobandit.engine.trajectory import Trajectory
from cobandit.errors import InvalidInput, MissingExtra
from cobandit.files import whole_file
from cobandit.problem import Problem
from cobandit.stats import Summary, summarise


@dataclass(frozen=True)
class RegretSummary:
    """Task and team regret over the runs, at each checkpoint."""

    checkpoints: list[int]
    task_regret: Summary
    team_regret: Summary

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "checkpoints": self.checkpoints,
            "task_regret": self.task_regret.to_dict(),
            "team_regret": self.team_regret.to_dict(),
        }

    def __str__(self) -> str:
        shown = picked_rows(len(self.checkpoints))
        heads = ("mean", "se", "median", "q10", "q90")
        lines = [f"{'round':>10}  " + f"{'task regret':^47}" + "   " + f"{'team regret':^47}"]
        lines.append(" " * 12 + ("".join(f"{head:>9}" for head in heads) + "     ") * 2)
        for k in shown:
            cells = []
            for summary in (self.task_regret, self.team_regret):
                values = [getattr(summary, head)[k] for head in heads]
                cells.append("".join(f"{'-' if v is None else format(v, '.2f'):>9}" for v in values))
            lines.append(f"{self.checkpoints[k]:>10,}  " + "     ".join(cells))
        return "\n".join(line.rstrip() for line in lines)

    __repr__ = __str__


def picked_rows(count: int, most: int = 10) -> list[int]:
    """At most ``most`` row numbers, evenly spread, the last included."""
    if count <= most:
        return list(range(count))
    return sorted({round((k + 1) * count / most) - 1 for k in range(most)})


@dataclass(frozen=True, eq=False)
class Result:
    """The regret of every run at every checkpoint, and all that is needed to repeat it.

    ``task_regret`` and ``team_regret`` are arrays of runs x checkpoints. Task regret sums mu_* - mu_a over the
    rounds; team regret (the paper's R(T)) counts what the agents observe of it. ``engine`` played, for
    ``engine_reason``.
    """

    problem: Problem
    team: Team
    horizon: int
    seed: int
    first_run: int
    engine: str
    engine_reason: str
    seconds: float
    checkpoints: NDArray[np.int64]
    task_regret: NDArray[np.float64]
    summed_team_regret: NDArray[np.float64] | None = None

    @property
    def runs(self) -> int:
        """How many runs were played."""
        return len(self.task_regret)

    @cached_property
    def team_regret(self) -> NDArray[np.float64]:
        """The paper's R(T) of each run at each checkpoint; added up round by round where sight may change."""
        if self.summed_team_regret is not None:
            return self.summed_team_regret
        return self.task_regret * self.problem.team_factor

    def summary(self) -> RegretSummary:
        """Mean, standard error, median and quantiles of both regrets at each checkpoint."""
        return RegretSummary(self.checkpoints.tolist(), summarise(self.task_regret), summarise(self.team_regret))

    def trajectory(self, run: int) -> Trajectory:
        """The rounds of one run, played again from the seed (so nothing had to be kept)."""
        last = self.first_run + self.runs - 1
        number = whole(self.first_run, last)("run", run)
        if self.engine == "fast":
            from cobandit.engine import fast

            return fast.run_trajectory(self.problem, self.team, self.horizon, self.seed, number)
        return reference.run_trajectory(self.problem, self.team, self.horizon, self.seed, number)

    def provenance(self) -> dict[str, Any]:
        """Where the numbers come from."""
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
            "seconds": self.seconds,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "machine": f"{platform.system()} {platform.machine()}",
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Keep every run in a Parquet file, one row per run and checkpoint, the provenance in its metadata.

        The file appears whole or not at all.
        """
        target = checked_output(path)
        arrow, parquet = pyarrow_modules()
        points = len(self.checkpoints)
        table = arrow.table(
            {
                "run": np.repeat(np.arange(self.first_run, self.first_run + self.runs), points),
                "t": np.tile(self.checkpoints, self.runs),
                "task_regret": self.task_regret.ravel(),
                "team_regret": self.team_regret.ravel(),
            }
        ).replace_schema_metadata({"cobandit": json.dumps(self.provenance(), default=str)})
        with whole_file(target) as file:
            parquet.write_table(table, file)
        return target

    def __repr__(self) -> str:
        return (
            f"<Result of {self.team.label}: {self.runs:,} runs x {self.horizon:,} rounds, "
            f"mean task regret {self.task_regret[:, -1].mean():.2f}, seed {self.seed}, {self.engine} engine>"
        )


def checked_output(path: str | os.PathLike[str]) -> Path:
    """Where a Parquet file will go; refused early if it cannot be written or pyarrow is missing."""
    target = Path(path).expanduser()
    if target.suffix != ".parquet":
        raise InvalidInput(f"The output file is {str(target)!r}; a name that ends in .parquet is needed.")
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise InvalidInput(f"The folder {str(target.parent)!r} is not there or cannot be written to.")
    if target.is_dir():
        raise InvalidInput(f"The output file {str(target)!r} is a folder.")
    pyarrow_modules()
    return target


def pyarrow_modules() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet, or one plain sentence."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("parquet", "Keeping runs in a Parquet file") from None
    return pyarrow, pyarrow.parquet
