"""Epsilon-greedy over team actions: a simple model of how people play (see `softmax`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cobandit.agents.base import option
from cobandit.agents.beliefs import CountingAgent, best, random_arm
from cobandit.base.checks import real
from cobandit.problem.means import Tensor

UNKNOWN = 0.5
"""What a configuration is taken to be worth before it was ever seen."""


@dataclass
class EpsilonGreedy(CountingAgent):
    """Aims at the configuration with the best mean so far, except in a share of random rounds."""

    name: ClassVar[str] = "epsilon-greedy"
    label: ClassVar[str] = "Epsilon-Greedy"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.epsilon_greedy:epsilon_greedy"

    epsilon: float = option(0.15, "probability of a random arm instead", real(0.0, 1.0))

    def choose(self) -> int:
        """Return the own part of the best configuration, equals by a draw."""
        if self.rng.random() < self.epsilon:
            self._aim = None
            return random_arm(self.briefing.own_arms, self.rng)
        return self.part_of(best(self.ratings(), "random", self.rng))

    def ratings(self) -> Tensor:
        """Return the mean of every configuration so far."""
        return (self._memory.sums + UNKNOWN) / (self._memory.counts + 1.0)
