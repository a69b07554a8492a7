"""Partner-Aware UCB over the latest rounds, for means that drift (Alg. 1 and 2 with the index of arXiv 0805.3415)."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Briefing, TeamAction, option
from cobandit.agents.forgetting_ucb import ForgettingUCB
from cobandit.base.checks import MOST, whole


@dataclass
class PartnerAwareSlidingUCB(ForgettingUCB):
    """Partner-Aware UCB by the latest ``memory`` (tau) rounds alone; x of the index is min(t, tau).

    A team action that was not played in any of them counts as never tried.
    """

    name: ClassVar[str] = "partner-aware-sliding-ucb"
    label: ClassVar[str] = "Partner-Aware Sliding-Window UCB"
    paper: ClassVar[str] = "beyond the paper: Alg. 1 and 2 with the sliding-window index of arXiv 0805.3415"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.partner_aware_sliding_ucb:partner_aware_sliding_ucb"

    memory: int = option(200, "number of remembered rounds", whole(1, MOST))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with an empty memory."""
        super().reset(briefing, rng)
        self._past: deque[tuple[TeamAction, float | None]] = deque()

    def scale(self) -> float:
        """Return the scale, from the number of rounds in the window."""
        return math.sqrt(2.0 * self.constant * math.log(min(self.round, self.memory)))

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Forget the oldest round, if the memory is full, then remember this one."""
        counts, sums = self._memory.counts, self._memory.sums
        if len(self._past) == self.memory:
            cell, old = self._past.popleft()
            if old is not None:
                counts[cell] -= 1
                sums[cell] = sums[cell] - old if counts[cell] else 0.0
        self._past.append((team_action, reward))
        super().observe(team_action, reward)
