"""Centralised UCB and Thompson: one brain for all, the yardstick for what not talking costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Briefing, Controller, TeamAction
from cobandit.agents.beliefs import Memory, Posterior, UpperConfidence, best, random_arm
from cobandit.problem.means import Tensor


def fused(rewards: Sequence[float | None], briefing: Briefing) -> float | None:
    """Combine the observations of all agents for a joint controller.

    Under *missed* observation this is the OR of the seen rewards; otherwise the observation of the best observer.
    """
    if briefing.observation == "missed":
        return next((reward for reward in rewards if reward != 0.0), 0.0)
    if briefing.observation == "missed-known":
        return next((reward for reward in rewards if reward is not None), None)
    return rewards[briefing.best_observer]


@dataclass
class Centralised(Controller):
    """The common part of controllers that remember the team's rewards for each team action."""

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory of team actions."""
        super().reset(briefing, rng)
        self._memory = Memory(briefing.arms)

    def observe(self, team_action: TeamAction, rewards: tuple[float | None, ...]) -> None:
        """Remember the round."""
        self._memory.record(team_action, fused(rewards, self.briefing))


@dataclass
class CentralisedUCB(UpperConfidence, Centralised):
    """Single-agent UCB over team actions by one joint controller."""

    name: ClassVar[str] = "centralised-ucb"
    label: ClassVar[str] = "Centralised UCB"
    paper: ClassVar[str] = "Fact 1: the single agent that a team with full sight reduces to"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.centralised:centralised_ucb"

    def choose(self) -> TeamAction:
        """Return the team action with the best index."""
        if self.index == "companion" and self.round == 1:
            return tuple(random_arm(arms, self.rng) for arms in self.briefing.arms)
        return best(self.indices(self._memory, self.round, self.briefing.horizon), self.ties, self.rng)

    def ratings(self) -> Tensor | None:
        """Return the index of every team action."""
        return self.indices_now(self._memory, self.round, self.briefing.horizon)


@dataclass
class CentralisedTS(Posterior, Centralised):
    """Single-agent Thompson sampling over team actions by one joint controller."""

    name: ClassVar[str] = "centralised-ts"
    label: ClassVar[str] = "Centralised Thompson Sampling"
    paper: ClassVar[str] = "Fact 1, with Thompson sampling for UCB"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.centralised:centralised_ts"

    def choose(self) -> TeamAction:
        """Return the team action of the best posterior sample."""
        return best(self.sample(self._memory, self.briefing.binary, self.rng), self.ties, self.rng)

    def ratings(self) -> Tensor:
        """Return the posterior mean of every team action; choices are made by samples around it."""
        return self.expected(self._memory, self.briefing.binary)
