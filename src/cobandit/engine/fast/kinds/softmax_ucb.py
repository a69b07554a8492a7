"""Softmax over the index of UCB, compiled (`agents.softmax_ucb`)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cobandit.agents.recency_softmax import softmax_pick
from cobandit.agents.softmax_ucb import SoftmaxUCB, index_scale
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.ucb import record
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import uniform
from cobandit.engine.fast.world import World, aim_at

compile_plain(softmax_pick)


class SoftBounds(NamedTuple):
    """``scale`` is sqrt(2 c log T); ``weights`` is a scratch array."""

    seat: int
    stream: int
    scale: float
    temperature: float
    lapse: float
    counts: Ints
    sums: Floats
    weights: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the cell aimed at, or any own arm."""
        if uniform(world.streams, self.stream) < self.lapse:
            world.aim[self.seat] = -1
            return np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        for cell in range(world.cells):
            n = self.counts[cell]
            world.values[cell] = self.sums[cell] / n + self.scale * (1.0 / math.sqrt(n)) if n > 0 else math.inf
        draw = uniform(world.streams, self.stream)
        return aim_at(world, self.seat, softmax_pick(world.values, world.cells, self.temperature, draw, self.weights))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record(self, played, seen)


def softmax_ucb(agent: SoftmaxUCB, seat: Seat) -> SoftBounds:
    """Return the compiled form."""
    return SoftBounds(
        seat.number,
        seat.stream,
        index_scale(agent.exploration, seat.briefing),
        agent.temperature,
        agent.lapse,
        seat.zeros(np.int64),
        seat.zeros(),
        seat.zeros(),
    )
