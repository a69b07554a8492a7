"""Softmax over a few remembered rounds: a simple model of how people play.

People in bandit tasks remember little, repeat what has just worked and sometimes explore without a reason. This,
`win_stay_lose_shift` and `epsilon_greedy` are the usual simple models of such behaviour. They are for rehearsals of
studies, and are not a substitute for people.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.base.checks import MOST, real, whole
from cobandit.problem.means import Tensor

UNKNOWN = 0.5
"""What a configuration is taken to be worth before it was ever seen."""


@dataclass
class Softmax(Agent):
    """Remembers the last few rounds, values each configuration by them and aims at one by softmax."""

    name: ClassVar[str] = "softmax"
    label: ClassVar[str] = "Softmax"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.softmax:softmax"

    temperature: float = option(0.1, "softmax temperature: near 0 always the best", real(1e-3, 1e3))
    memory: int = option(8, "number of remembered rounds", whole(1, MOST))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory."""
        super().reset(briefing, rng)
        self._past: deque[tuple[TeamAction, float]] = deque(maxlen=self.memory)

    def choose(self) -> int:
        """Return the own part of the configuration aimed at."""
        values = self.ratings().ravel() / self.temperature
        weights = np.cumsum(np.exp(values - values.max()))
        pick = int(np.searchsorted(weights, self.rng.random() * weights[-1], side="right"))
        cell = np.unravel_index(min(pick, len(weights) - 1), self.briefing.arms)
        return self.part_of(tuple(int(arm) for arm in cell))

    def ratings(self) -> Tensor:
        """Return the value of every configuration from the remembered rounds."""
        sums, counts = np.full(self.briefing.arms, UNKNOWN), np.ones(self.briefing.arms)
        for action, reward in self._past:
            sums[action] += reward
            counts[action] += 1.0
        return sums / counts

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round, if anything was seen."""
        if reward is not None:
            self._past.append((team_action, reward))
