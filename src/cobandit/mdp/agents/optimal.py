"""The optimal agent: an oracle that is told Q*. Its team's regret is zero by definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import TeamAction
from cobandit.base.errors import AgentError
from cobandit.mdp.agents.base import MarkovAgent


@dataclass
class OptimalAgent(MarkovAgent):
    """Plays its own coordinate of the first best team action; the only agent that is told the values."""

    name: ClassVar[str] = "optimal"
    paper: ClassVar[str] = "Problem Setting: a_*, in every state and at every step"
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.optimal:optimal"
    oracle: ClassVar[bool] = True

    def reset(self, briefing: Any, rng: np.random.Generator) -> None:
        """Nothing but the values is needed."""
        super().reset(briefing, rng)
        if briefing.optimal is None:
            raise AgentError("The optimal agent was not told the values; only an engine can brief an oracle.")

    def choose(self, state: int, step: int) -> int:
        """The own coordinate of the best team action."""
        values = self.briefing.optimal
        assert values is not None
        return int(np.unravel_index(int(values[step, state].argmax()), self.briefing.arms)[self.briefing.agent])

    def observe(self, team_action: TeamAction, reward: float | None, state: int, step: int, next_state: int) -> None:
        """There is nothing left to learn."""
