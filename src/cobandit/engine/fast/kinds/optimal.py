"""The optimal agent, compiled (`agents.optimal`)."""

from __future__ import annotations

from typing import NamedTuple

from cobandit.agents.optimal import Optimal
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.world import World, aim_at


class Oracle(NamedTuple):
    """Knows a_*."""

    seat: int
    stream: int

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of a_*."""
        return aim_at(world, self.seat, world.best[0])

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Do nothing: an oracle has nothing to learn."""


def optimal(agent: Optimal, seat: Seat) -> Oracle:
    """Return the compiled form."""
    return Oracle(seat.number, seat.stream)
