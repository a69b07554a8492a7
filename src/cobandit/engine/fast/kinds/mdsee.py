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
from cobandit.engine.fast.random import compiled, inlined
from cobandit.engine.fast.world import World, aim_at

PHASE, EXPLORED, COMMITMENT = range(3)


class Phases(NamedTuple):
    """``notes`` has the phase, how many rounds of it were sweeps, and the cell committed to (-1: none yet).

    With ``hidden`` actions, sweeps count as scheduled, commitments not at all.
    """

    seat: int
    stream: int
    random_ties: int
    sweeps: int
    hidden: int
    counts: Ints
    sums: Floats
    notes: Ints

    def choose(self, world: World, t: int) -> Arm:
        """Return the scheduled own arm while sweeping, the private best's afterwards."""
        return phase_arm(self, world)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Start a new phase when the commitment reaches a power of two."""
        explored = self.notes[EXPLORED]
        if self.hidden == 0:
            record(self, played, seen)
        elif explored < self.sweeps * self.notes[PHASE] * world.cells:
            record(self, explored % world.cells, seen)
        end_round(self, world, t)


@inlined
def phase_arm(me: Any, world: World) -> Any:
    """Return the scheduled own arm while sweeping, the private best's afterwards."""
    if me.notes[EXPLORED] < me.sweeps * me.notes[PHASE] * world.cells:
        return aim_at(world, me.seat, me.notes[EXPLORED] % world.cells)
    if me.notes[COMMITMENT] < 0:
        me.notes[COMMITMENT] = private_best(me, world)
    return aim_at(world, me.seat, me.notes[COMMITMENT])


@inlined
def end_round(me: Any, world: World, t: int) -> None:
    """Count a round of a sweep; start a new phase when the commitment reaches a power of two."""
    if me.notes[EXPLORED] < me.sweeps * me.notes[PHASE] * world.cells:
        me.notes[EXPLORED] += 1
    elif t & (t - 1) == 0:
        me.notes[PHASE] += 1
        me.notes[EXPLORED] = 0
        me.notes[COMMITMENT] = -1


@compiled
def private_best(me: Any, world: World) -> Any:
    """Return the cell of the best mean of the own seen rewards."""
    for cell in range(world.cells):
        world.values[cell] = me.sums[cell] / me.counts[cell] if me.counts[cell] > 0 else -math.inf
    return best_of(world.values, world.cells, me.random_ties, world.streams, me.stream)


def mdsee(agent: MDSEE, seat: Seat) -> Phases:
    """Return the compiled form."""
    notes = np.array([1, 0, -1], dtype=np.int64)
    ties, hidden = int(agent.ties == "random"), int(seat.briefing.actions == "hidden")
    return Phases(seat.number, seat.stream, ties, agent.sweeps, hidden, seat.zeros(np.int64), seat.zeros(), notes)
