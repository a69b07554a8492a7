"""Partner-Aware UCB that discounts the past, for means that drift (Alg. 1 and 2 with the index of arXiv 0805.3415)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Briefing, TeamAction, option
from cobandit.agents.forgetting_ucb import ForgettingUCB
from cobandit.base.checks import real


@dataclass
class PartnerAwareDiscountedUCB(ForgettingUCB):
    """Partner-Aware UCB by counts and sums that fade by the factor ``recall`` (gamma) with every round.

    x of the index is the sum of all faded counts, at least 1.
    """

    name: ClassVar[str] = "partner-aware-discounted-ucb"
    label: ClassVar[str] = "Partner-Aware Discounted UCB"
    paper: ClassVar[str] = "beyond the paper: Alg. 1 and 2 with the discounted index of arXiv 0805.3415"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.partner_aware_discounted_ucb:partner_aware_discounted_ucb"

    recall: float = option(0.99, "discount per round of past rewards", real(0.0, 1.0))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory of real-valued counts."""
        super().reset(briefing, rng)
        self._memory.counts = self._memory.counts.astype(np.float64)
        self._seen = 0.0

    def scale(self) -> float:
        """Return the scale, from the discounted number of all observations."""
        return math.sqrt(2.0 * self.constant * math.log(max(self._seen, 1.0)))

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Forget a little, then remember the round."""
        np.multiply(self._memory.counts, self.recall, out=self._memory.counts)
        self._memory.sums *= self.recall
        self._seen *= self.recall
        if reward is not None:
            self._seen += 1.0
        super().observe(team_action, reward)
