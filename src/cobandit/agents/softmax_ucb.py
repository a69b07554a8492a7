"""Softmax over the index of UCB, with lapses: a model of how people explore (see `softmax` and `naive`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Briefing, option
from cobandit.agents.beliefs import CountingAgent, random_arm, upper_bounds
from cobandit.agents.recency_softmax import softmax_pick
from cobandit.base.checks import real
from cobandit.problem.means import Tensor


@dataclass
class SoftmaxUCB(CountingAgent):
    """Aims at a team action by softmax over the index of naive UCB, except for lapses.

    The index is that of the paper, mean + sqrt(2 c log T / n). Untried team actions have an infinite index, so the
    agent aims at one of them, each with the same probability. People do not explore that strictly; lapses leave a
    probability for every arm.
    """

    name: ClassVar[str] = "softmax-ucb"
    label: ClassVar[str] = "Softmax UCB"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.softmax_ucb:softmax_ucb"

    exploration: float = option(0.025, "exploration constant c of the index", real(0.0))
    temperature: float = option(0.1, "softmax temperature: near 0 always the best", real(1e-3, 1e3))
    lapse: float = option(0.1, "probability of a random arm instead", real(0.0, 1.0))

    def choose(self) -> int:
        """Return the own part of the team action aimed at, or a random arm."""
        if self.rng.random() < self.lapse:
            self._aim = None
            return random_arm(self.briefing.own_arms, self.rng)
        values = self.ratings().ravel().tolist()
        pick = softmax_pick(values, len(values), self.temperature, self.rng.random(), [0.0] * len(values))
        return self.part_of(tuple(int(arm) for arm in np.unravel_index(pick, self.briefing.arms)))

    def ratings(self) -> Tensor:
        """Return the index of every team action."""
        return upper_bounds(self._memory.counts, self._memory.sums, index_scale(self.exploration, self.briefing))


def index_scale(exploration: float, briefing: Briefing) -> float:
    """Return sqrt(2 c log T), which the index divides by sqrt(n)."""
    return math.sqrt(2.0 * exploration * math.log(briefing.horizon))
