"""Partner-Aware Thompson sampling, the direction the paper's Conclusion names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from cobandit.agents.base import TeamAction
from cobandit.agents.beliefs import Posterior, best
from cobandit.agents.foresight import Block
from cobandit.agents.partner_aware import PartnerAware
from cobandit.problem.means import Tensor


@dataclass
class PartnerAwareTS(PartnerAware, Posterior):
    """Roles, foresight and hierarchy of Partner-Aware UCB; posterior samples in place of the index."""

    name: ClassVar[str] = "partner-aware-ts"
    label: ClassVar[str] = "Partner-Aware Thompson Sampling"
    paper: ClassVar[str] = "Conclusion (Limitations and Future Work), after Alg. 1 and Alg. 2"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.partner_aware_ts:partner_aware_ts"
    electing: ClassVar[Any] = "cobandit.agents.elected_aware:elected_ts"

    def prefer(self, block: Block) -> TeamAction:
        """Return the team action with the best draw from the posteriors."""
        samples = self.sample(self._memory, self.briefing.binary, self.rng, block)
        return best(samples, self.ties, self.rng)

    def ratings(self) -> Tensor:
        """Return the posterior mean of every team action; choices are made by samples around it."""
        return self.expected(self._memory, self.briefing.binary)
