"""The steps of a round in lock-step: each a loop over lanes that the compiler turns into vector code.

All state lies cell by cell and lane by lane, behind plain pointers with unsigned positions: signed ones could be
negative, and the check for that would keep the compiler from using vectors. ``each`` is a tuple with one entry per
cell, so that loops over cells unroll. For few cells the played one is picked by comparing with each of them; beyond
`FEW_CELLS` it is cheaper to go to its place. ``team`` has one entry per agent, likewise. ``changing`` is None where no
index changes but that of the played cell: ``estimates`` are whole indices then.

With few cells the numbers of those not played are stored again as they were. Between loading and storing such a number
another one is stored: else the compiler makes a masked store of it, which is slower.

A draw is one of SFC64's, whose fourth word counts the draws of a stream: it is the same in all lanes, so it is handed
over as ``counter`` instead of being kept. ``keep`` is 0 for the first agent's part of a code, which starts it, and -1
for the others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import int64, uint64

from cobandit.engine.fast.intrinsics import apart, select
from cobandit.engine.fast.random import TO_UNIT, compiled, inlined

LANES = 64
FIRST_COUNT = uint64(13)
"""What SFC64's fourth word counts before the first draw: from 1, over the twelve draws of its warm-up."""

FEW_CELLS = 8
SHIFTS = uint64(63)
"""The bits of a number by which a word can be shifted."""

at = np.uintp


@inlined
def next_word(bits: Any, place: Any, counter: Any) -> Any:
    """The next 64 bits of the stream of one lane."""
    a, b, c = bits[place], bits[place + at(LANES)], bits[place + at(2 * LANES)]
    word = a + b + counter
    bits[place] = b ^ (b >> uint64(11))
    bits[place + at(LANES)] = c + (c << uint64(3))
    bits[place + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
    return word


@compiled
def foresee_drawn(bits: Any, counter: Any, arms: int, shift: int, keep: int, foreseen: Any) -> None:
    """An agent's arm by a draw, for the first round, put into a code."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        word = next_word(bits, o, counter)
        arm = int64(np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * arms))
        foreseen[o] = (foreseen[o] & keep) | arm << shift


@compiled
def foresee_remembered(
    bits: Any,
    counter: Any,
    remembered: int,
    ring: Any,
    ring_size: int,
    step: int,
    oldest: int,
    shift: int,
    keep: int,
    foreseen: Any,
) -> None:
    """A higher-ranked agent's arm of a remembered round, from a ring in which they come every ``step`` words."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        word = next_word(bits, o, counter)
        back = oldest + int64(np.int32((np.float64(word >> uint64(11)) * TO_UNIT) * remembered))
        back = select(back >= ring_size, back - ring_size, back)
        foreseen[o] = (foreseen[o] & keep) | int64(ring[at(back * step + lane)]) << shift


@compiled
def foresee_packed(
    bits: Any,
    counter: Any,
    remembered: int,
    latest: Any,
    shifted: int,
    history: Any,
    width: int,
    low: int,
    shift: int,
    keep: int,
    foreseen: Any,
) -> None:
    """The same where all remembered arms are the bits of one word, the latest ones lowest.

    The ``latest`` arms are put there first, unless somebody who foresees the same agent has done it (``shifted`` is 0).
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
def remember(chosen: Any, latest: Any) -> None:
    """Put an agent's arms into their place in the ring."""
    apart()
    for lane in range(LANES):
        latest[at(lane)] = uint64(chosen[at(lane)])


@compiled
def play_round(each: Any, team: Any, changing: Any, t: int, prior: float, agents: Any, lanes: Any, tally: Any) -> None:
    """What is left of round t: everybody's arm, one more play of the cell, its reward, what each sees and learns.

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
