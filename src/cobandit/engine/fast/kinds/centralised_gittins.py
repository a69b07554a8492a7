"""Centralised Gittins, compiled (`agents.centralised_gittins`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.agents.centralised_gittins import CentralisedGittins
from cobandit.agents.steered import best_cell, make_steering, take_in
from cobandit.agents.steering import NOBODY
from cobandit.engine.fast.kinds.steered import SteeredPlayer
from cobandit.engine.fast.players import Seat, table


class OneBrain(SteeredPlayer):
    """`SteeredPlayer` for all, with nobody to steer."""

    joint = True

    def begin(self, world: Any) -> None:
        """Nobody has to be moved."""
        self.movers[0] = NOBODY

    def choose(self, world: Any, t: int) -> Any:
        """The cell of the highest index."""
        return best_cell(self, t)

    def learn(self, world: Any, t: int, played: int, seen: float) -> None:
        """Remember what anybody saw."""
        take_in(self, played, seen)


def centralised_gittins(agent: CentralisedGittins, seat: Seat) -> OneBrain:
    """The compiled form."""
    steering = make_steering(agent, seat.briefing, np.array)
    fixed = {name: table(getattr(steering, name)) for name in ("arms", "strides", "own")}
    return OneBrain(seat.number, seat.stream, *steering._replace(**fixed))
