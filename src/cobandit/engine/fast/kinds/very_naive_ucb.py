"""Very naive UCB, compiled (`agents.very_naive_ucb`): a bandit over the own arms alone."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.very_naive_ucb import VeryNaiveUCB
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.kinds.ucb import COMPANION, changing_index, fresh_index, keep_index, keep_line
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import uniform
from cobandit.engine.fast.world import World, own_arm


class KeptOwnUCB(NamedTuple):
    """Keeps the paper's index of every own arm."""

    seat: int
    stream: int
    random_ties: int
    scale: float
    counts: Ints
    sums: Floats
    kept: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own arm with the best index."""
        return best_of(self.kept, world.arms[self.seat], self.random_ties, world.streams, self.stream)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward of the own arm."""
        keep_index(self, world, own_arm(world, self.seat, played), seen)


class FreshOwnUCB(NamedTuple):
    """Keeps the line on which the index of every own arm moves."""

    seat: int
    stream: int
    random_ties: int
    index: Any
    scales: Floats
    counts: Ints
    sums: Floats
    estimates: Floats
    spans: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own arm with the best index; the companion code draws the first one."""
        arms = world.arms[self.seat]
        if self.index == COMPANION and t == 1:
            return np.int64(uniform(world.streams, self.stream) * arms)
        for arm in range(arms):
            world.values[arm] = fresh_index(self, arm, self.scales[t])
        return best_of(world.values, arms, self.random_ties, world.streams, self.stream)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward of the own arm."""
        keep_line(self, world, own_arm(world, self.seat, played), seen)


def very_naive_ucb(agent: VeryNaiveUCB, seat: Seat) -> KeptOwnUCB | FreshOwnUCB:
    """Return the compiled form."""
    arms, horizon = seat.briefing.own_arms, seat.briefing.horizon
    shared = seat.number, seat.stream, int(agent.ties == "random")
    if agent.index == "paper":
        memory = np.zeros(arms, dtype=np.int64), np.zeros(arms)
        return KeptOwnUCB(*shared, agent.scale(horizon, horizon), *memory, np.full(arms, math.inf))
    return FreshOwnUCB(*shared, *changing_index(agent, seat, arms))
