"""The steps of a round in lock-step: each a loop over lanes that the compiler turns into vector code.

All state is stored cell by cell and lane by lane, behind plain pointers with unsigned positions: signed ones could be
negative, and the check for that would prevent vectorisation. ``each`` is a tuple with one entry per cell, so that loops
over cells unroll. With few cells the played one is selected by comparison with each of them; beyond `FEW_CELLS`
indexing is cheaper. ``team`` has one entry per agent, for the same reason. ``changing`` is None if only the index of
the played cell changes: ``estimates`` are whole indices then.

With few cells the numbers of unplayed cells are stored again unchanged. Between loading and storing such a number
another one is stored: otherwise the compiler generates a masked store, which is slower.

A draw is one of SFC64's, whose fourth word counts the draws of a stream: it is the same in all lanes, so it is passed
as ``counter`` instead of being stored. ``keep`` is 0 for the first agent's part of a code, which starts it, and -1 for
the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numba import int64, uint64

from cobandit.engine.fast.intrinsics import apart, select
from cobandit.engine.fast.random import TO_UNIT, compiled, inlined

if TYPE_CHECKING:
    from cobandit.engine.fast.arrays import Ints, Words
    from cobandit.engine.fast.lockstep.loop import Agents, Lanes
    from cobandit.engine.fast.lockstep.notes import LaneNotes
    from cobandit.engine.fast.protocols import Squads

LANES = 64
FIRST_COUNT = uint64(13)
"""What SFC64's fourth word counts before the first draw: from 1, over the twelve draws of its warm-up."""

FEW_CELLS = 8
SHIFTS = uint64(63)
"""The bits of a number by which a word can be shifted."""

at = np.uintp


@inlined
def next_word(bits: Words, place: np.uintp, counter: np.uint64) -> np.uint64:
    """Return the next 64 bits of the stream of one lane."""
    a, b, c = bits[place], bits[place + at(LANES)], bits[place + at(2 * LANES)]
    word = a + b + counter
    bits[place] = b ^ (b >> uint64(11))
    bits[place + at(LANES)] = c + (c << uint64(3))
    bits[place + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
    return word


@compiled
def foresee_drawn(bits: Words, counter: np.uint64, arms: int, shift: int, keep: int, foreseen: Ints) -> None:
    """Draw an agent's arm for the first round, and put it into a code."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        word = next_word(bits, o, counter)
        arm = int64(np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * arms))
        foreseen[o] = (foreseen[o] & keep) | arm << shift


@compiled
def foresee_remembered(
    bits: Words,
    counter: np.uint64,
    remembered: int,
    ring: Words,
    ring_size: int,
    step: int,
    oldest: int,
    shift: int,
    keep: int,
    foreseen: Ints,
) -> None:
    """Draw a higher-ranked agent's arm of a remembered round, from a ring with one entry every ``step`` words."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        word = next_word(bits, o, counter)
        back = oldest + int64(np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * remembered))
        back = select(back >= ring_size, back - ring_size, back)
        foreseen[o] = (foreseen[o] & keep) | int64(ring[at(back * step + lane)]) << shift


@compiled
def foresee_packed(
    bits: Words,
    counter: np.uint64,
    remembered: int,
    latest: Words,
    shifted: int,
    history: Words,
    width: int,
    low: int,
    shift: int,
    keep: int,
    foreseen: Ints,
) -> None:
    """Draw an arm as above, if all remembered arms are the bits of one word, the latest ones lowest.

    The ``latest`` arms are added first, unless another agent that predicts the same one has done it (``shifted`` is 0).
    """
    apart()
    for lane in range(LANES):
        o = at(lane)
        word = next_word(bits, o, counter)
        arms = history[o]
        arms = select(shifted == 1, arms << (uint64(width) & SHIFTS) | uint64(latest[o]), arms)
        history[o] = arms
        back = remembered - 1 - np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * remembered)
        # Both factors are known to be small, so that it takes one multiplication of half words.
        arm = int64(arms >> (uint64(back) & SHIFTS) * (uint64(width) & SHIFTS)) & low
        foreseen[o] = (foreseen[o] & keep) | arm << shift


