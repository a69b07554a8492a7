"""Steered UCBVI, compiled (`mdp.agents.steered`): the plain protocol itself, on arrays."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.steering import LEADER, SLOTS, steering_agent, write_slots
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds import steered as _steered  # noqa: F401 - whose functions are compiled, too
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat, with_tables
from cobandit.engine.fast.world import own_arm
from cobandit.mdp.agents import steered as plain
from cobandit.mdp.agents.steered import Protocol, make_protocol, moved_cell, posterior_weights, steering_row
from cobandit.mdp.fast.kinds.ucbvi import plan_arrays, record_reward
from cobandit.mdp.fast.planning import COMPANION, joint_max_plan
from cobandit.mdp.fast.world import EPISODE, PLACE, STATE, MarkovWorld

compile_plain(plain.steering_row, plain.moved_cell)


class Planner(NamedTuple):
    """The fields of a steered planner in addition to those of the protocol."""

    seat: int
    stream: int
    stay: int
    patience: float
    exploration: float
    episodes: int
    ceiling: float
    index: Any
    ones: float
    weight: float
    noise: float
    counts: Ints
    sums: Floats
    q: Floats
    v: Floats
    at: Ints
    last: Ints
    slot: Ints


class SteeredPlanner(joined_tuple(Planner, Protocol)):  # type: ignore[misc]
    """A leader that plans and steers, or a follower."""

    def begin(self, world: MarkovWorld) -> None:
        """Compute the slots from the ranks."""
        self.notes[LEADER] = steering_agent(self.arms, world.order, world.agents)
        self.notes[SLOTS] = write_slots(self.arms, world.order, world.agents, self.movers, self.steps)

    def plan_episode(self, world: MarkovWorld, t: int) -> None:
        """Plan the episode, if this agent is the leader."""
        if self.seat == self.notes[LEADER]:
            scale = math.sqrt(2.0 * self.exploration * math.log(t - 1.0)) if t > 1 else 0.0
            joint_max_plan(self, world, world.states, world.cells, world.steps, scale)

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the leader's decision, or a follower's public arm."""
        place = world.here[PLACE]
        at = self.at[place]
        if self.seat != self.notes[LEADER]:
            return own_arm(world, self.seat, at)
        for j in range(world.agents):
            if j != self.seat:
                world.predictions[self.seat * world.agents + j] = own_arm(world, j, at)
        for cell in range(world.cells):
            self.kept[cell] = self.q[place * world.cells + cell]
        stay = self.stay + self.patience * math.sqrt(world.place_visits[place])
        visits = min(stay, float(self.episodes - world.here[EPISODE]))
        return np.int64(steering_row(self, at, self.last[place], self.slot[place], visits))

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Remember the step, and where the partners will be."""
        place = world.here[PLACE]
        record_reward(self, world.here[STATE] * world.cells + played, seen)
        self.at[place] = moved_cell(self, played, self.last[place], self.slot[place])
        self.last[place] = world.arm[self.notes[LEADER]]
        self.slot[place] = (self.slot[place] + 1) % self.notes[SLOTS]


def steered(agent: Any, seat: Seat) -> SteeredPlanner:
    """Return the compiled form."""
    briefing: Any = seat.briefing
    prior, weight, noise = posterior_weights(agent, briefing.binary)
    protocol = make_protocol(briefing.arms, briefing.ranks, np.array)
    places = briefing.steps * briefing.states
    planner = Planner(
        seat.number,
        seat.stream,
        agent.stay,
        float(agent.patience),
        float(agent.exploration),
        briefing.episodes,
        float(briefing.ceiling),
        COMPANION,
        float(prior * weight),
        float(weight),
        float(noise),
        *plan_arrays(briefing, seat.cells),
        *(np.zeros(places, dtype=np.int64) for _ in range(3)),
    )
    return SteeredPlanner(*planner, *with_tables(protocol, "arms", "strides", "own"))
