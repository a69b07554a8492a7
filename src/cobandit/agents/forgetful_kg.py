"""Knowledge gradient that forgets: a model of how people play (see `knowledge_gradient` and `softmax`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Briefing, TeamAction, option
from cobandit.agents.knowledge_gradient import KnowledgeGradient
from cobandit.base.checks import real


@dataclass
class ForgetfulKnowledgeGradient(KnowledgeGradient):
    """A knowledge gradient whose every count fades by a factor a round, as if the problem might have changed."""

    name: ClassVar[str] = "forgetful-knowledge-gradient"
    label: ClassVar[str] = "Forgetful Knowledge Gradient"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.forgetful_kg:forgetful_kg"

    recall: float = option(0.95, "share of what was seen that is left after a round", real(0.0, 1.0))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """An empty memory, of counts that need not be whole."""
        super().reset(briefing, rng)
        self._memory.counts = self._memory.counts.astype(np.float64)

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Forget a little, then remember the round."""
        np.multiply(self._memory.counts, self.recall, out=self._memory.counts)
        self._memory.sums *= self.recall
        super().observe(team_action, reward)
