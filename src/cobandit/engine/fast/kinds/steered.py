"""Steered teams, compiled (`agents.steered`): the plain functions themselves, on arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.agents import gittins, steering
from cobandit.agents import steered as plain
from cobandit.agents.signalling import has_reports
from cobandit.agents.steered import Steered, Steering, leading_row, make_steering, take_in
from cobandit.agents.steering import AT, LEADER, SLOTS, move_on, steering_agent, write_slots
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds.signalling import reporting
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import SEATED, Seat, with_tables
from cobandit.engine.fast.world import World, own_arm

compile_plain(
    gittins.log_gamma,
    gittins.beta_fraction,
    gittins.gittins_beta,
    gittins.gittins_factor,
    gittins.beta_constant,
    gittins.tail_from,
    gittins.beta_tail,
    gittins.remaining_rounds,
    steering.steering_agent,
    steering.write_slots,
    steering.moved,
    steering.move_on,
    steering.row_towards,
    steering.plan_row,
    steering.best_in_row,
    steering.best_way,
    plain.mean_of,
    plain.span_of,
    plain.is_still_best,
    plain.watch_cell,
    plain.follow_watched,
    plain.reckon_all,
    plain.reckon_lines,
    plain.best_cell,
    plain.leading_row,
    plain.remember,
    plain.take_in,
)


class SteeredPlayer(joined_tuple(SEATED, Steering)):  # type: ignore[misc]
    """The fields of `agents.steered.Steering`, for leaders and followers."""

    def begin(self, world: World) -> None:
        """Compute the slots from a run's ranks."""
        self.notes[LEADER] = steering_agent(world.arms, world.order, world.agents)
        self.notes[SLOTS] = write_slots(world.arms, world.order, world.agents, self.movers, self.steps)

    def choose(self, world: World, t: int) -> Arm:
        """Return the leader's decision, or a follower's public arm."""
        at = self.notes[AT]
        if self.seat != self.notes[LEADER]:
            return own_arm(world, self.seat, at)
        for j in range(world.agents):
            if j != self.seat:
                world.predictions[self.seat * world.agents + j] = own_arm(world, j, at)
        return leading_row(self, t)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        if self.seat == self.notes[LEADER]:
            take_in(self, played, seen)
        else:
            move_on(self, played)


def steering_of(agent: Any, seat: Seat) -> Steering:
    """Return what a steering agent knows before the first round, on arrays."""
    return with_tables(make_steering(agent, seat.briefing, np.array), "arms", "strides", "own")


def steered(agent: Steered, seat: Seat) -> Any:
    """Return the compiled form: a reporting one where the team reports."""
    if has_reports(agent, seat.briefing):
        return reporting(agent, seat)
    return SteeredPlayer(seat.number, seat.stream, *steering_of(agent, seat))
