"""Knowledge gradient that forgets, compiled (`agents.forgetful_kg`)."""

from __future__ import annotations

from typing import NamedTuple

from cobandit.agents.forgetful_kg import ForgetfulKnowledgeGradient
from cobandit.agents.recency_softmax import softmax_pick
from cobandit.engine.fast.arrays import Arm, Floats
from cobandit.engine.fast.caching import with_vectors
from cobandit.engine.fast.kinds.knowledge_gradient import beta_values, gaussian_values
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.kinds.thompson import gaussian_prior
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import uniform
from cobandit.engine.fast.world import World, aim_at

compile_plain(softmax_pick)


@with_vectors
class FadingGradient(NamedTuple):
    """``factor`` stands for T - t where it is not negative; ``counts`` need not be whole; ``weights`` is a scratch
    array.
    """

    seat: int
    stream: int
    random_ties: int
    factor: float
    horizon: int
    recall: float
    temperature: float
    binary: int
    prior_mean: float
    prior_weight: float
    noise_weight: float
    counts: Floats
    sums: Floats
    weights: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the cell of the highest value, or of one drawn by softmax."""
        remaining = float(self.horizon - t) if self.factor < 0.0 else self.factor
        if self.binary == 1:
            beta_values(self, world, remaining)
        else:
            gaussian_values(self, world, remaining)
        if self.temperature > 0.0:
            draw = uniform(world.streams, self.stream)
            pick = softmax_pick(world.values, world.cells, self.temperature, draw, self.weights)
            return aim_at(world, self.seat, pick)
        return aim_at(
            world, self.seat, best_of(world.values, world.cells, self.random_ties, world.streams, self.stream)
        )

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Forget a little, then take in one seen reward."""
        for cell in range(world.cells):
            self.counts[cell] *= self.recall
            self.sums[cell] *= self.recall
        if seen == seen:
            self.counts[played] += 1.0
            self.sums[played] += seen


def forgetful_kg(agent: ForgetfulKnowledgeGradient, seat: Seat) -> FadingGradient:
    """Return the compiled form."""
    gamma = agent.discount
    return FadingGradient(
        seat.number,
        seat.stream,
        int(agent.ties == "random"),
        -1.0 if gamma is None else gamma / (1.0 - gamma),
        seat.briefing.horizon,
        agent.recall,
        agent.temperature,
        int(seat.briefing.binary),
        *gaussian_prior(agent),
        seat.zeros(),
        seat.zeros(),
        seat.zeros(),
    )
