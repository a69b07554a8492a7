"""Knowledge gradient that forgets: a model of how people play (see `knowledge_gradient` and `softmax`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Briefing, TeamAction, option
from cobandit.agents.knowledge_gradient import KnowledgeGradient
from cobandit.agents.recency_softmax import softmax_pick
from cobandit.base.checks import real


def _temperature(name: str, value: object) -> float:
    return 0.0 if value == 0 and not isinstance(value, bool) else float(real(1e-3, 1e3)(name, value))


@dataclass
class ForgetfulKnowledgeGradient(KnowledgeGradient):
    """A knowledge gradient whose every count fades by a factor a round, as if the problem might have changed.

    With a ``temperature``, it aims at a team action by softmax over its values, so that every arm has a probability.
    """

    name: ClassVar[str] = "forgetful-knowledge-gradient"
    label: ClassVar[str] = "Forgetful Knowledge Gradient"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.forgetful_kg:forgetful_kg"

    recall: float = option(0.95, "discount per round of past rewards", real(0.0, 1.0))
    temperature: float = option(0.0, "softmax noise of the choice; 0: the best", _temperature, described=False)

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory of real-valued counts."""
        super().reset(briefing, rng)
        self._memory.counts = self._memory.counts.astype(np.float64)

    def choose(self) -> int:
        """Return the own coordinate of the team action of the highest value, or of one drawn by softmax."""
        if self.temperature == 0.0:
            return super().choose()
        values = self.ratings().ravel().tolist()
        pick = softmax_pick(values, len(values), self.temperature, self.rng.random(), [0.0] * len(values))
        return self.part_of(tuple(int(arm) for arm in np.unravel_index(pick, self.briefing.arms)))

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Forget a little, then remember the round."""
        np.multiply(self._memory.counts, self.recall, out=self._memory.counts)
        self._memory.sums *= self.recall
        super().observe(team_action, reward)
