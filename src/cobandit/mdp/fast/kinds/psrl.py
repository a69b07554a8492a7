"""Posterior sampling, compiled (`mdp.agents.psrl`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.thompson import gaussian_prior
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.random import beta, compiled, exponential, gamma, gamma_steps, inlined, normal, uniform
from cobandit.engine.fast.world import own_arm
from cobandit.mdp.fast.kinds.ucbvi import best_in_block, plan_arrays, record_reward
from cobandit.mdp.fast.world import STATE, MarkovWorld


class SampledPlanner(NamedTuple):
    """Draws a world, solves it, and plays as if it were true."""

    seat: int
    stream: int
    random_ties: int
    binary: int
    prior_mean: float
    prior_weight: float
    noise_weight: float
    move_prior: float
    observer: int
    gammas: Floats
    counts: Ints
    sums: Floats
    q: Floats
    v: Floats
    rewards: Floats
    drawn: Floats

    def plan_episode(self, world: MarkovWorld, t: int) -> None:
        """Draw a world and solve it."""
        draw_world(self, world)
        solve_drawn(self, world)

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the own part of the best team action in the drawn world."""
        return own_arm(world, self.seat, best_in_block(self, world, 0, world.agents))

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        record_reward(self, world.here[STATE] * world.cells + played, seen)


class JointSampledPlanner(SampledPlanner):
    """The same for all."""

    joint = True

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the best team action in the drawn world."""
        return best_in_block(self, world, 0, world.agents)

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Store the combined observation of all agents, or that of the best observer."""
        look = seen if self.observer < 0 else world.seen[self.observer]
        record_reward(self, world.here[STATE] * world.cells + played, look)


@compiled
def any_gamma(streams: Any, row: int, shape: float) -> Any:
    """``Generator.standard_gamma(shape)`` for any shape above 0, in NumPy's order of operations."""
    if shape >= 1.0:
        return gamma(streams, row, shape, 1.0 / math.sqrt(9.0 * (shape - 1.0 / 3.0)))
    while True:
        u = uniform(streams, row)
        v = exponential(streams, row)
        if u <= 1.0 - shape:
            x = u ** (1.0 / shape)
            if x <= v:
                return x
        else:
            y = -math.log((1.0 - u) / shape)
            x = (1.0 - shape + shape * y) ** (1.0 / shape)
            if x <= v + y:
                return x


@compiled
def draw_world(me: Any, world: MarkovWorld) -> None:
    """Draw rewards, state by state, then moves. Without alternatives for a move, nothing is drawn."""
    states, cells = world.states, world.cells
    for pair in range(states * cells):
        total, n = me.sums[pair], me.counts[pair]
        if me.binary == 1:
            me.rewards[pair] = beta(world.streams, me.stream, 1.0 + total, 1.0 + n - total, me.gammas)
        else:
            precision = me.prior_weight + n * me.noise_weight
            mean = (me.prior_mean * me.prior_weight + total * me.noise_weight) / precision
            me.rewards[pair] = mean + math.sqrt(1.0 / precision) * normal(world.streams, me.stream)
    if world.steps == 1:
        return
    if states == 1:
        for pair in range(cells):
            me.drawn[pair] = 1.0
        return
    prior = me.move_prior / states
    for pair in range(states * cells):
        start, k, total = pair * states, 0, 0.0
        for state in range(states):
            met = 0.0
            if k < world.link_counts[pair] and world.links[start + k] == state:
                met = world.moves[start + k]
                k += 1
            me.drawn[start + state] = any_gamma(world.streams, me.stream, prior + met)
            total += me.drawn[start + state]
        for state in range(states):
            me.drawn[start + state] /= total


@inlined
def solve_drawn(me: Any, world: MarkovWorld) -> None:
    """Q of the drawn world."""
    states, cells = world.states, world.cells
    for step in range(world.steps - 1, -1, -1):
        for state in range(states):
            place = step * states + state
            top = -math.inf
            for cell in range(cells):
                pair = state * cells + cell
                value = me.rewards[pair]
                if step < world.steps - 1:
                    for other in range(states):
                        value += me.drawn[pair * states + other] * me.v[(step + 1) * states + other]
                me.q[place * cells + cell] = value
                top = value if value > top else top
            me.v[place] = top


def _fields(agent: Any, seat: Seat, observer: int) -> tuple[Any, ...]:
    briefing: Any = seat.briefing
    pairs = briefing.states * seat.cells
    most = briefing.horizon + 1 if briefing.binary else 1
    return (
        seat.number,
        seat.stream,
        int(agent.ties == "random"),
        int(briefing.binary),
        *map(float, gaussian_prior(agent)),
        float(agent.move_prior),
        observer,
        table(gamma_steps(most)),
        *plan_arrays(briefing, seat.cells),
        np.zeros(pairs),
        np.zeros(pairs * briefing.states if briefing.steps > 1 else 1),
    )


def psrl(agent: Any, seat: Seat) -> SampledPlanner:
    """Return the compiled form of a naive agent."""
    return SampledPlanner(*_fields(agent, seat, -1))


def centralised_psrl(agent: Any, seat: Seat) -> JointSampledPlanner:
    """Return the compiled form of one brain for all."""
    observer = seat.briefing.best_observer if agent.eyes == "best" else -1
    return JointSampledPlanner(*_fields(agent, seat, observer))
