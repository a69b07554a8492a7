"""Win-stay-lose-shift, compiled (`agents.win_stay_lose_shift`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobandit.agents.win_stay_lose_shift import WinStayLoseShift
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import uniform
from cobandit.engine.fast.world import World, own_arm


class StayOrShift(NamedTuple):
    """``notes`` has the last own arm (-1: none yet) and whether it won; ``seen`` sum and count of seen rewards."""

    seat: int
    stream: int
    slip: float
    notes: Ints
    seen: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the last arm, another one, or a slip."""
        arms = world.arms[self.seat]
        last = self.notes[0]
        if last < 0 or uniform(world.streams, self.stream) < self.slip:
            return np.int64(uniform(world.streams, self.stream) * arms)
        if self.notes[1] == 1 or arms == 1:
            return last
        return (last + 1 + np.int64(uniform(world.streams, self.stream) * (arms - 1))) % arms

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember the own arm and whether it was good."""
        self.notes[0] = own_arm(world, self.seat, played)
        if seen == seen:
            self.seen[0] += seen
            self.seen[1] += 1.0
            self.notes[1] = 1 if seen > 0.0 and seen * self.seen[1] >= self.seen[0] else 0


def win_stay_lose_shift(agent: WinStayLoseShift, seat: Seat) -> StayOrShift:
    """Return the compiled form."""
    return StayOrShift(seat.number, seat.stream, agent.slip, np.array([-1, 1], dtype=np.int64), np.zeros(2))
