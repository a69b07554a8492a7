"""Steered UCBVI, compiled (`mdp.agents.steered`): the plain protocol itself, on arrays."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.steering import LEADER, SLOTS, most_slots, steering_agent, write_slots
from cobandit.engine.fast.kinds import steered as _steered  # noqa: F401 - whose functions are compiled, too
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.world import own_arm
from cobandit.mdp.agents import steered as plain
from cobandit.mdp.agents.steered import make_protocol, moved_cell, posterior_weights, steering_row
from cobandit.mdp.fast.kinds.ucbvi import plan_room, record_reward
from cobandit.mdp.fast.planning import COMPANION, joint_max_plan
from cobandit.mdp.fast.world import EPISODE, PLACE, STATE

compile_plain(plain.steering_row, plain.moved_cell)


class SteeredPlanner(NamedTuple):
    """A leader that plans and steers, or a follower; the fields of the protocol among its own."""

    seat: Any
    stream: Any
    stay: Any
    patience: Any
    exploration: Any
    episodes: Any
    ceiling: Any
    index: Any
    ones: Any
    weight: Any
    noise: Any
    counts: Any
    sums: Any
    q: Any
    v: Any
    at: Any
    last: Any
    slot: Any
    cells: Any
    arms: Any
    strides: Any
    own: Any
    kept: Any
    ahead: Any
    worth: Any
    movers: Any
    steps: Any
    notes: Any

    def begin(self, world: Any) -> None:
        """The slots that follow from the ranks."""
        self.notes[LEADER] = steering_agent(self.arms, world.order, world.agents)
        self.notes[SLOTS] = write_slots(self.arms, world.order, world.agents, self.movers, self.steps)

    def plan_episode(self, world: Any, t: int) -> None:
        """Only the leader plans."""
        if self.seat == self.notes[LEADER]:
            scale = math.sqrt(2.0 * self.exploration * math.log(t - 1.0)) if t > 1 else 0.0
            joint_max_plan(self, world, world.states, world.cells, world.steps, scale)

    def choose(self, world: Any, t: int) -> Any:
        """The leader's decision, or a follower's public arm."""
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

    def learn(self, world: Any, t: int, played: int, seen: float) -> None:
        """Remember the step, and where the partners will be."""
        place = world.here[PLACE]
        record_reward(self, world.here[STATE] * world.cells + played, seen)
        self.at[place] = moved_cell(self, played, self.last[place], self.slot[place])
        self.last[place] = world.arm[self.notes[LEADER]]
        self.slot[place] = (self.slot[place] + 1) % self.notes[SLOTS]


def steered(agent: Any, seat: Seat) -> SteeredPlanner:
    """The compiled form."""
    briefing: Any = seat.briefing
    prior, weight, noise = posterior_weights(agent, briefing.binary)
    protocol = make_protocol(briefing.arms, briefing.ranks, np.array)
    places = briefing.steps * briefing.states
    slots = most_slots(briefing.arms)
    fields: tuple[Any, ...] = (
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
        *plan_room(briefing, seat.cells),
        *(np.zeros(places, dtype=np.int64) for _ in range(3)),
        seat.cells,
        table(protocol.arms),
        table(protocol.strides),
        table(protocol.own),
        *(np.zeros(seat.cells) for _ in range(3)),
        *(np.zeros(slots, dtype=np.int64) for _ in range(2)),
        np.zeros(2, dtype=np.int64),
    )
    return SteeredPlanner(*fields)
