"""Centralised UCBVI: one brain for all, the yardstick for what not talking costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import Briefing, TeamAction, option
from cobandit.agents.beliefs import best, random_arm
from cobandit.agents.centralised import fused
from cobandit.base.checks import one_of
from cobandit.mdp.agents.base import MarkovController
from cobandit.mdp.agents.memory import StateMemory
from cobandit.mdp.agents.optimism import OptimisticPlan, joint_max

EYES = ("all", "best")


def seen_by(eyes: str, rewards: Sequence[float | None], briefing: Briefing) -> float | None:
    """Return the observation of a joint controller: of all agents combined, or of the best observer only."""
    return fused(rewards, briefing) if eyes == "all" else rewards[briefing.best_observer]


@dataclass
class CentralisedMarkov(MarkovController):
    """The common part of controllers that remember the team's rewards and the moves after each team action."""

    def reset(self, briefing: Any, rng: np.random.Generator) -> None:
        """Start with an empty memory of team actions."""
        super().reset(briefing, rng)
        self._memory = StateMemory(briefing.states, int(np.prod(briefing.arms)))

    def observe(
        self: Any, team_action: TeamAction, rewards: tuple[float | None, ...], state: int, step: int, next_state: int
    ) -> None:
        """Remember the step."""
        cell = int(np.ravel_multi_index(team_action, self.briefing.arms))
        self._memory.record(state, cell, seen_by(self.eyes, rewards, self.briefing), next_state)


@dataclass
class CentralisedUCBVI(OptimisticPlan, CentralisedMarkov):
    """Single-agent UCBVI over team actions by one joint controller."""

    name: ClassVar[str] = "centralised-ucbvi"
    paper: ClassVar[str] = "Conclusion (future work): one brain, the yardstick for what not talking costs"
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.ucbvi:centralised_ucbvi"

    eyes: str = option("all", "whose eyes it has: " + ", ".join(EYES), one_of(EYES))

    def plan(self) -> None:
        """Plan for the team."""
        self._q = self.plan_values(self._memory, joint_max(self.briefing.ceiling, self.briefing.steps))

    def choose(self, state: int, step: int) -> TeamAction:
        """Return the team action with the best index."""
        if self.starts_at_random():
            return tuple(random_arm(arms, self.rng) for arms in self.briefing.arms)
        return best(self._q[step, state].reshape(self.briefing.arms), self.ties, self.rng)
