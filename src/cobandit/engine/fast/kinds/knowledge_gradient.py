"""Knowledge gradient, compiled (`agents.knowledge_gradient`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.knowledge_gradient import KnowledgeGradient
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.caching import with_vectors
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.kinds.thompson import gaussian_prior
from cobandit.engine.fast.kinds.ucb import record
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import compiled
from cobandit.engine.fast.world import World, aim_at


@with_vectors
class BetaGradient(NamedTuple):
    """For seen rewards that are 0 or 1. ``factor`` stands for T - t where it is not negative."""

    seat: int
    stream: int
    random_ties: int
    factor: float
    horizon: int
    counts: Ints
    sums: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the cell of the highest value."""
        beta_values(self, world, float(self.horizon - t) if self.factor < 0.0 else self.factor)
        cell = best_of(world.values, world.cells, self.random_ties, world.streams, self.stream)
        return aim_at(world, self.seat, cell)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record(self, played, seen)


@with_vectors
class GaussianGradient(NamedTuple):
    """For other rewards."""

    seat: int
    stream: int
    random_ties: int
    factor: float
    horizon: int
    prior_mean: float
    prior_weight: float
    noise_weight: float
    counts: Ints
    sums: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the cell of the highest value."""
        gaussian_values(self, world, float(self.horizon - t) if self.factor < 0.0 else self.factor)
        cell = best_of(world.values, world.cells, self.random_ties, world.streams, self.stream)
        return aim_at(world, self.seat, cell)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record(self, played, seen)


@compiled
def beta_values(me: Any, world: World, remaining: float) -> None:
    """Posterior mean plus remaining rounds times knowledge gradient, for every cell."""
    top, second, at = -math.inf, -math.inf, 0
    for cell in range(world.cells):
        mean = (1.0 + me.sums[cell]) / (2.0 + me.counts[cell])
        world.values[cell] = mean
        if mean > top:
            top, second, at = mean, top, cell
        elif mean > second:
            second = mean
    for cell in range(world.cells):
        mean = world.values[cell]
        rival = second if cell == at else top
        ones, total = 1.0 + me.sums[cell], 2.0 + me.counts[cell]
        after_one = max((ones + 1.0) / (total + 1.0), rival)
        after_zero = max(ones / (total + 1.0), rival)
        rise = mean * after_one + (1.0 - mean) * after_zero - max(mean, rival)
        world.values[cell] = mean + remaining * rise


@compiled
def gaussian_values(me: Any, world: World, remaining: float) -> None:
    """Compute the values with Gaussian posteriors."""
    top, second, at = -math.inf, -math.inf, 0
    for cell in range(world.cells):
        precision = me.prior_weight + me.counts[cell] * me.noise_weight
        mean = (me.prior_mean * me.prior_weight + me.sums[cell] * me.noise_weight) / precision
        world.values[cell] = mean
        if mean > top:
            top, second, at = mean, top, cell
        elif mean > second:
            second = mean
    for cell in range(world.cells):
        mean = world.values[cell]
        rival = second if cell == at else top
        precision = me.prior_weight + me.counts[cell] * me.noise_weight
        spread = math.sqrt(me.noise_weight / (precision * (precision + me.noise_weight)))
        distance = abs(mean - rival) / spread
        density = math.exp(-0.5 * distance * distance) / math.sqrt(2.0 * math.pi)
        tail = 0.5 * math.erfc(distance / math.sqrt(2.0))
        rise = 0.0 if math.isinf(distance) else spread * (density - distance * tail)
        world.values[cell] = mean + remaining * rise


def knowledge_gradient(agent: KnowledgeGradient, seat: Seat) -> BetaGradient | GaussianGradient:
    """Return the compiled form."""
    gamma = agent.discount
    factor = -1.0 if gamma is None else gamma / (1.0 - gamma)
    shared = seat.number, seat.stream, int(agent.ties == "random"), factor, seat.briefing.horizon
    counts, sums = seat.zeros(np.int64), seat.zeros()
    if seat.briefing.binary:
        return BetaGradient(*shared, counts, sums)
    return GaussianGradient(*shared, *gaussian_prior(agent), counts, sums)
