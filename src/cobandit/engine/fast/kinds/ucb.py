"""UCB over team actions by scanning a block: what partner-aware, naive and centralised UCB share.

`KeptUCB` has the paper's index, whose delta is fixed: a round changes one index. `FreshUCB` has the indices
that change with every round (anytime, companion, kl-ucb). For many team actions see `tournament` and `kinetic`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.beliefs import COMPANION_FLOOR, INDICES, UpperConfidence
from cobandit.agents.kl_ucb import kl_bound
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.kinds.foresight import block_row, foresee, foresight_of, keeps_arm
from cobandit.engine.fast.kinds.search import tied
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.random import compiled, inlined, uniform
from cobandit.engine.fast.world import World, aim_at, root

PAPER, ANYTIME, COMPANION, KL_UCB = map(INDICES.index, ("paper", "anytime", "companion", "kl-ucb"))

compile_plain(kl_bound)


class KeptUCB(NamedTuple):
    """Keeps the paper's index of every cell."""

    seat: int
    stream: int
    foresees: int
    window: int
    repeat: int
    random_ties: int
    scale: float
    counts: Ints
    sums: Floats
    kept: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell of the block."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, kept_best(self, world, t))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        keep_index(self, world, played, seen)


class FreshUCB(NamedTuple):
    """Keeps the line, estimate + scale * span, on which the index of every cell moves.

    ``index`` is the place of the index variant in `INDICES`.
    """

    seat: int
    stream: int
    foresees: int
    window: int
    repeat: int
    random_ties: int
    index: Any
    scales: Floats
    counts: Ints
    sums: Floats
    estimates: Floats
    spans: Floats

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the best cell of the block; the companion code draws the first arm."""
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        if self.index == COMPANION and t == 1:
            return np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        return aim_at(world, self.seat, fresh_best(self, world, t, self.scales[t]))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward."""
        keep_line(self, world, played, seen)


@inlined
def record(me: Any, cell: int, seen: float) -> None:
    """Count a seen reward (`agents.beliefs.Memory.record`); NaN is a round in which nothing was seen."""
    if seen == seen:
        me.counts[cell] += 1
        me.sums[cell] += seen


@inlined
def keep_index(me: Any, world: World, cell: int, seen: float) -> None:
    """Count a seen reward and keep the cell's new index."""
    if seen == seen:
        n = me.counts[cell] + 1
        s = me.sums[cell] + seen
        me.counts[cell] = n
        me.sums[cell] = s
        me.kept[cell] = s / n + me.scale * root(world, n)


@inlined
def kept_best(me: Any, world: World, t: int) -> int:
    """Return the cell with the best kept index of the block."""
    base = foresee(me, world, t)
    row = block_row(me, world)
    start, size = row * world.cells, world.block_size[row]
    at = base + world.block[start]
    top = me.kept[at]
    equals = 1
    for k in range(1, size):
        cell = base + world.block[start + k]
        value = me.kept[cell]
        equals = 1 if value > top else equals + (value == top)
        at = cell if value > top else at
        top = value if value > top else top
    if equals > 1 and me.random_ties == 1:
        for k in range(size):
            world.values[k] = me.kept[base + world.block[start + k]]
        return base + world.block[start + tied(world.values, size, top, world.streams, me.stream)]
    return at


@inlined
def keep_line(me: Any, world: World, cell: int, seen: float) -> None:
    """Count a seen reward and keep the cell's new line (`UpperConfidence.indices`)."""
    if seen == seen:
        n = me.counts[cell] + 1
        s = me.sums[cell] + seen
        me.counts[cell] = n
        me.sums[cell] = s
        me.estimates[cell] = (1.0 + s) / (2.0 + n) if me.index == COMPANION else s / n
        me.spans[cell] = root(world, n)


@inlined
def line_at(me: Any, cell: int, scale: float) -> float:
    """Return the value of a cell's line at a scale."""
    return me.estimates[cell] + scale * me.spans[cell]


@inlined
def kl_index(me: Any, cell: int, scale: float) -> float:
    """Return the KL-UCB index of one cell, which its line bounds from above."""
    return kl_bound(me.estimates[cell], scale * me.spans[cell])


