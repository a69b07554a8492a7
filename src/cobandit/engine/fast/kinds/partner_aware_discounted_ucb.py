"""Partner-Aware UCB that discounts the past, compiled (`agents.partner_aware_discounted_ucb`)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cobandit.agents.partner_aware_discounted_ucb import PartnerAwareDiscountedUCB
from cobandit.engine.fast.arrays import Arm, Floats
from cobandit.engine.fast.kinds.foresight import foresight_of, keeps_arm, role_widths, width_of
from cobandit.engine.fast.kinds.ucb import line_at, scan_block
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.world import World, aim_at


class DiscountedUCB(NamedTuple):
    """Keeps the line, estimate + scale * span, of every cell, by counts that fade; ``total[0]`` is their sum."""

    seat: int
    stream: int
    foresees: int
    window: int
    repeat: int
    random_ties: int
    width: float
    follower_width: float
    recall: float
    total: Floats
    counts: Floats
    sums: Floats
    estimates: Floats
    spans: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell of the block."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        total = self.total[0] if self.total[0] > 1.0 else 1.0
        scale = math.sqrt(width_of(self, world) * math.log(total))
        return aim_at(world, self.seat, scan_block(self, world, t, scale, line_at))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Forget a little, then take in one seen reward."""
        for cell in range(world.cells):
            self.counts[cell] *= self.recall
            self.sums[cell] *= self.recall
        self.total[0] *= self.recall
        if seen == seen:
            self.total[0] += 1.0
            self.counts[played] += 1.0
            self.sums[played] += seen
        for cell in range(world.cells):
            tried = self.counts[cell] > 0.0
            self.estimates[cell] = self.sums[cell] / self.counts[cell] if tried else math.inf
            self.spans[cell] = 1.0 / math.sqrt(self.counts[cell]) if tried else 0.0


def partner_aware_discounted_ucb(agent: PartnerAwareDiscountedUCB, seat: Seat) -> DiscountedUCB:
    """Return the compiled form."""
    return DiscountedUCB(
        seat.number,
        seat.stream,
        *foresight_of(agent, seat),
        int(agent.ties == "random"),
        *role_widths(agent),
        agent.recall,
        np.zeros(1),
        seat.zeros(),
        seat.zeros(),
        np.full(seat.cells, math.inf),
        seat.zeros(),
    )
