"""Partner-Aware UCB, compiled (`agents.partner_aware_ucb`; Alg. 1 and 2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.engine.choice import NotCompiled
from cobandit.engine.fast.kinds.foresight import seat_exploration
from cobandit.engine.fast.kinds.heeding import heeding
from cobandit.engine.fast.kinds.ucb_search import quickest_ucb
from cobandit.engine.fast.players import Seat


def partner_aware_ucb(agent: PartnerAwareUCB, seat: Seat) -> Any:
    """Return the index over the block that foresight leaves."""
    if agent.follower_exploration is None and not agent.heed:
        return quickest_ucb(agent, seat)
    plain = replace(agent, exploration=seat_exploration(agent, seat), follower_exploration=None, heed=False)
    if not agent.heed:
        return quickest_ucb(plain, seat)
    if seat.drawn_roles or agent.index != "paper":
        raise NotCompiled("a heeding leader is compiled for the paper's index and roles that are not drawn")
    return quickest_ucb(plain, seat) if seat.briefing.rank > 0 else heeding(agent, plain, seat)
