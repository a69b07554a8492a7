"""Several teams on one problem, all with the same luck: played, ranked, as rows and as files."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cobandit.agents import Team, TeamLike
from cobandit.base.checks import is_list, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.base.files import checked_path, save_csv, save_json
from cobandit.base.html import html_table
from cobandit.engine import Result
from cobandit.engine.choice import Engine
from cobandit.engine.result import Band, RegretName
from cobandit.engine.simulation import Progress, checked_flag
from cobandit.engine.words import distinct_labels
from cobandit.experiments.any_problem import simulate_any, team_kind
from cobandit.experiments.compiling import compiled_by_two
from cobandit.problem import Problem

if TYPE_CHECKING:
    from cobandit.mdp import MarkovProblem

POINTS = 100
COLUMNS = ("team", "mean", "se", "median", "q10", "q90", "growth", "engine", "seconds")
"""The columns of `TeamComparison.rows`."""


@dataclass(frozen=True, eq=False)
class TeamComparison:
    """The results of several teams on one problem, the lowest mean task regret first."""

    results: tuple[Result, ...]

    @property
    def labels(self) -> list[str]:
        """A short name for each team; teams of one kind are distinguished by the options in which they differ."""
        return distinct_labels([result.team for result in self.results])

    def finals(self, result: Result, regret: RegretName = "task") -> tuple[float, float | None, float, float, float]:
        """Mean, standard error, median, 10 % and 90 % quantile of a team's regret after the last round."""
        chosen = result.summary().of_regret(regret)
        mean, se, median, q10, q90 = (
            float(values[-1]) for values in (chosen.mean, chosen.se, chosen.median, chosen.q10, chosen.q90)
        )
        return mean, None if math.isnan(se) else se, median, q10, q90

    def growth(self, result: Result) -> float | None:
        """Return the growth of a team's mean regret while the number of rounds doubles, from T/2 to T."""
        summary = result.summary()
        means = summary.task_regret.mean
        halfway = means[np.searchsorted(summary.checkpoints, -(-result.horizon // 2))]
        return float(means[-1] / halfway) if halfway > 0.0 else None

    def rows(self, regret: RegretName = "task") -> list[tuple[Any, ...]]:
        """Return one row for each team, in the order of `COLUMNS`; ``regret`` is ``"task"`` or ``"team"``."""
        return [
            (label, *self.finals(result, regret), self.growth(result), result.engine, result.seconds)
            for label, result in zip(self.labels, self.results, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return both regrets of every team at every checkpoint as plain data, ready for JSON."""
        first = self.results[0].provenance()
        shared = {key: first[key] for key in ("cobandit", "problem", "horizon", "runs", "seed")}
        teams = [
            {
                "label": label,
                "team": result.team.describe(),
                "engine": result.engine,
                "seconds": result.seconds,
                "growth": self.growth(result),
                **result.summary().to_dict(),
                **({} if result.counted is None else {"diagnostics": result.counted.to_dict()}),
            }
            for label, result in zip(self.labels, self.results, strict=True)
        ]
        return {**shared, "teams": teams}

    def plot(self, ax: Any = None, *, regret: RegretName = "task", band: Band = "se") -> Any:
        """Draw the regret of every team over the rounds into Matplotlib's ``ax``, or into a new one, and return it.

        ``band`` is ``"se"`` (mean and standard error), ``"quantiles"`` (median and middle 80 %) or ``"none"``.
        """
        for label, result in zip(self.labels, self.results, strict=True):
            ax = result.plot(ax, regret=regret, band=band, label=label)
        ax.legend()
        return ax

    def save(self, path: str | os.PathLike[str], *, regret: RegretName = "task") -> Path:
        """Write `rows` into a ``.csv`` file or `to_dict` into a ``.json`` file; it appears whole or not at all."""
        target = checked_path("path", path)
        if target.suffix == ".json":
            return save_json(target, self.to_dict())
        if target.suffix == ".csv":
            return save_csv(target, COLUMNS, self.rows(regret))
        raise InvalidInput(f"path must be a name that ends in .csv or .json, got {str(target)!r}.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TeamComparison) and self.results == other.results

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        shown = [[f"{cell:,.4g}" if isinstance(cell, float) else cell for cell in row] for row in self.rows()]
        first = self.results[0]
        caption = f"Task regret, {first.runs:,} runs of {first.horizon:,} rounds, seed {first.seed}"
        return html_table(caption, COLUMNS, shown)

    def __repr__(self) -> str:
        return f"<TeamComparison of {', '.join(self.labels)}>"


def compare_teams(
    problem: Problem | MarkovProblem,
    teams: Sequence[TeamLike],
    horizon: int,
    runs: int = 400,
    seed: int | None = 0,
    *,
    engine: Engine = "auto",
    threads: int | None = None,
    progress: Callable[[str], Progress | None] | None = None,
    diagnose: bool = False,
) -> TeamComparison:
    """Simulate each team on the same problem with the same seed, so that all teams get the same random numbers.

    ``progress`` is called with a team's label and returns the callback for `cobandit.simulate`. A team of the wrong
    size is refused before any team has played. The problem may be a `cobandit.mdp.MarkovProblem` with teams of
    `cobandit.mdp`; ``horizon`` is then the number of steps of all episodes. ``diagnose`` is that of
    `cobandit.simulate`, for bandits: their results can then explain why the teams lost.
    """
    kind = team_kind(problem)
    if not is_list(teams) or not (given := list(teams)):
        raise InvalidInput(f"teams must be a list of at least one team, got {short_repr(teams)}.")
    if progress is not None and not callable(progress):
        raise InvalidInput(f"progress must be a function of a team's label or None, got {short_repr(progress)}.")
    lineups: list[Team] = [kind.from_any(team, f"teams[{place}]") for place, team in enumerate(given)]
    for team in lineups:
        team.playing(problem).agents(problem.agents)
    checked_flag("diagnose", diagnose)
    if diagnose and not isinstance(problem, Problem):
        raise InvalidInput(f"diagnose was asked for, but problem is {short_repr(problem)}; a Problem is needed for it.")
    options = {"diagnose": diagnose} if isinstance(problem, Problem) else {}
    with compiled_by_two(problem, lineups, horizon, runs, diagnose):
        results = [
            simulate_any(
                problem,
                team,
                horizon,
                runs,
                seed,
                engine=engine,
                threads=threads,
                checkpoints=_checkpoints(horizon),
                progress=None if progress is None else progress(team.label),
                **options,
            )
            for team in lineups
        ]
    return TeamComparison(tuple(sorted(results, key=lambda result: result.summary().task_regret.mean[-1])))


def _checkpoints(horizon: object) -> list[int] | None:
    """Evenly spread rounds with T/2 and T among them; what is no horizon is left to be refused."""
    if isinstance(horizon, bool) or not isinstance(horizon, (int, float)) or horizon < 1 or horizon % 1:
        return None
    return sorted({-(-k * int(horizon) // POINTS) for k in range(1, POINTS + 1)})
