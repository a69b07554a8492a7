"""How each kind of player chooses, compiled. Every function mirrors the agent of the same algorithm in `agents`.

A *block* is the part of the team actions in which the foreseen coordinates are as foreseen: the cells
``base + free[k]`` in row-major order. Every search returns a cell; a player plays its own coordinate of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from cobandit.engine.fast.codes import ANYTIME
from cobandit.engine.fast.random import beta, normal, uniform

compiled: Any = njit(cache=True, nogil=True)


@compiled
def tied(values: Any, count: int, top: float, streams: Any, row: int) -> int:
    """Which of the first ``count`` values that equal ``top`` wins at random; no draw where there is but one."""
    equals = 0
    first = -1
    for k in range(count):
        if values[k] == top:
            if equals == 0:
                first = k
            equals += 1
    if equals == 1:
        return first
    pick = int(uniform(streams, row) * equals)
    for k in range(count):
        if values[k] == top:
            if pick == 0:
                return k
            pick -= 1
    return first


@compiled
def best_of(values: Any, count: int, random_ties: bool, streams: Any, row: int) -> Any:
    """Where the largest of the first ``count`` values stands."""
    at = 0
    top = values[0]
    for k in range(1, count):
        if values[k] > top:
            top = values[k]
            at = k
    return tied(values, count, top, streams, row) if random_ties else at


@compiled
def best_kept(kept: Any, base: int, free: Any, count: int) -> Any:
    """The cell of the best kept index of a block, the first one of equals."""
    at = base + free[0]
    top = kept[at]
    for k in range(1, count):
        cell = base + free[k]
        if kept[cell] > top:
            top = kept[cell]
            at = cell
    return at


@compiled
def gather(kept: Any, base: int, free: Any, count: int, values: Any) -> None:
    """The kept indices of a block, one after another."""
    for k in range(count):
        values[k] = kept[base + free[k]]


@compiled
def fresh_indices(
    variant: int, scale: float, roots: Any, counts: Any, sums: Any, base: int, free: Any, count: int, values: Any
) -> None:
    """The time-varying indices of a block (`UpperConfidence.indices`)."""
    for k in range(count):
        cell = base + free[k]
        n = counts[cell]
        if variant == ANYTIME:
            values[k] = math.inf if n == 0 else sums[cell] / n + scale * roots[n]
        else:
            values[k] = (1.0 + sums[cell]) / (2.0 + n) + scale * roots[n]


@compiled
def posterior_samples(
    binary: bool,
    prior_mean: float,
    prior_weight: float,
    noise_weight: float,
    counts: Any,
    sums: Any,
    base: int,
    free: Any,
    count: int,
    streams: Any,
    row: int,
    steps: Any,
    values: Any,
) -> None:
    """One posterior draw for each cell of a block (`Posterior.sample`)."""
    for k in range(count):
        cell = base + free[k]
        n, s = counts[cell], sums[cell]
        if binary:
            values[k] = beta(streams, row, 1.0 + s, 1.0 + n - s, steps)
        else:
            precision = prior_weight + n * noise_weight
            mean = (prior_mean * prior_weight + s * noise_weight) / precision
            values[k] = mean + math.sqrt(1.0 / precision) * normal(streams, row)


@compiled
def gradient_values(
    binary: bool,
    remaining: float,
    prior_mean: float,
    prior_weight: float,
    noise_weight: float,
    counts: Any,
    sums: Any,
    cells: int,
    values: Any,
) -> None:
    """Posterior mean plus remaining rounds times knowledge gradient, for every cell (`KnowledgeGradient`)."""
    top, second, at = -math.inf, -math.inf, 0
    for cell in range(cells):
        if binary:
            mean = (1.0 + sums[cell]) / (2.0 + counts[cell])
        else:
            precision = prior_weight + counts[cell] * noise_weight
            mean = (prior_mean * prior_weight + sums[cell] * noise_weight) / precision
        values[cell] = mean
        if mean > top:
            top, second, at = mean, top, cell
        elif mean > second:
            second = mean
    for cell in range(cells):
        mean = values[cell]
        rival = second if cell == at else top
        if binary:
            ones, total = 1.0 + sums[cell], 2.0 + counts[cell]
            after_one = max((ones + 1.0) / (total + 1.0), rival)
            after_zero = max(ones / (total + 1.0), rival)
            rise = mean * after_one + (1.0 - mean) * after_zero - max(mean, rival)
        else:
            precision = prior_weight + counts[cell] * noise_weight
            spread = math.sqrt(noise_weight / (precision * (precision + noise_weight)))
            distance = abs(mean - rival) / spread
            density = math.exp(-0.5 * distance * distance) / math.sqrt(2.0 * math.pi)
            tail = 0.5 * math.erfc(distance / math.sqrt(2.0))
            rise = 0.0 if math.isinf(distance) else spread * (density - distance * tail)
        values[cell] = mean + remaining * rise


@compiled
def beaten(counts: Any, sums: Any, active: Any, roots: Any, scale: float, scheduled: int, cells: int) -> bool:
    """Whether the scheduled cell's interval lies wholly below that of another active cell (`MUCBIntervals`)."""
    n = counts[scheduled]
    if n == 0:
        return False
    upper = sums[scheduled] / n + scale * roots[n]
    for cell in range(cells):
        m = counts[cell]
        if active[cell] and m > 0 and upper < sums[cell] / m - scale * roots[m]:
            return True
    return False


@compiled
def private_best(counts: Any, sums: Any, cells: int, random_ties: bool, streams: Any, row: int, values: Any) -> Any:
    """The cell of the best mean of the own seen rewards (`MDSEE`)."""
    for cell in range(cells):
        values[cell] = sums[cell] / counts[cell] if counts[cell] > 0 else -math.inf
    return best_of(values, cells, random_ties, streams, row)


@compiled
def settle(first: int, tops: Any, winners: Any) -> None:
    """Play all matches above the leaves, which start at ``first``; of equals the first cell wins."""
    for node in range(first - 1, 0, -1):
        left, right = 2 * node, 2 * node + 1
        wins = tops[left] > tops[right] or (tops[left] == tops[right] and winners[left] < winners[right])
        tops[node] = tops[left] if wins else tops[right]
        winners[node] = winners[left] if wins else winners[right]


@compiled
def plant(leaf_of: Any, first: int, tops: Any, winners: Any) -> None:
    """A tournament in which no cell has been tried: all indices infinite, so the first cell of equals wins.

    Node 1 is the root, the leaves start at ``first``; leaves that stand for no cell have minus infinity.
    """
    for node in range(first, 2 * first):
        tops[node] = -math.inf
        winners[node] = np.int32(2147483647)
    for cell in range(leaf_of.shape[0]):
        node = first + leaf_of[cell]
        tops[node] = math.inf
        winners[node] = np.int32(cell)
    settle(first, tops, winners)


@compiled
def climb(tops: Any, winners: Any, leaf: int, last: int, value: float, cell: int) -> None:
    """Put a cell's new index into the tournament and replay its matches up to the level of node ``last``.

    A match whose outcome is as before leaves everything above it as it was.
    """
    node = leaf
    top = value
    winner = np.int32(cell)
    tops[node] = top
    while node > last:
        rival = tops[node ^ 1]
        if rival > top or (rival == top and winners[node ^ 1] < winner):
            top = rival
            winner = winners[node ^ 1]
        node >>= 1
        if winners[node] == winner and tops[node] == top:
            break
        tops[node] = top
        winners[node] = winner
