"""The optimal agent: an oracle that knows Q*. Its team's regret is zero by definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import TeamAction
from cobandit.base.errors import AgentError
from cobandit.mdp.agents.base import MarkovAgent


@dataclass
class OptimalAgent(MarkovAgent):
    """Plays its own coordinate of the first best team action; the only agent that knows the values."""

    name: ClassVar[str] = "optimal"
    paper: ClassVar[str] = "Problem Setting: a_*, in every state and at every step"
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.optimal:optimal"
    oracle: ClassVar[bool] = True

    def reset(self, briefing: Any, rng: np.random.Generator) -> None:
        """Check that the briefing contains the values."""
        super().reset(briefing, rng)
        if briefing.optimal is None:
            raise AgentError("The optimal agent does not know the values; only an engine can brief an oracle.")

    def choose(self, state: int, step: int) -> int:
        """Return the own coordinate of the best team action."""
        values = self.briefing.optimal
        assert values is not None
        return int(np.unravel_index(int(values[step, state].argmax()), self.briefing.arms)[self.briefing.agent])

    def observe(self, team_action: TeamAction, reward: float | None, state: int, step: int, next_state: int) -> None:
        """Do nothing: an oracle has nothing to learn."""
