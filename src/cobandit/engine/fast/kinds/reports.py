"""Steered teams with reports, compiled (`agents.reports`): the plain functions themselves, on arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cobandit.agents import reports as plain
from cobandit.agents.reports import CELL, NOTHING, make_reporting, reporting_arm, reporting_learn
from cobandit.agents.steered import Steered
from cobandit.agents.steering import AT, LEADER, SLOTS, steering_agent, write_slots
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.world import own_arm

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


class ReportingPlayer(NamedTuple):
    """The fields of `agents.reports.Reporting`, for a leader and a follower alike."""

    seat: Any
    stream: Any
    index: Any
    stay: Any
    horizon: Any
    exploration: Any
    leader_sight: Any
    follower_sight: Any
    cells: Any
    arms: Any
    strides: Any
    own: Any
    values: Any
    counts: Any
    since: Any
    hits: Any
    weights: Any
    means: Any
    kept: Any
    stamps: Any
    ahead: Any
    worth: Any
    movers: Any
    steps: Any
    notes: Any
    report: Any
    levels: Any
    both: Any
    alone: Any

    def begin(self, world: Any) -> None:
        """The slots of a run's ranks."""
        self.notes[LEADER] = steering_agent(world.arms, world.order, world.agents)
        self.notes[SLOTS] = write_slots(world.arms, world.order, world.agents, self.movers, self.steps)

    def choose(self, world: Any, t: int) -> Any:
        """The own arm; the leader foresees the follower's, but for a report's bits."""
        if self.seat == self.notes[LEADER]:
            other = 1 - self.seat
            foreseen = own_arm(world, other, self.notes[AT]) if self.report[CELL] == NOTHING else -1
            world.predictions[self.seat * world.agents + other] = foreseen
        return reporting_arm(self, self.seat, t)

    def learn(self, world: Any, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        reporting_learn(self, self.seat, t, played, seen)


def reporting(agent: Steered, seat: Seat) -> ReportingPlayer:
    """The compiled form of a member of a reporting team."""
    knowledge = make_reporting(agent, seat.briefing, np.array)
    fixed = {name: table(getattr(knowledge, name)) for name in ("arms", "strides", "own", "values")}
    return ReportingPlayer(seat.number, seat.stream, *knowledge._replace(**fixed))
