"""The optimal agent, compiled (`mdp.agents.optimal`)."""

from __future__ import annotations

from typing import Any, NamedTuple

from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.world import own_arm
from cobandit.mdp.fast.world import PLACE


class Oracle(NamedTuple):
    """Knows the best team action of every place."""

    seat: Any
    stream: Any

    def plan_episode(self, world: Any, t: int) -> None:
        """There is nothing to plan."""

    def choose(self, world: Any, t: int) -> Any:
        """The own coordinate."""
        return own_arm(world, self.seat, world.best[world.here[PLACE]])

    def learn(self, world: Any, t: int, played: int, seen: float) -> None:
        """There is nothing to learn."""


def optimal(agent: Any, seat: Seat) -> Oracle:
    """The compiled form."""
    return Oracle(seat.number, seat.stream)
