"""The optimal agent: an oracle that is told mu. Its team's regret is zero by definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction
from cobandit.base.errors import AgentError


@dataclass
class Optimal(Agent):
    """Plays its own coordinate of a_*; the only agent that is told the means."""

    name: ClassVar[str] = "optimal"
    label: ClassVar[str] = "Optimal"
    paper: ClassVar[str] = "Problem Setting: a_*, the action regret is measured against"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.optimal:optimal"
    oracle: ClassVar[bool] = True

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Nothing but the means is needed."""
        super().reset(briefing, rng)
        if briefing.means is None:
            raise AgentError(
                "The optimal agent was not told the means; "
                f"a briefing with means=..., an array of shape {briefing.arms}, is needed."
            )

    def choose(self) -> int:
        """The own coordinate of a_*, looked up anew since the means may have changed."""
        means = self.briefing.means
        assert means is not None
        return self.part_of(tuple(int(arm) for arm in np.unravel_index(int(means.argmax()), self.briefing.arms)))

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """There is nothing left to learn."""
