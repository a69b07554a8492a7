"""The steps of a round in lock-step: each a loop over lanes that the compiler turns into vector code.

All state lies cell by cell and lane by lane, behind plain pointers with unsigned positions: signed ones could be
negative, and the check for that would keep the compiler from using vectors. ``each`` is a tuple with one entry per
cell, so that loops over cells unroll. For few cells the played one is picked by comparing with each of them; beyond
`FEW_CELLS` it is cheaper to go to its place. ``team`` has one entry per agent, likewise. ``spans`` is None where no
index changes but that of the played cell: ``estimates`` are whole indices then.

A draw is one of SFC64's, whose fourth word counts the draws of a stream: it is the same in all lanes, so it is handed
over as ``counter`` instead of being kept. ``keep`` is 0 for the first agent's part of a code, which starts it, and -1
for the others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import int64, uint64

from cobandit.engine.fast.pointers import apart, select
from cobandit.engine.fast.random import TO_UNIT, compiled

LANES = 64
FEW_CELLS = 8
at = np.uintp


@compiled
def choose_freely(each: Any, estimates: Any, spans: Any, scale: float, shift: int, low: int, chosen: Any) -> None:
    """The own arm of the best index among all cells."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        top = estimates[o]
        if spans is not None:
            top = top + scale * spans[o]
        best = int64(0)
        for cell in range(1, len(each)):
            here = o + at(cell * LANES)
            value = estimates[here]
            if spans is not None:
                value = value + scale * spans[here]
            best = select(value > top, int64(cell), best)
            top = select(value > top, value, top)
        chosen[o] = (best >> shift) & low


@compiled
def choose_foreseen(
    each: Any,
    estimates: Any,
    spans: Any,
    scale: float,
    shift: int,
    low: int,
    mask: int,
    foreseen: Any,
    chosen: Any,
) -> None:
    """The own arm of the best index among the cells whose higher-ranked coordinates are as foreseen."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        code = foreseen[o]
        top = -math.inf
        best = int64(0)
        for cell in range(len(each)):
            here = o + at(cell * LANES)
            value = estimates[here]
            if spans is not None:
                value = value + scale * spans[here]
            value = select(code == cell & mask, value, -math.inf)
            best = select(value > top, int64(cell), best)
            top = select(value > top, value, top)
        chosen[o] = (best >> shift) & low


@compiled
def draw_arms(bits: Any, counter: Any, arms: int, chosen: Any) -> None:
    """An own arm by a draw."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        a, b, c = bits[o], bits[o + at(LANES)], bits[o + at(2 * LANES)]
        word = a + b + counter
        bits[o] = b ^ (b >> uint64(11))
        bits[o + at(LANES)] = c + (c << uint64(3))
        bits[o + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
        chosen[o] = int64(np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * arms))


@compiled
def foresee_drawn(bits: Any, counter: Any, arms: int, shift: int, keep: int, foreseen: Any) -> None:
    """A higher-ranked agent's arm by a draw, for the first round, put into the foreseen code."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        a, b, c = bits[o], bits[o + at(LANES)], bits[o + at(2 * LANES)]
        word = a + b + counter
        bits[o] = b ^ (b >> uint64(11))
        bits[o + at(LANES)] = c + (c << uint64(3))
        bits[o + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
        arm = int64(np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * arms))
        foreseen[o] = (foreseen[o] & keep) | arm << shift


@compiled
def foresee_remembered(
    bits: Any,
    counter: Any,
    remembered: int,
    ring: Any,
    ring_size: int,
    oldest: int,
    shift: int,
    keep: int,
    foreseen: Any,
) -> None:
    """A higher-ranked agent's arm of a remembered round, from a ring of its latest arms."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        a, b, c = bits[o], bits[o + at(LANES)], bits[o + at(2 * LANES)]
        word = a + b + counter
        bits[o] = b ^ (b >> uint64(11))
        bits[o + at(LANES)] = c + (c << uint64(3))
        bits[o + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
        back = oldest + int64(np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * remembered))
        back = select(back >= ring_size, back - ring_size, back)
        foreseen[o] = (foreseen[o] & keep) | int64(ring[at(back * LANES + lane)]) << shift


@compiled
def join_arms(chosen: Any, shift: int, keep: int, slot: int, ring: Any, played: Any) -> None:
    """One agent's arms into the team actions and into the ring of its latest arms."""
    apart()
    to = at(slot * LANES)
    for lane in range(LANES):
        o = at(lane)
        arm = chosen[o]
        played[o] = (played[o] & keep) | arm << shift
        ring[to + o] = uint64(arm)


@compiled
def settle(
    each: Any,
    team: Any,
    bits: Any,
    counter: Any,
    played: Any,
    limits: Any,
    sees: Any,
    scales: Any,
    otherwise: float,
    prior: float,
    counts: Any,
    spans: Any,
    sums: Any,
    estimates: Any,
) -> None:
    """The reward of every lane, one more play of its cell, what each agent sees and its new estimate.

    ``sees`` are the agents' limits for seeing it; ``prior`` is 1 for the Beta(1, 1) mean, else 0.
    """
    apart()
    for lane in range(LANES):
        o = at(lane)
        a, b, c = bits[o], bits[o + at(LANES)], bits[o + at(2 * LANES)]
        word = a + b + counter
        bits[o] = b ^ (b >> uint64(11))
        bits[o + at(LANES)] = c + (c << uint64(3))
        bits[o + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
        drawn = int64(word >> uint64(11))
        p = played[o]
        here = at(p * LANES + lane)
        if len(each) <= FEW_CELLS:
            limit, n = limits[o], counts[o]
            for cell in range(1, len(each)):
                other, count = limits[o + at(cell * LANES)], counts[o + at(cell * LANES)]
                limit = select(p == cell, other, limit)
                n = select(p == cell, count, n)
            n = n + 1.0
            span = 1.0 / math.sqrt(n)
            for cell in range(len(each)):
                count = counts[o + at(cell * LANES)]
                counts[o + at(cell * LANES)] = select(p == cell, n, count)
                if spans is not None:
                    kept = spans[o + at(cell * LANES)]
                    spans[o + at(cell * LANES)] = select(p == cell, span, kept)
        else:
            limit = limits[here]
            n = counts[here] + 1.0
            counts[here] = n
            span = 1.0 / math.sqrt(n)
            if spans is not None:
                spans[here] = span
        reward = select(drawn < limit, 1.0, 0.0)
        for i in range(len(team)):
            row = o + at((i + 1) * 4 * LANES)
            first = at(i * len(each) * LANES)
            a, b, c = bits[row], bits[row + at(LANES)], bits[row + at(2 * LANES)]
            word = a + b + counter
            bits[row] = b ^ (b >> uint64(11))
            bits[row + at(LANES)] = c + (c << uint64(3))
            bits[row + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
            seen = select(int64(word >> uint64(11)) < sees[at(i)], reward, otherwise)
            if len(each) <= FEW_CELLS:
                s = sums[first + o]
                for cell in range(1, len(each)):
                    other_sum = sums[first + o + at(cell * LANES)]
                    s = select(p == cell, other_sum, s)
            else:
                s = sums[first + here]
            s = s + seen
            estimate = (prior + s) / (2.0 * prior + n)
            if spans is None:
                estimate = estimate + scales[at(i)] * span
            if len(each) <= FEW_CELLS:
                for cell in range(len(each)):
                    place = first + o + at(cell * LANES)
                    total, known = sums[place], estimates[place]
                    sums[place] = select(p == cell, s, total)
                    estimates[place] = select(p == cell, estimate, known)
            else:
                sums[first + here] = s
                estimates[first + here] = estimate
