"""The optimal agent, compiled (`mdp.agents.optimal`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.world import own_arm
from cobandit.mdp.fast.world import PLACE, MarkovWorld


class Oracle(NamedTuple):
    """Knows the best team action of every place."""

    seat: int
    stream: int

    def plan_episode(self, world: MarkovWorld, t: int) -> None:
        """Do nothing: an oracle does not plan."""

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the own coordinate."""
        return own_arm(world, self.seat, world.best[world.here[PLACE]])

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Do nothing: an oracle has nothing to learn."""


def optimal(agent: Any, seat: Seat) -> Oracle:
    """Return the compiled form."""
    return Oracle(seat.number, seat.stream)
