"""UCB with an index that changes with time (anytime, companion) over many team actions: a kinetic tournament.

The index of a cell at scale s is the line estimate + s * root, and the scale only grows. Each match of the tournament
knows up to which scale its outcome is certain; a round replays only the matches that have expired. "Certain" includes a
margin for rounding: close to a crossing the two indices are computed and compared as a scan would do it. For players
whose block is all team actions: leaders, naive and centralised ones.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.beliefs import INDICES
from cobandit.engine.fast.arrays import Arm, Cells, Floats, Ints
from cobandit.engine.fast.kinds.foresight import keeps_arm
from cobandit.engine.fast.kinds.ucb import COMPANION, keep_line, scales_of
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import compiled, inlined, uniform
from cobandit.engine.fast.world import World, aim_at, root

ROUNDING = 1e-15
"""Somewhat more than the relative error of a computed index."""


class KineticUCB(NamedTuple):
    """Node 1 is the root, the leaves are the cells in row-major order; ``until`` is how long an outcome stands."""

    seat: int
    stream: int
    repeat: int
    index: Any
    first_leaf: int
    scales: Floats
    counts: Ints
    sums: Floats
    estimates: Floats
    spans: Floats
    winners: Cells
    until: Floats
    stack: Ints

    def begin(self, world: World) -> None:
        """Start with untried cells."""
        init_kinetic(self, world)

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the winner; the companion code draws the first arm."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        if self.index == COMPANION and t == 1:
            return np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        return aim_at(world, self.seat, kinetic_winner(self, t))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        move_line(self, world, t, played, seen)


@compiled
def init_kinetic(me: Any, world: World) -> None:
    """Initialise the lines of untried cells, and all matches at scale 0."""
    first = me.first_leaf
    for cell in range(first):
        me.estimates[cell] = -math.inf
        me.spans[cell] = 0.0
        if cell < world.cells:
            me.estimates[cell] = 0.5 if me.index == COMPANION else math.inf
            me.spans[cell] = root(world, 0) if me.index == COMPANION else 0.0
        me.winners[first + cell] = cell
        me.until[first + cell] = math.inf
    for node in range(first - 1, 0, -1):
        replay_match(me, node, 0.0)


@inlined
def replay_match(me: Any, node: int, scale: float) -> None:
    """Play one match at a scale, and find until when its outcome, and those below it, are sure to stand."""
    a, b = me.winners[2 * node], me.winners[2 * node + 1]
    value_a = me.estimates[a] + scale * me.spans[a]
    value_b = me.estimates[b] + scale * me.spans[b]
    a_wins = value_a > value_b or (value_a == value_b and a < b)
    winner, loser = (a, b) if a_wins else (b, a)
    until = math.inf
    gain = me.spans[loser] - me.spans[winner]
    if gain > 0.0 and me.estimates[loser] > -math.inf:
        until = (me.estimates[winner] - me.estimates[loser]) / gain
        if until < math.inf:
            size = abs(me.estimates[winner]) + abs(me.estimates[loser])
            size += scale * (me.spans[winner] + me.spans[loser])
            until -= ROUNDING * (size / gain + abs(until))
    me.winners[node] = winner
    me.until[node] = min(until, me.until[2 * node], me.until[2 * node + 1])


@compiled
def advance(me: Any, scale: float) -> None:
    """Replay every match whose outcome need no longer stand, the lower ones first."""
    top = 0
    me.stack[0] = 2
    while top >= 0:
        node = me.stack[top] >> 1
        if me.stack[top] & 1:
            replay_match(me, node, scale)
            top -= 1
        else:
            me.stack[top] |= 1
            for child in (2 * node, 2 * node + 1):
                if child < me.first_leaf and me.until[child] <= scale:
                    top += 1
                    me.stack[top] = 2 * child


@inlined
def kinetic_winner(me: Any, t: int) -> Any:
    """Return the cell with the best index of all."""
    scale = me.scales[t]
    if me.until[1] <= scale:
        advance(me, scale)
    return np.int64(me.winners[1])


@inlined
def move_line(me: Any, world: World, t: int, cell: int, seen: float) -> None:
    """Count a seen reward and replay the matches of the cell with its new line."""
    keep_line(me, world, cell, seen)
    if seen == seen:
        scale = me.scales[t]
        node = (me.first_leaf + cell) >> 1
        while node > 0:
            replay_match(me, node, scale)
            node >>= 1


def kinetic(agent: Any, seat: Seat) -> KineticUCB:
    """Return the compiled form of an agent with a changing index and first-index ties, over all team actions."""
    horizon = seat.briefing.horizon
    leaves = 1 << max(1, (seat.cells - 1).bit_length())
    return KineticUCB(
        seat.number,
        seat.stream,
        min(getattr(agent, "repeat", 1), horizon),
        INDICES.index(agent.index),
        leaves,
        scales_of(agent, horizon),
        seat.zeros(np.int64),
        seat.zeros(),
        np.zeros(leaves),
        np.zeros(leaves),
        np.zeros(2 * leaves, dtype=np.int32),
        np.zeros(2 * leaves),
        np.zeros(4 * leaves.bit_length(), dtype=np.int64),
    )
