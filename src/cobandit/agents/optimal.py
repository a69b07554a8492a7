"""The optimal agent: an oracle that knows mu. Its team's regret is zero by definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction
from cobandit.base.errors import AgentError


@dataclass
class Optimal(Agent):
    """Plays its own coordinate of a_*; the only agent that knows the means."""

    name: ClassVar[str] = "optimal"
    label: ClassVar[str] = "Optimal"
    paper: ClassVar[str] = "Problem Setting: a_*, the action regret is measured against"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.optimal:optimal"
    needs_actions: ClassVar[bool] = False
    oracle: ClassVar[bool] = True

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Check that the briefing contains the means."""
        super().reset(briefing, rng)
        if briefing.means is None:
            raise AgentError(
                "The optimal agent does not know the means; "
                f"a briefing with means=..., an array of shape {briefing.arms}, is needed."
            )

    def choose(self) -> int:
        """Return the agent's coordinate of a_*, computed again in every round because the means may have changed."""
        means = self.briefing.means
        assert means is not None
        return self.part_of(tuple(int(arm) for arm in np.unravel_index(int(means.argmax()), self.briefing.arms)))

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Do nothing: an oracle has nothing to learn."""
