"""mUCB (arXiv 2109.03818): UCB over team actions by agents that never see their partners' arms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import INDICES, Memory, UpperConfidence, best
from cobandit.base.checks import one_of, real
from cobandit.problem.means import Tensor

AGREED_INDICES = tuple(name for name in INDICES if name != "companion")
"""Index variants without a random first arm."""


@dataclass
class MUCB(UpperConfidence, Agent):
    """UCB over all team actions that credits each reward to the team action it planned, not to the one played.

    If all agents see the same reward, they compute the same indices, break ties in the same order and plan the same
    team action, so that each of them knows the arms of the others without seeing them. If rewards differ, plans differ
    sooner or later, and rewards are credited to team actions that were not played. `NaiveUCB` is the same algorithm for
    observed actions.
    """

    name: ClassVar[str] = "mucb"
    label: ClassVar[str] = "mUCB"
    paper: ClassVar[str] = "later literature: arXiv 2109.03818"
    needs_each_round: ClassVar[bool] = True
    needs_actions: ClassVar[bool] = False
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.mucb:mucb"

    exploration: float = option(0.5, "exploration constant c of the index", real(0.0))
    index: str = option("paper", "index variant: " + ", ".join(AGREED_INDICES), one_of(AGREED_INDICES))
    ties: str = option("first", "which of equal indices wins: agents must agree, so first", one_of(("first",)))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory of team actions and no plan."""
        super().reset(briefing, rng)
        self._memory = Memory(briefing.arms)
        self._plan: TeamAction | None = None

    def choose(self) -> int:
        """Return the own coordinate of the team action with the best index, which becomes the plan."""
        self._plan = best(self.indices(self._memory, self.round, self.briefing.horizon), self.ties, self.rng)
        return self.part_of(self._plan)

    def ratings(self) -> Tensor:
        """Return the index of every team action."""
        return self.indices(self._memory, self.round, self.briefing.horizon)

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the reward of the plan, with the arm that the agent itself played."""
        if self._plan is None:
            self.choose()
        assert self._plan is not None
        self._memory.record(with_own_arm(self._plan, team_action, self.briefing.agent), reward)
        self._plan = None


def with_own_arm(planned: TeamAction, played: TeamAction, agent: int) -> TeamAction:
    """Return the planned team action with the arm that an agent itself played; a person may have overruled it."""
    return (*planned[:agent], played[agent], *planned[agent + 1 :])
