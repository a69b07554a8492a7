"""What partner-aware UCB has in common where old rounds count less, or no longer: for means that drift.

The discounted and the sliding-window index are those of Garivier and Moulines (arXiv 0805.3415), instead of the
index of Alg. 1 and 2.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from cobandit.agents.base import TeamAction, option
from cobandit.agents.beliefs import TIES, best, upper_bounds
from cobandit.agents.foresight import Block
from cobandit.agents.partner_aware import PartnerAware, follower_option, role_exploration
from cobandit.base.checks import one_of, real
from cobandit.problem.means import Tensor


@dataclass
class ForgettingUCB(PartnerAware):
    """Foresight as in Alg. 1 and 2, and the index mean + sqrt(2 c log x / n) over the rounds that still count."""

    exploration: float = option(0.025, "exploration constant c of the index", real(0.0))
    ties: str = option("first", "which of equal indices wins: " + ", ".join(TIES), one_of(TIES, "tie rule"))
    follower_exploration: float | None = follower_option()

    @property
    def constant(self) -> float:
        """The exploration constant of the agent's role."""
        return role_exploration(self, self.briefing.rank)

    @abstractmethod
    def scale(self) -> float:
        """sqrt(2 c log x) in this round."""

    def prefer(self, block: Block) -> TeamAction:
        """Return the team action with the highest index."""
        indices = upper_bounds(self._memory.counts[block], self._memory.sums[block], self.scale())
        return best(indices, self.ties, self.rng)

    def ratings(self) -> Tensor | None:
        """Return the index of every team action."""
        return upper_bounds(self._memory.counts, self._memory.sums, self.scale())