@compiled
def remember(chosen: Ints, latest: Words) -> None:
    """Put an agent's arms into their place in the ring."""
    apart()
    for lane in range(LANES):
        latest[at(lane)] = uint64(chosen[at(lane)])


@compiled
def play_round(
    each: Squads,
    team: Squads,
    changing: int | None,
    t: int,
    prior: float,
    agents: Agents,
    lanes: Lanes,
    tally: LaneNotes | None,
) -> None:
    """Play the rest of round t: all arms, one more play of the cell, its reward, all observations and learning.

    An agent that does not decide in this round keeps its arm. ``prior`` is 1 for the Beta(1, 1) mean, else 0. The
    ``tally`` gets the cells of which the arms are parts, unless it is None.
    """
    apart()
    counter = FIRST_COUNT + uint64(t - 1)
    scale_at = t if agents.changes == 1 else 0
    for lane in range(LANES):
        o = at(lane)
        p = int64(0)
        for i in range(len(team)):
            own = o + at(i * LANES)
            first = o + at(i * len(each) * LANES)
            code, mask = lanes.foreseen[own], agents.mask[at(i)]
            top = -math.inf
            best = int64(0)
            for cell in range(len(each)):
                value = lanes.estimates[first + at(cell * LANES)]
                if changing is not None:
                    scale = agents.scales[at(i * agents.scale_step + scale_at)]
                    value = value + scale * lanes.spans[o + at(cell * LANES)]
                value = select(code == cell & mask, value, -math.inf)
                best = select(value > top, int64(cell), best)
                top = select(value > top, value, top)
            arm = (best >> agents.shift[at(i)]) & agents.low[at(i)]
            before = lanes.chosen[own]
            arm = select(lanes.decides[at(i)] == 1, arm, before)
            lanes.chosen[own] = arm
            if tally is not None:
                aimed = tally.aims[own]
                tally.aims[own] = select(lanes.decides[at(i)] == 1, best, aimed)
            p = p | arm << agents.shift[at(i)]
        drawn = int64(next_word(lanes.bits, o, counter) >> uint64(11))
        here = at(p * LANES + lane)
        if len(each) <= FEW_CELLS:
            limit, n = lanes.limits[o], lanes.counts[o]
            for cell in range(1, len(each)):
                other, count = lanes.limits[o + at(cell * LANES)], lanes.counts[o + at(cell * LANES)]
                limit = select(p == cell, other, limit)
                n = select(p == cell, count, n)
            n = n + 1.0
            span = 1.0 / math.sqrt(n)
            for cell in range(len(each)):
                place = o + at(cell * LANES)
                count = lanes.counts[place] + select(p == cell, 1.0, 0.0)
                if changing is not None:
                    known_span = lanes.spans[place]
                lanes.counts[place] = count
                if changing is not None:
                    lanes.spans[place] = select(p == cell, span, known_span)
        else:
            limit = lanes.limits[here]
            n = lanes.counts[here] + 1.0
            lanes.counts[here] = n
            span = 1.0 / math.sqrt(n)
            if changing is not None:
                lanes.spans[here] = span
        reward = select(drawn < limit, 1.0, 0.0)
        for i in range(len(team)):
            row = o + at((i + 1) * 4 * LANES)
            first = at(i * len(each) * LANES)
            word = next_word(lanes.bits, row, counter)
            seen = select(int64(word >> uint64(11)) < agents.limit[at(i)], reward, agents.otherwise)
            if len(each) <= FEW_CELLS:
                s = lanes.sums[first + o]
                for cell in range(1, len(each)):
                    total = lanes.sums[first + o + at(cell * LANES)]
                    s = select(p == cell, total, s)
                s = s + seen
            else:
                s = lanes.sums[first + here] + seen
                lanes.sums[first + here] = s
            beta = (prior + s) / (2.0 * prior + n)  # is left out by the compiler where the index is the paper's
            estimate = s / n + agents.scales[at(i)] * span if changing is None else beta
            if len(each) <= FEW_CELLS:
                for cell in range(len(each)):
                    place = first + o + at(cell * LANES)
                    total = lanes.sums[place] + select(p == cell, seen, 0.0)
                    known = lanes.estimates[place]
                    lanes.sums[place] = total
                    lanes.estimates[place] = select(p == cell, estimate, known)
            else:
                lanes.estimates[first + here] = estimate
