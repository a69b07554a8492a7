"""Partner-Aware UCB whose play depends on its role, compiled: a heeding leader, and a constant of its followers.

`HeedingUCB` is a heeding leader (`agents.heeding`) with the paper's index, where the roles are known. `RoleUCB` is for
roles that are drawn for each run, and for a heeding leader with an index that changes with every round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds.foresight import WIDTHS, foresight_of, keeps_arm, role_widths, width_of
from cobandit.engine.fast.kinds.search import tied
from cobandit.engine.fast.kinds.ucb import (
    COMPANION,
    PAPER,
    FreshUCB,
    KeptUCB,
    fresh_best,
    fresh_index,
    keep_index,
    keep_line,
    scanning,
    untried_lines,
)
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import inlined, uniform
from cobandit.engine.fast.world import World, aim_at

ANSWERS = ("threshold", "plays", "answers", "answer_plays", "streak")
"""The latest answer to every own arm with its plays before; ``streak``: the last own arm, and how often in a row."""


class HeedingUCB(joined_tuple(KeptUCB, ANSWERS)):  # type: ignore[misc]
    """Keeps the paper's index of every cell, and the answers to the own arms."""

    seat: int

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell that was not declined."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, best_undeclined(self, world, 0.0, kept_index))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward and the answer to the own arm."""
        keep_index(self, world, played, seen)
        note_answer(self, world, played)


LINES = tuple(name for name in FreshUCB._fields if name != "scales")
"""The fields of `FreshUCB` without its table of scales, which has an entry for every round."""


class RoleUCB(joined_tuple(LINES, WIDTHS, ("horizon",), ANSWERS)):  # type: ignore[misc]
    """Keeps the line of every cell and the answers to the own arms; a threshold of 0 is that of a leader that waits."""

    seat: int

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell of the block, or of the best one that was not declined."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        if self.index == COMPANION and t == 1:
            return np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        scale = role_scale(self, world, t)
        if self.threshold > 0.0 and world.ranks[self.seat] == 0:
            return aim_at(world, self.seat, best_undeclined(self, world, scale, fresh_index))
        return aim_at(world, self.seat, fresh_best(self, world, t, scale))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward and the answer to the own arm."""
        keep_line(self, world, played, seen)
        note_answer(self, world, played)


@inlined
def role_scale(me: Any, world: World, t: int) -> float:
    """Return scale_t for the agent's role in this run (`agents.beliefs.UpperConfidence.scale`)."""
    x = me.horizon if me.index == PAPER else t - 1 if me.index == COMPANION else t
    return math.sqrt(width_of(me, world) * math.log(x))


@inlined
def note_answer(me: Any, world: World, played: int) -> None:
    """Count a round, and note what partners answered to the own arm (`agents.heeding.Refusals.record`)."""
    row = world.own[me.seat * world.cells + played]
    me.streak[1] = me.streak[1] + 1 if row == me.streak[0] else 0
    me.streak[0] = row
    if me.streak[1] >= me.window:
        me.answers[row] = played
        me.answer_plays[row] = me.plays[played]
    me.plays[played] += 1


@inlined
def kept_index(me: Any, cell: int, scale: float) -> float:
    """Return the kept index of one cell."""
    return me.kept[cell]


@inlined
def best_undeclined(me: Any, world: World, scale: float, index_at: Callable[[Any, int, float], float]) -> Any:
    """Return the cell with the best index among those that the leader does not pass over."""
    at, top, equals = -1, -math.inf, 0
    for cell in range(world.cells):
        row = world.own[me.seat * world.cells + cell]
        answer = me.answers[row]
        declined = answer >= 0 and answer != cell and me.threshold * me.plays[cell] < me.answer_plays[row]
        value = -math.inf if declined else index_at(me, cell, scale)
        world.values[cell] = value
        equals = 1 if value > top else equals + (value == top)
        at = cell if value > top else at
        top = value if value > top else top
    if equals > 1 and me.random_ties == 1:
        return np.int64(tied(world.values, world.cells, top, world.streams, me.stream))
    return np.int64(at)


def heeding(agent: PartnerAwareUCB, plain: PartnerAwareUCB, seat: Seat) -> HeedingUCB:
    """Return the compiled form of the leader; ``plain`` is the same agent with the leader's constant and no heed."""
    return HeedingUCB(*scanning(plain, seat), *_answers(agent.refusal_threshold(), seat))


def by_role(agent: PartnerAwareUCB, seat: Seat) -> RoleUCB:
    """Return the compiled form that looks up its role in every run."""
    return RoleUCB(
        seat.number,
        seat.stream,
        *foresight_of(agent, seat),
        int(agent.ties == "random"),
        *untried_lines(agent, seat, seat.cells),
        *role_widths(agent),
        seat.briefing.horizon,
        *_answers(agent.refusal_threshold() if agent.heed else 0.0, seat),
    )


def _answers(threshold: float, seat: Seat) -> tuple[Any, ...]:
    """Return the fields of `ANSWERS` before the first round."""
    rows = seat.briefing.own_arms
    numbers = np.full(rows, -1, dtype=np.int64), np.zeros(rows, dtype=np.int64), np.array([-1, 0], dtype=np.int64)
    return threshold, seat.zeros(np.int64), *numbers
