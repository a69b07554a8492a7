"""Naive UCBVI: each agent plans for the whole team alone; very naive UCBVI: each plans for its own arms alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import TeamAction
from cobandit.agents.beliefs import best, random_arm
from cobandit.mdp.agents.base import MarkovAgent
from cobandit.mdp.agents.memory import CountingMarkovAgent, StateMemory
from cobandit.mdp.agents.optimism import OptimisticPlan, joint_max


@dataclass
class NaiveUCBVI(OptimisticPlan, CountingMarkovAgent):
    """UCBVI over all team actions, as if the others would comply; plays its own coordinate of the best."""

    name: ClassVar[str] = "naive-ucbvi"
    paper: ClassVar[str] = 'Conclusion (future work), after "naive UCB" of Effect of Partner-Awareness'
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.ucbvi:ucbvi"

    def plan(self) -> None:
        """Plan for the team."""
        self._q = self.plan_values(self._memory, joint_max(self.briefing.ceiling, self.briefing.steps))

    def choose(self, state: int, step: int) -> int:
        """Return the own coordinate of the team action with the best index."""
        if self.starts_at_random():
            return random_arm(self.briefing.own_arms, self.rng)
        indices = self._q[step, state].reshape(self.briefing.arms)
        return best(indices, self.ties, self.rng)[self.briefing.agent]


@dataclass
class VeryNaiveUCBVI(OptimisticPlan, MarkovAgent):
    """Knows nothing of the others: rewards, moves and plan are over states and its own arms alone."""

    name: ClassVar[str] = "very-naive-ucbvi"
    paper: ClassVar[str] = 'Conclusion (future work), after "very naive" of Additional Simulations'
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.very_naive:very_naive"

    def reset(self, briefing: Any, rng: np.random.Generator) -> None:
        """Start with an empty memory of the agent's own arms."""
        super().reset(briefing, rng)
        self._memory = StateMemory(briefing.states, briefing.own_arms)

    def plan(self) -> None:
        """Plan for the own arms."""
        self._q = self.plan_values(self._memory, joint_max(self.briefing.ceiling, self.briefing.steps))

    def choose(self, state: int, step: int) -> int:
        """Return the own arm with the best index."""
        if self.starts_at_random():
            return random_arm(self.briefing.own_arms, self.rng)
        return best(self._q[step, state], self.ties, self.rng)[0]

    def observe(self, team_action: TeamAction, reward: float | None, state: int, step: int, next_state: int) -> None:
        """Remember the own arm, the reward and the move."""
        self._memory.record(state, team_action[self.briefing.agent], reward, next_state)
