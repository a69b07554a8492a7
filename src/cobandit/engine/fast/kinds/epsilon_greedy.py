"""Epsilon-greedy, compiled (`agents.epsilon_greedy`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobandit.agents.epsilon_greedy import UNKNOWN, EpsilonGreedy
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.caching import with_vectors
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.kinds.ucb import record
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import uniform
from cobandit.engine.fast.world import World, aim_at


@with_vectors
class Greedy(NamedTuple):
    """Aims at the best mean so far."""

    seat: int
    stream: int
    epsilon: float
    counts: Ints
    sums: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell, equals by a draw; or any own arm."""
        if uniform(world.streams, self.stream) < self.epsilon:
            world.aim[self.seat] = -1
            return np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        for cell in range(world.cells):
            world.values[cell] = (self.sums[cell] + UNKNOWN) / (self.counts[cell] + 1.0)
        cell = best_of(world.values, world.cells, 1, world.streams, self.stream)
        return aim_at(world, self.seat, cell)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record(self, played, seen)


def epsilon_greedy(agent: EpsilonGreedy, seat: Seat) -> Greedy:
    """Return the compiled form."""
    return Greedy(seat.number, seat.stream, agent.epsilon, seat.zeros(np.int64), seat.zeros())
