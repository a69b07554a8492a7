"""Partner-Aware UCB over the latest rounds, compiled (`agents.partner_aware_sliding_ucb`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.partner_aware_sliding_ucb import PartnerAwareSlidingUCB
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.foresight import foresight_of, keeps_arm, role_widths, width_of
from cobandit.engine.fast.kinds.ucb import line_at, scan_block
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import inlined
from cobandit.engine.fast.world import World, aim_at, root

NEVER = -1
"""In the place of a remembered team action: no round yet."""


class SlidingUCB(NamedTuple):
    """Keeps the line, estimate + scale * span, of every cell, and the latest rounds: ``next_row[0]`` is the oldest."""

    seat: int
    stream: int
    foresees: int
    window: int
    repeat: int
    random_ties: int
    width: float
    follower_width: float
    memory: int
    next_row: Ints
    past_cells: Ints
    past_seen: Floats
    counts: Ints
    sums: Floats
    estimates: Floats
    spans: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell of the block."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        rounds = t if t < self.memory else self.memory
        scale = math.sqrt(width_of(self, world) * math.log(float(rounds)))
        return aim_at(world, self.seat, scan_block(self, world, t, scale, line_at))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Forget the oldest round, if the memory is full, then take in one seen reward."""
        row = self.next_row[0]
        old, gone = self.past_seen[row], self.past_cells[row]
        if gone != NEVER and old == old:
            n = self.counts[gone] - 1
            self.counts[gone] = n
            self.sums[gone] = self.sums[gone] - old if n > 0 else 0.0
            keep_line_of(self, world, gone)
        self.past_cells[row] = played
        self.past_seen[row] = seen
        self.next_row[0] = row + 1 if row + 1 < self.memory else 0
        if seen == seen:
            self.counts[played] += 1
            self.sums[played] += seen
            keep_line_of(self, world, played)


@inlined
def keep_line_of(me: Any, world: World, cell: int) -> None:
    """Store the line of a cell for its present count and sum."""
    n = me.counts[cell]
    me.estimates[cell] = me.sums[cell] / n if n > 0 else math.inf
    me.spans[cell] = root(world, n) if n > 0 else 0.0


def partner_aware_sliding_ucb(agent: PartnerAwareSlidingUCB, seat: Seat) -> SlidingUCB:
    """Return the compiled form; no more is remembered than is played."""
    memory = min(agent.memory, seat.briefing.horizon)
    return SlidingUCB(
        seat.number,
        seat.stream,
        *foresight_of(agent, seat),
        int(agent.ties == "random"),
        *role_widths(agent),
        memory,
        np.zeros(1, dtype=np.int64),
        np.full(memory, NEVER, dtype=np.int64),
        np.zeros(memory),
        seat.zeros(np.int64),
        seat.zeros(),
        np.full(seat.cells, math.inf),
        seat.zeros(),
    )
