"""Naive UCB and naive Thompson: each agent solves the whole joint problem alone (Effect of Partner-Awareness)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cobandit.agents.beliefs import CountingAgent, Posterior, UpperConfidence, best, random_arm
from cobandit.problem.means import Tensor


@dataclass
class NaiveUCB(UpperConfidence, CountingAgent):
    """UCB over all team actions, as if the others would comply; plays its own coordinate of the best."""

    name: ClassVar[str] = "naive-ucb"
    label: ClassVar[str] = "Naive UCB"
    paper: ClassVar[str] = 'Effect of Partner-Awareness, Fig. "sim1"; with p_i = 1 for all: Fact 1'
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.naive:naive_ucb"

    def choose(self) -> int:
        """Return the own coordinate of the team action with the best index."""
        if self.index == "companion" and self.round == 1:
            return random_arm(self.briefing.own_arms, self.rng)
        indices = self.indices(self._memory, self.round, self.briefing.horizon)
        return self.part_of(best(indices, self.ties, self.rng))

    def ratings(self) -> Tensor | None:
        """Return the index of every team action."""
        return self.indices_now(self._memory, self.round, self.briefing.horizon)


@dataclass
class NaiveTS(Posterior, CountingAgent):
    """Thompson sampling over all team actions, as if the others would comply."""

    name: ClassVar[str] = "naive-ts"
    label: ClassVar[str] = "Naive Thompson Sampling"
    paper: ClassVar[str] = 'Effect of Partner-Awareness, Fig. "sim1"'
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.naive:naive_ts"

    def choose(self) -> int:
        """Return the own coordinate of the best posterior sample."""
        samples = self.sample(self._memory, self.briefing.binary, self.rng)
        return self.part_of(best(samples, self.ties, self.rng))

    def ratings(self) -> Tensor:
        """Return the posterior mean of every team action; choices are made by samples around it."""
        return self.expected(self._memory, self.briefing.binary)
