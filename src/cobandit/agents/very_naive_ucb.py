"""Very naive UCB: single-agent UCB on the own arms, blind to the partner (Additional Simulations)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction
from cobandit.agents.beliefs import Memory, UpperConfidence, best, random_arm
from cobandit.problem.means import Tensor


@dataclass
class VeryNaiveUCB(UpperConfidence, Agent):
    """Knows nothing of the others: counts, estimates and indices are over its own arms alone."""

    name: ClassVar[str] = "very-naive-ucb"
    label: ClassVar[str] = "Very Naive UCB"
    paper: ClassVar[str] = 'Additional Simulations, Fig. "very_naive"'
    needs_actions: ClassVar[bool] = False
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.very_naive_ucb:very_naive_ucb"

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory of the agent's own arms."""
        super().reset(briefing, rng)
        self._memory = Memory((briefing.own_arms,))

    def choose(self) -> int:
        """Return the own arm with the best index."""
        if self.index == "companion" and self.round == 1:
            return random_arm(self.briefing.own_arms, self.rng)
        return best(self.indices(self._memory, self.round, self.briefing.horizon), self.ties, self.rng)[0]

    def ratings(self) -> Tensor | None:
        """Return the index of the own arm in every team action: the others' arms make no difference to it."""
        own = self.indices_now(self._memory, self.round, self.briefing.horizon)
        if own is None:
            return None
        axis = self.briefing.agent
        shape = [1] * len(self.briefing.arms)
        shape[axis] = self.briefing.own_arms
        return np.broadcast_to(own.reshape(shape), self.briefing.arms).copy()

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the own arm and the reward."""
        self._memory.record(team_action[self.briefing.agent], reward)
