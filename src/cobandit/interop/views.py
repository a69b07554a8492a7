"""What a learner is shown of the rounds so far, as numbers, for many copies of a game at once.

A bandit has no state, so an observation is what the learner itself could have written down: everybody's arms and the
rewards that it saw. Paper: Problem Setting.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import one_of
from cobandit.problem import Problem

Numbers = NDArray[np.float32]


class View(ABC):
    """Observations of one agent, for ``copies`` games that go on side by side."""

    name: ClassVar[str]

    def __init__(self, problem: Problem, horizon: int, copies: int = 1) -> None:
        self.arms, self.horizon, self.copies = problem.arms, horizon, copies
        self.reach = (0.0, 1.0) if problem.binary else (-math.inf, math.inf)
        self._first_arm = np.concatenate([[0], np.cumsum(problem.arms)[:-1]])
        self._rows = np.arange(copies)
        self.start()

    @abstractmethod
    def bounds(self) -> tuple[Numbers, Numbers]:
        """The least and the largest of each number."""

    @abstractmethod
    def start(self) -> None:
        """Forget everything."""

    @abstractmethod
    def add(self, arms: NDArray[np.int64], seen: NDArray[np.float64]) -> None:
        """One more round: everybody's arms (copies x agents), and what the agent saw (NaN: nothing, and it knows)."""

    @abstractmethod
    def numbers(self) -> Numbers:
        """The observations, copies x numbers; a new array every time."""


class RoundView(View):
    """The latest round: everybody's arm as ones and zeros, the seen reward, whether one was seen, t / T."""

    name = "round"

    def bounds(self) -> tuple[Numbers, Numbers]:
        """The least and the largest of each number."""
        low = np.zeros(sum(self.arms) + 3, dtype=np.float32)
        high = np.ones_like(low)
        low[-3], high[-3] = self.reach
        return low, high

    def start(self) -> None:
        """Forget everything."""
        self._latest = np.zeros((self.copies, sum(self.arms) + 3), dtype=np.float32)
        self._played = 0

    def add(self, arms: NDArray[np.int64], seen: NDArray[np.float64]) -> None:
        """One more round."""
        self._played += 1
        latest = self._latest
        latest[:, :-3] = 0.0
        for agent, first in enumerate(self._first_arm):
            latest[self._rows, first + arms[:, agent]] = 1.0
        known = seen == seen
        latest[:, -3] = np.where(known, seen, 0.0)
        latest[:, -2] = known
        latest[:, -1] = min(self._played / self.horizon, 1.0)

    def numbers(self) -> Numbers:
        """The observations."""
        return self._latest.copy()


class StatisticsView(RoundView):
    """Of every team action the share of rounds in which it was played and the mean of what was seen; then the round.

    Nothing else of the past bears on the means, so a learner without a memory can do with it. Cells that nobody tried
    have mean 0.5 where rewards are 0 or 1, and each mean is that of a Beta(1, 1) prior; else 0 and the plain mean.
    """

    name = "statistics"

    def bounds(self) -> tuple[Numbers, Numbers]:
        """The least and the largest of each number."""
        low, high = super().bounds()
        cells = math.prod(self.arms)
        ends = [np.full(cells, end, dtype=np.float32) for end in (0.0, 1.0, *self.reach)]
        return np.concatenate([ends[0], ends[2], low]), np.concatenate([ends[1], ends[3], high])

    def start(self) -> None:
        """Forget everything."""
        super().start()
        shape = self.copies, math.prod(self.arms)
        self._plays, self._looks, self._sums = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._prior = 1.0 if self.reach == (0.0, 1.0) else 0.0

    def add(self, arms: NDArray[np.int64], seen: NDArray[np.float64]) -> None:
        """One more round."""
        super().add(arms, seen)
        cell = np.ravel_multi_index(tuple(arms.T), self.arms)
        known = seen == seen
        self._plays[self._rows, cell] += 1.0
        self._looks[self._rows, cell] += known
        self._sums[self._rows, cell] += np.where(known, seen, 0.0)

    def numbers(self) -> Numbers:
        """The observations."""
        means = (self._sums + self._prior) / np.maximum(self._looks + 2.0 * self._prior, 1.0)
        shares = np.minimum(self._plays / self.horizon, 1.0)
        return np.concatenate([shares, means, self._latest], axis=1, dtype=np.float32)


ViewName = Literal["round", "statistics"]

VIEWS: dict[str, type[View]] = {view.name: view for view in (RoundView, StatisticsView)}


def make_view(name: str, problem: Problem, horizon: int, copies: int = 1) -> View:
    """A view by its name."""
    return VIEWS[one_of(tuple(VIEWS), "observation")("observation", name)](problem, horizon, copies)
