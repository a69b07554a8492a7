"""Partner-Aware UCB, compiled (`agents.partner_aware_ucb`; Alg. 1 and 2)."""

from __future__ import annotations

from typing import Any

from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.engine.fast.kinds.foresight import with_constant
from cobandit.engine.fast.kinds.heeding import by_role, heeding
from cobandit.engine.fast.kinds.ucb_search import quickest_ucb
from cobandit.engine.fast.players import Seat


def partner_aware_ucb(agent: PartnerAwareUCB, seat: Seat) -> Any:
    """Return the index over the block that foresight leaves."""
    if agent.follower_exploration is None and not agent.heed:
        return quickest_ucb(agent, seat)
    heeds = agent.heed and seat.briefing.rank == 0
    if seat.drawn_roles or (heeds and agent.index != "paper"):
        return by_role(agent, seat)
    plain = with_constant(agent, seat.briefing.rank)
    return heeding(agent, plain, seat) if heeds else quickest_ucb(plain, seat)
