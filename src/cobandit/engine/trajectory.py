"""The rounds of one run, column by column."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.files import save_csv
from cobandit.problem import Instance
from cobandit.problem.labels import Labels

NOBODY = -1
"""Stands where no arm was foreseen."""


@dataclass(frozen=True)
class Trajectory:
    """One run, round by round.

    ``actions[t, i]`` is agent i's arm, ``rewards[t]`` is r*, ``seen[t, i]`` what agent i saw (NaN: it knows it saw
    nothing), ``predictions[t, i, j]`` the arm that agent i foresaw for agent j (-1: it foresaw none). Where the means
    change, ``means`` are those of round 1 and ``round_regret[t]`` is mu_* - mu_a of that round; else it is None.
    Of a relabelled problem arms and means are in the labels of the agents in this run, and ``labels[i][k]`` is the
    problem's arm behind agent i's arm k; else it is None.
    """

    run: int
    means: NDArray[np.float64]
    ranks: tuple[int, ...]
    actions: NDArray[np.int64]
    rewards: NDArray[np.float64]
    seen: NDArray[np.float64]
    predictions: NDArray[np.int64]
    round_regret: NDArray[np.float64] | None = None
    labels: Labels | None = None

    @classmethod
    def of_instance(cls, run: int, instance: Instance, horizon: int, *, changing: bool) -> Trajectory:
        """Return an empty trajectory of what nature fixed for a run."""
        blank = cls.empty(run, instance.means, instance.ranks, horizon, changing=changing)
        return replace(blank, labels=instance.labels)

    @classmethod
    def empty(
        cls, run: int, means: NDArray[np.float64], ranks: tuple[int, ...], horizon: int, *, changing: bool = False
    ) -> Trajectory:
        """Return an empty record of ``horizon`` rounds; ``changing``: the means change."""
        agents = len(ranks)
        return cls(
            run,
            means,
            ranks,
            np.zeros((horizon, agents), dtype=np.int64),
            np.zeros(horizon),
            np.zeros((horizon, agents)),
            np.full((horizon, agents, agents), NOBODY, dtype=np.int64),
            np.zeros(horizon) if changing else None,
        )

    def write_round(
        self,
        t: int,
        action: tuple[int, ...],
        reward: float,
        seen: tuple[float | None, ...],
        round_regret: float,
        predictions: Iterable[Mapping[int, int]] = (),
    ) -> None:
        """Fill row ``t``; ``predictions`` holds what each agent foresaw, by agent."""
        self.actions[t] = action
        self.rewards[t] = reward
        self.seen[t] = [np.nan if look is None else look for look in seen]
        if self.round_regret is not None:
            self.round_regret[t] = round_regret
        for i, foreseen in enumerate(predictions):
            for j, arm in foreseen.items():
                self.predictions[t, i, j] = arm

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def task_regret(self) -> NDArray[np.float64]:
        """Cumulative task regret after each round."""
        if self.round_regret is not None:
            return np.cumsum(self.round_regret)
        gaps = self.means.max() - self.means[tuple(self.actions.T)]
        return np.cumsum(gaps)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return flat columns, one row per round, with predictions only of agents that make them: ready for any
        table.
        """
        agents = len(self.ranks)
        table: dict[str, NDArray[Any]] = {
            "run": np.full(len(self), self.run, dtype=np.int64),
            "t": np.arange(1, len(self) + 1, dtype=np.int64),
        }
        for i in range(agents):
            table[f"arm_{i}"] = self.actions[:, i]
        table["reward"] = self.rewards
        for i in range(agents):
            table[f"seen_{i}"] = self.seen[:, i]
        for i in range(agents):
            for j in range(agents):
                foreseen = self.predictions[:, i, j]
                if (foreseen != NOBODY).any():
                    table[f"predicted_{i}_{j}"] = foreseen
        table["task_regret"] = self.task_regret
        return table

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one plain dictionary per round."""
        table = self.columns()
        for values in zip(*(column.tolist() for column in table.values()), strict=True):
            yield dict(zip(table, values, strict=True))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `columns` as a CSV file, one row per round; the file appears whole or not at all."""
        return save_csv(Path(path), list(self.columns()), (list(row.values()) for row in self.rows()))

    def same_as(self, other: Trajectory) -> bool:
        """Return whether two runs agree to the last bit."""
        return (
            self.ranks == other.ranks
            and self.labels == other.labels
            and np.array_equal(self.means, other.means)
            and np.array_equal(self.actions, other.actions)
            and np.array_equal(self.rewards, other.rewards)
            and np.array_equal(self.seen, other.seen, equal_nan=True)
            and np.array_equal(self.predictions, other.predictions)
            and np.array_equal(self.task_regret, other.task_regret)
        )

    def __repr__(self) -> str:
        return f"<Trajectory of run {self.run}: {len(self)} rounds, {len(self.ranks)} agents>"
