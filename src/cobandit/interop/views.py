"""Observations of a learner as numbers, for many parallel copies of a game.

A bandit has no state, so an observation contains what the learner itself could have recorded: the arms of all agents,
or its own ones if the problem hides the others, and the rewards that it saw. Paper: Problem Setting.
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
    """Observations of one agent, for ``copies`` parallel games; ``observed`` are the agents whose arms it observes."""

    name: ClassVar[str]

    def __init__(self, problem: Problem, horizon: int, agent: int, copies: int = 1) -> None:
        self.arms, self.horizon, self.copies = problem.arms, horizon, copies
        self.observed = (agent,) if problem.hides_actions else tuple(range(problem.agents))
        self.reach = (0.0, 1.0) if problem.binary else (-math.inf, math.inf)
        self._first_arm = np.concatenate([[0], np.cumsum(problem.arms)[:-1]])
        self._rows = np.arange(copies)
        self.start()

    @abstractmethod
    def bounds(self) -> tuple[Numbers, Numbers]:
        """Return the least and the largest of each number."""

    @abstractmethod
    def start(self) -> None:
        """Forget everything."""

    @abstractmethod
    def add(self, arms: NDArray[np.int64], seen: NDArray[np.float64]) -> None:
        """Add one round: the arms of all agents (copies x agents), and the agent's observation (NaN: it knows it saw
        nothing).
        """

    @abstractmethod
    def numbers(self) -> Numbers:
        """Return the observations, copies x numbers; a new array every time."""


class RoundView(View):
    """The latest round: the arms of all agents one-hot, the seen reward, whether one was seen, t / T.

    The numbers of hidden arms are all 0.
    """

    name = "round"

    def bounds(self) -> tuple[Numbers, Numbers]:
        """Return the least and the largest of each number."""
        low = np.zeros(sum(self.arms) + 3, dtype=np.float32)
        high = np.ones_like(low)
        low[-3], high[-3] = self.reach
        return low, high

    def start(self) -> None:
        """Forget everything."""
        self._latest = np.zeros((self.copies, sum(self.arms) + 3), dtype=np.float32)
        self._played = 0

    def add(self, arms: NDArray[np.int64], seen: NDArray[np.float64]) -> None:
        """Add one round."""
        self._played += 1
        latest = self._latest
        latest[:, :-3] = 0.0
        for agent in self.observed:
            latest[self._rows, self._first_arm[agent] + arms[:, agent]] = 1.0
        known = seen == seen
        latest[:, -3] = np.where(known, seen, 0.0)
        latest[:, -2] = known
        latest[:, -1] = min(self._played / self.horizon, 1.0)

    def numbers(self) -> Numbers:
        """Return the observations."""
        return self._latest.copy()


class StatisticsView(RoundView):
    """The share of rounds and the mean seen reward of every team action; then the latest round.

    If actions are hidden, those of every own arm replace those of team actions.

    The means depend on nothing else of the past, so a learner without a memory can use it. Untried cells have mean 0.5
    if rewards are 0 or 1, and each mean is that of a Beta(1, 1) prior; otherwise 0 and the plain mean.
    """

    name = "statistics"

    def bounds(self) -> tuple[Numbers, Numbers]:
        """Return the least and the largest of each number."""
        low, high = super().bounds()
        cells = math.prod(self._sizes())
        ends = [np.full(cells, end, dtype=np.float32) for end in (0.0, 1.0, *self.reach)]
        return np.concatenate([ends[0], ends[2], low]), np.concatenate([ends[1], ends[3], high])

    def start(self) -> None:
        """Forget everything."""
        super().start()
        shape = self.copies, math.prod(self._sizes())
        self._plays, self._looks, self._sums = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._prior = 1.0 if self.reach == (0.0, 1.0) else 0.0

    def add(self, arms: NDArray[np.int64], seen: NDArray[np.float64]) -> None:
        """Add one round."""
        super().add(arms, seen)
        cell = np.ravel_multi_index(tuple(arms[:, list(self.observed)].T), self._sizes())
        known = seen == seen
        self._plays[self._rows, cell] += 1.0
        self._looks[self._rows, cell] += known
        self._sums[self._rows, cell] += np.where(known, seen, 0.0)

    def numbers(self) -> Numbers:
        """Return the observations."""
        means = (self._sums + self._prior) / np.maximum(self._looks + 2.0 * self._prior, 1.0)
        shares = np.minimum(self._plays / self.horizon, 1.0)
        return np.concatenate([shares, means, self._latest], axis=1, dtype=np.float32)

    def _sizes(self) -> tuple[int, ...]:
        """Return the number of arms of every agent whose arms are observed."""
        return tuple(self.arms[agent] for agent in self.observed)


ViewName = Literal["round", "statistics"]

VIEWS: dict[str, type[View]] = {view.name: view for view in (RoundView, StatisticsView)}


def make_view(name: str, problem: Problem, horizon: int, agent: int, copies: int = 1) -> View:
    """Return an agent's view by its name."""
    return VIEWS[one_of(tuple(VIEWS), "observation")("observation", name)](problem, horizon, agent, copies)
