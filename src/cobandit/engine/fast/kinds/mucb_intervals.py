"""mUCB-Intervals, compiled (`agents.mucb_intervals`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.mucb_intervals import MUCBIntervals
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.ucb import record
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import compiled
from cobandit.engine.fast.world import World, aim_at, root


class Intervals(NamedTuple):
    """``schedule[0]`` is the scheduled cell, ``schedule[1]`` how many cells are active."""

    seat: int
    stream: int
    scale: float
    counts: Ints
    sums: Floats
    active: Ints
    schedule: Ints

    def choose(self, world: World, t: int) -> Arm:
        """Return the scheduled own arm, or the next one as the sign that the cell should go."""
        arm = aim_at(world, self.seat, self.schedule[0])
        if is_beaten(self, world):
            world.aim[self.seat] = -1
            return (arm + 1) % world.arms[self.seat]
        return arm

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Drop the scheduled cell if anybody deviated; move on to the next active one."""
        record(self, played, seen)
        scheduled = self.schedule[0]
        if played != scheduled and self.schedule[1] > 1:
            self.active[scheduled] = 0
            self.schedule[1] -= 1
        scheduled = (scheduled + 1) % world.cells
        while self.active[scheduled] == 0:
            scheduled = (scheduled + 1) % world.cells
        self.schedule[0] = scheduled


@compiled
def is_beaten(me: Any, world: World) -> bool:
    """Return whether the scheduled cell's interval lies wholly below that of another active cell."""
    scheduled = me.schedule[0]
    n = me.counts[scheduled]
    if n == 0:
        return False
    upper = me.sums[scheduled] / n + me.scale * root(world, n)
    for cell in range(world.cells):
        m = me.counts[cell]
        if me.active[cell] == 1 and m > 0 and upper < me.sums[cell] / m - me.scale * root(world, m):
            return True
    return False


def mucb_intervals(agent: MUCBIntervals, seat: Seat) -> Intervals:
    """Return the compiled form."""
    return Intervals(
        seat.number,
        seat.stream,
        math.sqrt(2.0 * agent.exploration * math.log(seat.briefing.horizon)),
        seat.zeros(np.int64),
        seat.zeros(),
        np.ones(seat.cells, dtype=np.int64),
        np.array([0, seat.cells], dtype=np.int64),
    )
