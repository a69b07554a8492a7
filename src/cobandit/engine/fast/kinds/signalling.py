"""Steered teams with reports, compiled (`agents.signalling`): the plain functions themselves, on arrays."""

from __future__ import annotations

import numpy as np

from cobandit.agents import signalling as plain
from cobandit.agents.signalling import CELL, Reporting, make_reporting, reporting_arm, reporting_learn
from cobandit.agents.steered import Steered
from cobandit.agents.steering import AT, LEADER, NOTHING, SLOTS, steering_agent, write_slots
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import SEATED, Seat, with_tables
from cobandit.engine.fast.world import World, own_arm

compile_plain(
    plain.reporting_arm,
    plain.reporting_learn,
    plain.is_due,
    plain.begin_report,
    plain.write_levels,
    plain.write_binomial,
    plain.go_on_reporting,
    plain.believe,
    plain.see,
    plain.scale_weights,
    plain.best_believed,
    plain.grid_index,
)


class ReportingPlayer(joined_tuple(SEATED, Reporting)):  # type: ignore[misc]
    """The fields of `agents.signalling.Reporting`, for leaders and followers."""

    def begin(self, world: World) -> None:
        """Compute the slots from a run's ranks."""
        self.notes[LEADER] = steering_agent(world.arms, world.order, world.agents)
        self.notes[SLOTS] = write_slots(world.arms, world.order, world.agents, self.movers, self.steps)

    def choose(self, world: World, t: int) -> Arm:
        """Return the agent's own arm; the leader predicts the follower's, except for a report's bits."""
        if self.seat == self.notes[LEADER]:
            other = 1 - self.seat
            foreseen = own_arm(world, other, self.notes[AT]) if self.report[CELL] == NOTHING else -1
            world.predictions[self.seat * world.agents + other] = foreseen
        return reporting_arm(self, self.seat, t)

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        reporting_learn(self, self.seat, t, played, seen)


def reporting(agent: Steered, seat: Seat) -> ReportingPlayer:
    """Return the compiled form of a member of a reporting team."""
    knowledge = make_reporting(agent, seat.briefing, np.array)
    return ReportingPlayer(seat.number, seat.stream, *with_tables(knowledge, "arms", "strides", "own", "values"))
