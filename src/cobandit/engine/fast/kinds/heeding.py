"""The heeding leader of Partner-Aware UCB, compiled (`agents.heeding`)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cobandit.agents.partner_aware_ucb import PartnerAwareUCB
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds.foresight import keeps_arm
from cobandit.engine.fast.kinds.search import tied
from cobandit.engine.fast.kinds.ucb import KeptUCB, keep_index, scanning
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import inlined
from cobandit.engine.fast.world import World, aim_at


class HeedingUCB(joined_tuple(KeptUCB, ("threshold", "plays", "answers", "answer_plays", "streak"))):  # type: ignore[misc]
    """Keeps the paper's index of every cell, and the latest answer to every own arm with its plays before.

    ``streak`` holds the last own arm and for how many rounds it has been repeated.
    """

    seat: int

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell that was not declined."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, best_undeclined(self, world))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward and the answer to the own arm."""
        keep_index(self, world, played, seen)
        row = world.own[self.seat * world.cells + played]
        self.streak[1] = self.streak[1] + 1 if row == self.streak[0] else 0
        self.streak[0] = row
        if self.streak[1] >= self.window:
            self.answers[row] = played
            self.answer_plays[row] = self.plays[played]
        self.plays[played] += 1


@inlined
def best_undeclined(me: Any, world: World) -> Any:
    """Return the cell with the best kept index among those that the leader does not pass over."""
    at, top, equals = -1, -math.inf, 0
    for cell in range(world.cells):
        row = world.own[me.seat * world.cells + cell]
        answer = me.answers[row]
        declined = answer >= 0 and answer != cell and me.threshold * me.plays[cell] < me.answer_plays[row]
        value = -math.inf if declined else me.kept[cell]
        world.values[cell] = value
        equals = 1 if value > top else equals + (value == top)
        at = cell if value > top else at
        top = value if value > top else top
    if equals > 1 and me.random_ties == 1:
        return np.int64(tied(world.values, world.cells, top, world.streams, me.stream))
    return np.int64(at)


def heeding(agent: PartnerAwareUCB, plain: PartnerAwareUCB, seat: Seat) -> HeedingUCB:
    """Return the compiled form of the leader; ``plain`` is the same agent with the leader's constant and no heed."""
    rows = seat.briefing.own_arms
    return HeedingUCB(
        *scanning(plain, seat),
        threshold=agent.refusal_threshold(),
        plays=seat.zeros(np.int64),
        answers=np.full(rows, -1, dtype=np.int64),
        answer_plays=np.zeros(rows, dtype=np.int64),
        streak=np.array([-1, 0], dtype=np.int64),
    )
