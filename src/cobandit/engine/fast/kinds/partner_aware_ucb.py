"""Partner-Aware UCB, compiled (`agents.partner_aware_ucb`; Alg. 1 and 2)."""

from __future__ import annotations

from typing import Any

from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.engine.fast.kinds.ucb_search import quickest_ucb
from cobandit.engine.fast.players import Seat


def partner_aware_ucb(agent: PartnerAwareUCB, seat: Seat) -> Any:
    """The index over the block that foresight leaves."""
    return quickest_ucb(agent, seat)
