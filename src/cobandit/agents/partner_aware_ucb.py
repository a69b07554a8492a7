"""Partner-Aware UCB: follower (Alg. 1), leader (Alg. 2), N agents (Generalization to More Agents)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cobandit.agents.base import TeamAction
from cobandit.agents.beliefs import UpperConfidence, best
from cobandit.agents.foresight import Block
from cobandit.agents.partner_aware import PartnerAware
from cobandit.problem.means import Tensor


@dataclass
class PartnerAwareUCB(PartnerAware, UpperConfidence):
    """Foresees every higher-ranked agent, then plays its part of the best index that is left.

    The leader (rank 0) foresees nobody and re-decides every ``repeat`` (L) rounds; every other agent
    samples each higher-ranked agent's last ``window`` (W) arms, fixes those coordinates and maximises the index over
    its own and all lower-ranked coordinates.
    """

    name: ClassVar[str] = "partner-aware-ucb"
    label: ClassVar[str] = "Partner-Aware UCB"
    paper: ClassVar[str] = "Alg. 1, Alg. 2; N agents: Generalization to More Agents"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.partner_aware_ucb:partner_aware_ucb"
    electing: ClassVar[Any] = "cobandit.agents.elected_aware:elected_ucb"

    def prefer(self, block: Block) -> TeamAction:
        """By the upper confidence bound f_a(t, delta)."""
        indices = self.indices(self._memory, self.round, self.briefing.horizon, block)
        return best(indices, self.ties, self.rng)

    def ratings(self) -> Tensor | None:
        """The index of every team action."""
        return self.indices_now(self._memory, self.round, self.briefing.horizon)

    def starts_at_random(self) -> bool:
        """The companion code draws the first arm."""
        return self.index == "companion" and self.round == 1
