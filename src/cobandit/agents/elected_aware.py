"""Partner-aware agents that elect their leader (``roles="elected"``): the opening of `election`, then Alg. 1 and 2.

They are not in the registry: a team of partner-aware agents plays in this form where the roles are elected.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import Briefing, TeamAction
from cobandit.agents.election import (
    SWEEPS,
    Opening,
    is_opening,
    make_opening,
    opening_arm,
    opening_foresight,
    opening_learn,
)
from cobandit.agents.foresight import Window
from cobandit.agents.partner_aware import PartnerAware
from cobandit.agents.partner_aware_ts import PartnerAwareTS
from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.base.errors import InvalidInput
from cobandit.problem.problem import ranks_of


@dataclass
class ElectedAware(PartnerAware):
    """A partner-aware agent that ignores the ranks of the briefing: the agent that has seen most in the first rounds
    leads.

    Observations and arms of those rounds count. A leader that repeats its arms (L) keeps the last one of the opening
    until its next regular decision.
    """

    play: ClassVar[str] = "partner-aware"
    sweeps: ClassVar[int] = SWEEPS

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start without observations and without a leader."""
        super().reset(briefing, rng)
        self._opening = make_opening(self.sweeps, briefing, list)
        self._opened: list[TeamAction] = []

    @property
    def elected_ranks(self) -> tuple[int, ...]:
        """Each agent's rank by the votes; by the agents' numbers until they are in."""
        return ranks_of(list(self._opening.order))

    def choose(self) -> int:
        """Return the own arm of the opening; then that of Alg. 1 or 2."""
        me, seat, t = self._opening, self.briefing.agent, self.round
        if not is_opening(me, t):
            return super().choose()
        foreseen = {other: opening_foresight(me, other, t) for other in range(me.agents) if other != seat}
        self._predictions = {other: arm for other, arm in foreseen.items() if arm >= 0}
        self._arm = opening_arm(me, seat, t)
        return self._arm

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Store the round; after the last vote every agent has its rank."""
        super().observe(team_action, reward)
        if not is_opening(self._opening, self.round):
            return
        self._opened.append(team_action)
        played = int(np.ravel_multi_index(team_action, self.briefing.arms))
        if opening_learn(self._opening, self.round, played, math.nan if reward is None else reward):
            self.briefing = dataclasses.replace(self.briefing, ranks=self.elected_ranks)
            self._window = Window(self.briefing, self.window)
            for action in self._opened:
                self._window.record(action)
            self._opened = []

    def dump_memory(self) -> dict[str, Any]:
        """Return the learnt values and the state of the election as plain data."""
        return super().dump_memory() | {"_opening": self._opening._asdict()}

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Take that back."""
        super().load_memory(memory)
        self._opening = Opening(**memory["_opening"])


@dataclass
class ElectedAwareUCB(ElectedAware, PartnerAwareUCB):
    """Partner-Aware UCB with an elected leader."""

    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.elected_aware:elected_ucb"


@dataclass
class ElectedAwareTS(ElectedAware, PartnerAwareTS):
    """Partner-Aware Thompson sampling with an elected leader."""

    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.elected_aware:elected_ts"


def elected_ucb(agent: PartnerAwareUCB) -> ElectedAwareUCB:
    """Return what Partner-Aware UCB plays where its leader is elected."""
    if agent.heed:
        raise InvalidInput(
            "heed must be False where roles are elected, got True: the opening is no answer to a leader."
        )
    return ElectedAwareUCB(**agent.options)


def elected_ts(agent: PartnerAwareTS) -> ElectedAwareTS:
    """Return the form of Partner-Aware Thompson sampling for elected leaders."""
    return ElectedAwareTS(**agent.options)
