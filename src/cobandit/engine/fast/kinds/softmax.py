"""Softmax over a few remembered rounds, compiled (`agents.softmax`)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.softmax import UNKNOWN, Softmax
from cobandit.engine.choice import NotCompiled
from cobandit.engine.fast.arrays import Arm, Floats, Ints
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.random import compiled, uniform
from cobandit.engine.fast.world import World, aim_at

LONGEST_TABLED_MEMORY = 32
"""Up to here the powers of e are taken from NumPy, so that not even their last bit can differ."""


class ShortMemory(NamedTuple):
    """``trail`` holds the remembered rounds as 2 cell + reward, ``seen[0]`` how many were ever seen.

    n remembered rounds of a cell of which s were good are state n (n + 1) / 2 + s; ``weights`` holds exp(value - top)
    for every state of the top and of another cell, as NumPy computes it.
    """

    seat: int
    stream: int
    memory: int
    temperature: float
    tabled: int
    weights: Floats
    counts: Ints
    sums: Floats
    trail: Ints
    seen: Ints

    def choose(self, world: World, t: int) -> Arm:
        """Return the own part of the cell aimed at."""
        return aim_at(world, self.seat, aimed_cell(self, world))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember the round, if anything was seen, and forget the oldest."""
        if seen == seen:
            slot = self.seen[0] % self.memory
            if self.seen[0] >= self.memory:
                oldest = self.trail[slot]
                self.counts[oldest >> 1] -= 1
                self.sums[oldest >> 1] -= oldest & 1
            self.trail[slot] = 2 * played + np.int64(seen)
            self.seen[0] += 1
            self.counts[played] += 1
            self.sums[played] += seen


@compiled
def aimed_cell(me: Any, world: World) -> Any:
    """Return the cell that a softmax over what is remembered aims at."""
    cells = world.cells
    top = -math.inf
    at = 0
    for cell in range(cells):
        value = (UNKNOWN + me.sums[cell]) / (1.0 + me.counts[cell]) / me.temperature
        world.values[cell] = value
        if value > top:
            top = value
            at = cell
    n = me.counts[at]
    states = (me.memory + 1) * (me.memory + 2) // 2
    line = states * (n * (n + 1) // 2 + np.int64(me.sums[at]))
    total = 0.0
    for cell in range(cells):
        if me.tabled == 1:
            n = me.counts[cell]
            total += me.weights[line + n * (n + 1) // 2 + np.int64(me.sums[cell])]
        else:
            total += math.exp(world.values[cell] - top)
        world.values[cell] = total
    aim = uniform(world.streams, me.stream) * total
    for cell in range(cells - 1):
        if world.values[cell] > aim:
            return cell
    return cells - 1


def softmax(agent: Softmax, seat: Seat) -> ShortMemory:
    """Return the compiled form; sums of rewards other than 0 and 1 could differ in their last bits."""
    if not seat.briefing.binary:
        raise NotCompiled(f"{agent.name} has a compiled form only where all seen rewards are 0 or 1")
    memory = min(agent.memory, seat.briefing.horizon)
    tabled = memory <= LONGEST_TABLED_MEMORY
    return ShortMemory(
        seat.number,
        seat.stream,
        memory,
        agent.temperature,
        int(tabled),
        table(_weights(memory, agent.temperature) if tabled else np.zeros(1)),
        seat.zeros(np.int64),
        seat.zeros(),
        np.zeros(memory, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
    )


def _weights(memory: int, temperature: float) -> NDArray[np.float64]:
    """exp(value - top) for every pair of states of the top and of another cell, as `Softmax` computes it."""
    counts = np.repeat(np.arange(memory + 1), np.arange(memory + 1) + 1)
    sums = np.concatenate([np.arange(n + 1) for n in range(memory + 1)])
    values = (UNKNOWN + sums) / (1.0 + counts) / temperature
    return np.asarray(np.exp(np.minimum(values - values[:, np.newaxis], 0.0)).ravel())
