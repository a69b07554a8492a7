"""mDSEE, compiled (`agents.mdsee`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.mdsee import MDSEE
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.kinds.ucb import record
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import compiled
from cobandit.engine.fast.world import World, aim_at

PHASE, EXPLORED, COMMITMENT = range(3)


class Phases(NamedTuple):
    """``notes`` has the phase, how many rounds of it were sweeps, and the cell committed to (-1: none yet)."""

    seat: int
    stream: int
    random_ties: int
    sweeps: int
    counts: Ints
    sums: Floats
    notes: Ints

    def choose(self, world: World, t: int) -> Arm:
        """The scheduled own arm while sweeping, the private best's afterwards."""
        if self.notes[EXPLORED] < self.sweeps * self.notes[PHASE] * world.cells:
            return aim_at(world, self.seat, self.notes[EXPLORED] % world.cells)
        if self.notes[COMMITMENT] < 0:
            self.notes[COMMITMENT] = private_best(self, world)
        return aim_at(world, self.seat, self.notes[COMMITMENT])

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """A commitment that reaches a power of two starts a new phase."""
        record(self, played, seen)
        if self.notes[EXPLORED] < self.sweeps * self.notes[PHASE] * world.cells:
            self.notes[EXPLORED] += 1
        elif t & (t - 1) == 0:
            self.notes[PHASE] += 1
            self.notes[EXPLORED] = 0
            self.notes[COMMITMENT] = -1


@compiled
def private_best(me: Any, world: World) -> Any:
    """The cell of the best mean of the own seen rewards."""
    for cell in range(world.cells):
        world.values[cell] = me.sums[cell] / me.counts[cell] if me.counts[cell] > 0 else -math.inf
    return best_of(world.values, world.cells, me.random_ties, world.streams, me.stream)


def mdsee(agent: MDSEE, seat: Seat) -> Phases:
    """The compiled form."""
    notes = np.array([1, 0, -1], dtype=np.int64)
    ties = int(agent.ties == "random")
    return Phases(seat.number, seat.stream, ties, agent.sweeps, seat.zeros(np.int64), seat.zeros(), notes)
