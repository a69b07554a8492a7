"""Softmax over values that follow the latest rewards: a simple model of how people play (see `softmax`).

Values move towards each reward by a share of the difference (the delta rule of Rescorla and Wagner), so that old rounds
fade. A person may value whole configurations, or see no further than the own arms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.softmax import UNKNOWN
from cobandit.base.checks import one_of, real

SCOPES = ("team-actions", "own-arms")


def softmax_pick(values: Any, count: int, temperature: float, draw: float, weights: Any) -> int:
    """Return one of the first ``count`` values by softmax, for a uniform draw; ``weights`` is a scratch array.

    Infinite values take all of the probability, in equal shares.
    """
    top = values[0]
    for k in range(1, count):
        top = values[k] if values[k] > top else top
    total = 0.0
    for k in range(count):
        total += math.exp((values[k] - top) / temperature) if values[k] < top else 1.0
        weights[k] = total
    aim = draw * total
    for k in range(count - 1):
        if weights[k] > aim:
            return k
    return count - 1


@dataclass
class RecencySoftmax(Agent):
    """Values each configuration, or each own arm, by its recent rewards, and aims at one by softmax."""

    name: ClassVar[str] = "recency-softmax"
    label: ClassVar[str] = "Recency Softmax"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.recency_softmax:recency_softmax"

    rate: float = option(0.3, "learning rate of a value towards each reward", real(0.0, 1.0))
    temperature: float = option(0.15, "softmax temperature: near 0 always the best", real(1e-3, 1e3))
    values: str = option("team-actions", "what is valued: " + ", ".join(SCOPES), one_of(SCOPES, "kind of values"))

    @property
    def needs_actions(self) -> bool:  # type: ignore[override]  # it depends on an option
        """Whether it values team actions, which needs the partners' arms."""
        return self.values == "team-actions"

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with equal values."""
        super().reset(briefing, rng)
        own = self.values == "own-arms"
        self._worth = [UNKNOWN] * (briefing.own_arms if own else math.prod(briefing.arms))

    def choose(self) -> int:
        """Return the own part of what is aimed at."""
        pick = softmax_pick(
            self._worth, len(self._worth), self.temperature, self.rng.random(), [0.0] * len(self._worth)
        )
        if self.values == "own-arms":
            return pick
        return self.part_of(tuple(int(arm) for arm in np.unravel_index(pick, self.briefing.arms)))

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Move the value of what was played, if anything was seen."""
        if reward is not None:
            own = team_action[self.briefing.agent]
            at = own if self.values == "own-arms" else int(np.ravel_multi_index(team_action, self.briefing.arms))
            self._worth[at] += self.rate * (reward - self._worth[at])
