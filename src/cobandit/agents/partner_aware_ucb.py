"""Partner-Aware UCB: follower (Alg. 1), leader (Alg. 2), N agents (Generalization to More Agents)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import Briefing, TeamAction, option
from cobandit.agents.beliefs import UpperConfidence, best
from cobandit.agents.foresight import Block
from cobandit.agents.heeding import Refusals, follower_threshold
from cobandit.agents.partner_aware import PartnerAware, follower_option, role_exploration
from cobandit.base.records import flag
from cobandit.problem.means import Tensor


@dataclass
class PartnerAwareUCB(PartnerAware, UpperConfidence):
    """Predicts every higher-ranked agent, then plays its part of the best remaining index.

    The leader (rank 0) predicts no one and re-decides every ``repeat`` (L) rounds; every other agent
    samples each higher-ranked agent's last ``window`` (W) arms, fixes those coordinates and maximises the index over
    its own and all lower-ranked coordinates.

    ``follower_exploration`` gives followers another exploration constant than the leader. With ``heed`` the leader no
    longer waits for team actions that its partners decline (Theorems A and B of docs/discussion/theorem-1.md).
    """

    name: ClassVar[str] = "partner-aware-ucb"
    label: ClassVar[str] = "Partner-Aware UCB"
    paper: ClassVar[str] = "Alg. 1, Alg. 2; N agents: Generalization to More Agents"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.partner_aware_ucb:partner_aware_ucb"
    electing: ClassVar[Any] = "cobandit.agents.elected_aware:elected_ucb"

    follower_exploration: float | None = follower_option()
    heed: bool = option(False, "whether the leader gives up what partners decline (c > 0.5)", flag, described=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heed:
            self.refusal_threshold()

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Alg. 1 and 2, line "Initialize"; nothing was declined yet."""
        super().reset(briefing, rng)
        if self.heed:
            self._refusals = Refusals.empty(briefing, self.window)

    @property
    def constant(self) -> float:
        """The exploration constant of the agent's role."""
        return self.exploration if self.follower_exploration is None else role_exploration(self, self.briefing.rank)

    def refusal_threshold(self) -> float:
        """Return theta of Theorem B, or raise an error for exploration constants without one."""
        return follower_threshold(self)

    def prefer(self, block: Block) -> TeamAction:
        """Return the best f_a(t, delta); a heeding leader skips team actions that partners have declined."""
        indices = self.indices(self._memory, self.round, self.briefing.horizon, block)
        if self.heed and self.briefing.rank == 0:
            indices[self._refusals.declined(self.refusal_threshold())] = -np.inf
        return best(indices, self.ties, self.rng)

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Alg. 1, lines 8-11; Alg. 2, lines 10-12; a heeding leader also notes the answer to its arm."""
        super().observe(team_action, reward)
        if self.heed:
            self._refusals.record(team_action)

    def ratings(self) -> Tensor | None:
        """Return the index of every team action."""
        return self.indices_now(self._memory, self.round, self.briefing.horizon)

    def starts_at_random(self) -> bool:
        """Return the companion code draws the first arm."""
        return self.index == "companion" and self.round == 1
