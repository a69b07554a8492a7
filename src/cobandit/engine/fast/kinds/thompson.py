"""Thompson sampling over team actions: what partner-aware, naive and centralised Thompson share.

`BetaThompson` is for seen rewards that are 0 or 1, `GaussianThompson` for others (`agents.beliefs.Posterior`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.foresight import block_row, foresee, foresight_of, keeps_arm
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.kinds.ucb import record
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.random import beta, gamma_steps, inlined, normal
from cobandit.engine.fast.world import World, aim_at


class BetaThompson(NamedTuple):
    """Draws from Beta(1 + ones, 1 + zeros)."""

    seat: int
    stream: int
    foresees: int
    window: int
    repeat: int
    random_ties: int
    steps: Floats
    counts: Ints
    sums: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the cell with the best draw."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, beta_best(self, world, t))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record(self, played, seen)


class GaussianThompson(NamedTuple):
    """Draws from the Gaussian posterior."""

    seat: int
    stream: int
    foresees: int
    window: int
    repeat: int
    random_ties: int
    prior_mean: float
    prior_weight: float
    noise_weight: float
    counts: Ints
    sums: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the cell with the best draw."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, gaussian_best(self, world, t))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record(self, played, seen)


@inlined
def beta_best(me: Any, world: World, t: int) -> Any:
    """Return the cell of the block with the best draw."""
    base = foresee(me, world, t)
    row = block_row(me, world)
    start, size = row * world.cells, world.block_size[row]
    for k in range(size):
        cell = base + world.block[start + k]
        s = me.sums[cell]
        world.values[k] = beta(world.streams, me.stream, 1.0 + s, 1.0 + me.counts[cell] - s, me.steps)
    return base + world.block[start + best_of(world.values, size, me.random_ties, world.streams, me.stream)]


@inlined
def gaussian_best(me: Any, world: World, t: int) -> Any:
    """Return the cell of the block with the best draw."""
    base = foresee(me, world, t)
    row = block_row(me, world)
    start, size = row * world.cells, world.block_size[row]
    for k in range(size):
        cell = base + world.block[start + k]
        precision = me.prior_weight + me.counts[cell] * me.noise_weight
        mean = (me.prior_mean * me.prior_weight + me.sums[cell] * me.noise_weight) / precision
        world.values[k] = mean + math.sqrt(1.0 / precision) * normal(world.streams, me.stream)
    return base + world.block[start + best_of(world.values, size, me.random_ties, world.streams, me.stream)]


def gaussian_prior(agent: Any) -> tuple[float, float, float]:
    """Prior mean, prior weight and noise weight of a Bayesian agent (`agents.beliefs.Posterior.gaussian`)."""
    return agent.prior_mean, 1.0 / (agent.prior_sd * agent.prior_sd), 1.0 / (agent.noise_sd * agent.noise_sd)


def thompson(agent: Any, seat: Seat) -> BetaThompson | GaussianThompson:
    """Return the compiled form of any Thompson sampler over team actions."""
    shared = seat.number, seat.stream, *foresight_of(agent, seat), int(agent.ties == "random")
    counts, sums = seat.zeros(np.int64), seat.zeros()
    if seat.briefing.binary:
        return BetaThompson(*shared, table(gamma_steps(seat.briefing.horizon + 1)), counts, sums)
    return GaussianThompson(*shared, *gaussian_prior(agent), counts, sums)
