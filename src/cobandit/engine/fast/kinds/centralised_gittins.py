"""Centralised Gittins, compiled (`agents.centralised_gittins`)."""

from __future__ import annotations

from cobandit.agents.centralised_gittins import CentralisedGittins
from cobandit.agents.steered import best_cell, take_in
from cobandit.agents.steering import NOBODY
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds.steered import SteeredPlayer, steering_of
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.world import World


class OneBrain(SteeredPlayer):
    """`SteeredPlayer` for the whole team, with no agent to steer."""

    joint = True

    def begin(self, world: World) -> None:
        """Do nothing: no agent has to be moved."""
        self.movers[0] = NOBODY

    def choose(self, world: World, t: int) -> Arm:
        """Return the cell of the highest index."""
        return best_cell(self, t)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember what anybody saw."""
        take_in(self, played, seen)


def centralised_gittins(agent: CentralisedGittins, seat: Seat) -> OneBrain:
    """Return the compiled form."""
    return OneBrain(seat.number, seat.stream, *steering_of(agent, seat))
