"""Which compiled form of UCB over team actions is the quickest."""

from __future__ import annotations

from typing import Any

from cobandit.agents.beliefs import LINES
from cobandit.agents.partner_aware import PartnerAware
from cobandit.engine.fast.kinds.kinetic import kinetic
from cobandit.engine.fast.kinds.tournament import padded_cells, tournament
from cobandit.engine.fast.kinds.ucb import scanning
from cobandit.engine.fast.players import Seat

SMALL = 8
"""Up to this many team actions a scan is faster than a tournament."""

CHANGING = tuple(name for name in LINES if name != "paper")
"""Index variants that a kinetic tournament can keep: lines whose scale grows with every round."""

SMALL_AND_CHANGING = 32
"""The same where the indices change with every round."""

WASTE = 8
"""A tournament pads every agent's arms to a power of two; beyond this factor a scan is kept instead."""


def quickest_ucb(agent: Any, seat: Seat) -> Any:
    """Return a tournament where there are many team actions and the first of equals wins, else a scan."""
    if agent.ties == "first":
        if agent.index == "paper" and seat.cells > SMALL and padded_cells(seat.briefing.arms) <= WASTE * seat.cells:
            return tournament(agent, seat)
        foresees = isinstance(agent, PartnerAware)
        leads = seat.briefing.rank == 0 and not seat.drawn_roles
        if agent.index in CHANGING and seat.cells > SMALL_AND_CHANGING and (leads or not foresees):
            return kinetic(agent, seat)
    return scanning(agent, seat)
