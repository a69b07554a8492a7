"""Softmax over values that follow the latest rewards, compiled (`agents.recency_softmax`)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobandit.agents.recency_softmax import RecencySoftmax, softmax_pick
from cobandit.agents.softmax import UNKNOWN
from cobandit.engine.fast.arrays import Arm, Floats
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import uniform
from cobandit.engine.fast.world import World, aim_at, own_arm

compile_plain(softmax_pick)


class Fading(NamedTuple):
    """``worth`` is of every cell, or of every own arm where ``by_arm`` is 1."""

    seat: int
    stream: int
    rate: float
    temperature: float
    by_arm: int
    worth: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of what is aimed at."""
        draw = uniform(world.streams, self.stream)
        if self.by_arm == 1:
            return softmax_pick(self.worth, world.arms[self.seat], self.temperature, draw, world.values)
        return aim_at(world, self.seat, softmax_pick(self.worth, world.cells, self.temperature, draw, world.values))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Move the value of what was played, if anything was seen."""
        if seen == seen:
            at = own_arm(world, self.seat, played) if self.by_arm == 1 else played
            self.worth[at] += self.rate * (seen - self.worth[at])


def recency_softmax(agent: RecencySoftmax, seat: Seat) -> Fading:
    """Return the compiled form."""
    by_arm = agent.values == "own-arms"
    worth = np.full(seat.briefing.own_arms if by_arm else seat.cells, UNKNOWN)
    return Fading(seat.number, seat.stream, agent.rate, agent.temperature, int(by_arm), worth)
