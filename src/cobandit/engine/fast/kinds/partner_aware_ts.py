"""Partner-Aware Thompson sampling, compiled (`agents.partner_aware_ts`)."""

from __future__ import annotations

from typing import Any

from cobandit.agents.partner_aware_ts import PartnerAwareTS
from cobandit.engine.fast.kinds.thompson import thompson
from cobandit.engine.fast.players import Seat


def partner_aware_ts(agent: PartnerAwareTS, seat: Seat) -> Any:
    """Posterior draws over the block that foresight leaves."""
    return thompson(agent, seat)