@inlined
def fresh_index(me: Any, cell: int, scale: float) -> float:
    """Return the index of one cell."""
    return kl_index(me, cell, scale) if me.index == KL_UCB else line_at(me, cell, scale)


@inlined
def fresh_best(me: Any, world: World, t: int, scale: float) -> int:
    """Return the cell with the best index of the block."""
    return kl_best(me, world, t, scale) if me.index == KL_UCB else scan_block(me, world, t, scale, line_at)


@compiled
def kl_best(me: Any, world: World, t: int, scale: float) -> int:
    """Return the same for KL-UCB, in a separate function to keep the loop of the lines small."""
    return scan_block(me, world, t, scale, kl_index)


@inlined
def scan_block(me: Any, world: World, t: int, scale: float, index_at: Callable[[Any, int, float], float]) -> int:
    """Return the cell with the best index of the block; lines, estimate + scale * span, bound the indices.

    ``index_at`` is `line_at` or `kl_index`. An index is computed where its line is not below the best one so far.
    """
    base = foresee(me, world, t)
    row = block_row(me, world)
    start, size = row * world.cells, world.block_size[row]
    at = base + world.block[start]
    top = index_at(me, at, scale)
    equals = 1
    for k in range(1, size):
        cell = base + world.block[start + k]
        value = line_at(me, cell, scale)
        if value >= top:
            value = index_at(me, cell, scale)
        equals = 1 if value > top else equals + (value == top)
        at = cell if value > top else at
        top = value if value > top else top
    if equals > 1 and me.random_ties == 1:
        for k in range(size):
            world.values[k] = index_at(me, base + world.block[start + k], scale)
        return base + world.block[start + tied(world.values, size, top, world.streams, me.stream)]
    return at


@lru_cache(maxsize=2)
def _logarithms(most: int) -> Floats:
    """log x for x = 1 .. most at x; Python's own, whose last bit NumPy's need not share."""
    return table(np.fromiter((math.log(max(x, 1)) for x in range(most + 1)), dtype=np.float64, count=most + 1))


def scales_of(agent: UpperConfidence, horizon: int) -> Floats:
    """Return scale_t for t = 0 .. T (`UpperConfidence.scale`)."""
    if agent.index == "paper":
        return table(np.full(horizon + 1, agent.scale(horizon, horizon)))
    scales = np.zeros(horizon + 1)
    first = 2 if agent.index == "companion" else 1
    logarithms = _logarithms(horizon)[first - (agent.index == "companion") : horizon + 1]
    scales[first:] = np.sqrt(2.0 * agent.exploration * logarithms[: len(scales) - first])
    return table(scales)


def changing_index(agent: UpperConfidence, seat: Seat, count: int) -> tuple[Any, ...]:
    """Return ``index``, ``scales``, ``counts``, ``sums``, ``estimates`` and ``spans`` of ``count`` untried cells."""
    index, *memory = untried_lines(agent, seat, count)
    return index, scales_of(agent, seat.briefing.horizon), *memory


def untried_lines(agent: UpperConfidence, seat: Seat, count: int) -> tuple[Any, ...]:
    """Return ``index``, ``counts``, ``sums``, ``estimates`` and ``spans`` of ``count`` untried cells."""
    companion = agent.index == "companion"
    estimates = np.full(count, 0.5 if companion else math.inf)
    spans = np.full(count, 1.0 / np.sqrt(COMPANION_FLOOR) if companion else 0.0)
    counts, sums = np.zeros(count, dtype=np.int64), np.zeros(count)
    index = INDICES.index(agent.index)
    index = ANYTIME if index == KL_UCB and not seat.briefing.binary else index
    return index, counts, sums, estimates, spans


def scanning(agent: Any, seat: Seat) -> KeptUCB | FreshUCB:
    """Return the scanning form of any agent of the UCB family over team actions."""
    shared = seat.number, seat.stream, *foresight_of(agent, seat), int(agent.ties == "random")
    horizon = seat.briefing.horizon
    if agent.index == "paper":
        memory = seat.zeros(np.int64), seat.zeros()
        return KeptUCB(*shared, agent.scale(horizon, horizon), *memory, np.full(seat.cells, math.inf))
    return FreshUCB(*shared, *changing_index(agent, seat, seat.cells))
