"""mUCB, compiled (`agents.mucb`): UCB over team actions that reads no partner's arm."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.mucb import MUCB
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.kinds.ucb import changing_index, fresh_index, keep_index, keep_line
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.world import World, aim_at


class KeptPlan(NamedTuple):
    """Keeps the paper's index of every cell; ``plan[0]`` is the cell that the agent plans."""

    seat: int
    stream: int
    plan: Ints
    scale: float
    counts: Ints
    sums: Floats
    kept: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell."""
        self.plan[0] = best_of(self.kept, world.cells, 0, world.streams, self.stream)
        return aim_at(world, self.seat, self.plan[0])

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in the reward as one of the planned cell."""
        keep_index(self, world, self.plan[0], seen)


class FreshPlan(NamedTuple):
    """Keeps the line on which the index of every cell moves."""

    seat: int
    stream: int
    plan: Ints
    index: Any
    scales: Floats
    counts: Ints
    sums: Floats
    estimates: Floats
    spans: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell."""
        for cell in range(world.cells):
            world.values[cell] = fresh_index(self, cell, self.scales[t])
        self.plan[0] = best_of(world.values, world.cells, 0, world.streams, self.stream)
        return aim_at(world, self.seat, self.plan[0])

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in the reward as one of the planned cell."""
        keep_line(self, world, self.plan[0], seen)


def mucb(agent: MUCB, seat: Seat) -> KeptPlan | FreshPlan:
    """Return the compiled form."""
    plan = np.zeros(1, dtype=np.int64)
    if agent.index == "paper":
        horizon = seat.briefing.horizon
        memory = seat.zeros(np.int64), seat.zeros(), np.full(seat.cells, math.inf)
        return KeptPlan(seat.number, seat.stream, plan, agent.scale(horizon, horizon), *memory)
    return FreshPlan(seat.number, seat.stream, plan, *changing_index(agent, seat, seat.cells))
