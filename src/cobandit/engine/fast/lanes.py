"""Lock-step runs: many runs advance together, one lane each, in loops the compiler turns into vector code.

For small Bernoulli problems in which every player is of the UCB family over team actions with first-index ties (the
teams of most of the paper's figures). The trajectories are those of `kernel.play_runs`, bit for bit.

An index is kept as estimate + scale * root, which serves all three variants: a cell never tried has an infinite
estimate and no bonus, or, in the companion's variant, a half and the stand-in for its root. All state lies in flat
arrays, cell by cell and lane by lane, with unsigned positions: signed ones could be negative, and the check for
that would keep the compiler from using vectors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, uint64

from cobandit.engine.fast.codes import COMPANION, FLIPPED, FORESEES, INDEX, PAPER, REPEAT, WINDOW
from cobandit.engine.fast.random import TO_UNIT, seed_streams, uniform
from cobandit.engine.streams import FIRST_OBSERVATION, REWARDS, SETUP

LANES = 64
WORDS_OF_UNIT = 9007199254740992.0
compiled: Any = njit(cache=True, nogil=True, error_model="numpy")
at = np.uintp


@compiled
def threshold(chance: float) -> int:
    """The whole number k for which ``word >> 11 < k`` is the same as ``uniform < chance``."""
    return math.ceil(chance * WORDS_OF_UNIT)


@compiled
def draw(bits: Any, stream: int, words: Any) -> None:
    """The next 53 random bits of one stream in every lane (SFC64)."""
    base = at(4 * LANES * stream)
    for lane in range(LANES):
        here = base + at(lane)
        a, b = bits[here], bits[here + at(LANES)]
        c, d = bits[here + at(2 * LANES)], bits[here + at(3 * LANES)]
        word = a + b + d
        bits[here] = b ^ (b >> uint64(11))
        bits[here + at(LANES)] = c + (c << uint64(3))
        bits[here + at(2 * LANES)] = ((c << uint64(24)) | (c >> uint64(40))) + word
        bits[here + at(3 * LANES)] = d + uint64(1)
        words[at(lane)] = np.int64(word >> uint64(11))


@compiled
def scaled(words: Any, size: int, picks: Any) -> None:
    """``int(uniform * size)`` in every lane."""
    for lane in range(LANES):
        picks[at(lane)] = np.int32((np.uint64(words[at(lane)]) * TO_UNIT) * size)


@compiled
def recall(ring: Any, base: int, oldest: int, ring_size: int, picks: Any, shift: int, code: Any) -> None:
    """Add the arm remembered ``picks`` rounds after the oldest one to the foreseen code."""
    for lane in range(LANES):
        back = oldest + picks[at(lane)]
        back = back - ring_size if back >= ring_size else back
        code[at(lane)] |= np.int64(ring[at(base + back * LANES + lane)]) << shift


@compiled
def contend(each: Any, estimates: Any, spans: Any, i: int, scale: float, shift: int, low: int, chosen: Any) -> None:
    """The own arm of the best index among all cells."""
    base = at(i * len(each) * LANES)
    to = at(i * LANES)
    for lane in range(LANES):
        top = estimates[base + at(lane)] + scale * spans[at(lane)]
        best = 0
        for cell in range(1, len(each)):
            here = at(cell * LANES) + at(lane)
            value = estimates[base + here] + scale * spans[here]
            best = cell if value > top else best
            top = value if value > top else top
        chosen[to + at(lane)] = (best >> shift) & low


@compiled
def contend_foreseen(
    each: Any,
    estimates: Any,
    spans: Any,
    i: int,
    scale: float,
    shift: int,
    low: int,
    mask: int,
    code: Any,
    chosen: Any,
) -> None:
    """The own arm of the best index among the cells whose higher-ranked coordinates are as foreseen."""
    base = at(i * len(each) * LANES)
    to = at(i * LANES)
    for lane in range(LANES):
        foreseen = code[at(lane)]
        top = -math.inf
        best = 0
        for cell in range(len(each)):
            here = at(cell * LANES) + at(lane)
            value = estimates[base + here] + scale * spans[here]
            value = value if foreseen == cell & mask else -math.inf
            best = cell if value > top else best
            top = value if value > top else top
        chosen[to + at(lane)] = (best >> shift) & low


@compiled
def join(ring: Any, slot: int, i: int, shift: int, chosen: Any, played: Any) -> None:
    """One agent's arms into the team actions and into the memory of past arms."""
    to = at(slot * LANES)
    base = at(i * LANES)
    for lane in range(LANES):
        arm = chosen[base + at(lane)]
        played[at(lane)] |= arm << shift
        ring[to + at(lane)] = arm


@compiled
def pay(played: Any, limits: Any, words: Any, reward: Any) -> None:
    """The reward of every lane."""
    for lane in range(LANES):
        limit = limits[at(played[at(lane)] * LANES + lane)]
        reward[at(lane)] = np.float64(words[at(lane)] < limit)


@compiled
def count(played: Any, counts: Any, latest: Any) -> None:
    """One more play of the played cell in every lane."""
    for lane in range(LANES):
        here = at(played[at(lane)] * LANES + lane)
        n = counts[here] + 1.0
        counts[here] = n
        latest[at(lane)] = n


@compiled
def roots_of(latest: Any, fresh: Any) -> None:
    """1 / sqrt(n) in every lane."""
    for lane in range(LANES):
        fresh[at(lane)] = 1.0 / math.sqrt(latest[at(lane)])


@compiled
def look(reward: Any, words: Any, limit: int, otherwise: float, seen: Any) -> None:
    """What an agent sees in every lane."""
    for lane in range(LANES):
        sees = np.float64(words[at(lane)] < limit)
        seen[at(lane)] = sees * reward[at(lane)] + (1.0 - sees) * otherwise


@compiled
def add(base: int, played: Any, sums: Any, seen: Any) -> None:
    """Add what was seen to the played cell's sum, and leave the new sum in ``seen``."""
    for lane in range(LANES):
        here = at(base + played[at(lane)] * LANES + lane)
        s = sums[here] + seen[at(lane)]
        sums[here] = s
        seen[at(lane)] = s


@compiled
def estimate(total: Any, latest: Any, prior: float, fresh: Any) -> None:
    """The mean in every lane; ``prior`` is 1 for the Beta(1, 1) posterior mean, else 0."""
    for lane in range(LANES):
        fresh[at(lane)] = (prior + total[at(lane)]) / (2.0 * prior + latest[at(lane)])


@compiled
def put(base: int, played: Any, target: Any, fresh: Any) -> None:
    """The new number of the played cell of every lane."""
    for lane in range(LANES):
        target[at(base + played[at(lane)] * LANES + lane)] = fresh[at(lane)]


@compiled
def lay_bits(arms: Any, order: Any, shift: Any, low: Any) -> int:
    """Where each agent's coordinate stands in a cell's number, the foremost agent of ``order`` first; how many bits.

    Every agent has room for a power of two of arms; ``low`` masks one coordinate.
    """
    width = 0
    for k in range(order.shape[0] - 1, -1, -1):
        i = order[k]
        shift[i] = width
        while (1 << (width - shift[i])) < arms[i]:
            width += 1
        low[i] = (1 << (width - shift[i])) - 1
    return width


@compiled
def seed_lanes(
    words: Any,
    first_run: int,
    one: Any,
    bits: Any,
    real: Any,
    fixed_means: Any,
    mean_range: Any,
    means: Any,
    limits: Any,
) -> None:
    """The streams and the means of every lane's run; cells that are mere padding get a mean that is never best."""
    setup = np.int64(SETUP)
    for lane in range(LANES):
        seed_streams(words, first_run + lane, one)
        for stream in range(one.shape[0]):
            for word in range(4):
                bits[(4 * stream + word) * LANES + lane] = one[stream, word]
        natural = 0
        for cell in range(real.shape[0]):
            here = cell * LANES + lane
            if not real[cell]:
                means[here] = -1.0
            elif fixed_means.shape[0] > 0:
                means[here] = fixed_means[natural]
                natural += 1
            else:
                means[here] = mean_range[0] + (mean_range[1] - mean_range[0]) * uniform(one, setup)
            limits[here] = threshold(means[here])


@compiled
def spread_gaps(cells: int, means: Any, best: Any) -> None:
    """Turn every lane's means into gaps, mu_* - mu_a."""
    for lane in range(LANES):
        best[at(lane)] = means[at(lane)]
    for cell in range(1, cells):
        for lane in range(LANES):
            mean = means[at(cell * LANES) + at(lane)]
            best[at(lane)] = max(best[at(lane)], mean)
    for cell in range(cells):
        for lane in range(LANES):
            means[at(cell * LANES) + at(lane)] = best[at(lane)] - means[at(cell * LANES) + at(lane)]


@compiled
def keep_regret(cells: int, counts: Any, gaps: Any, lost: Any, out: Any, start: int, point: int) -> None:
    """Sum of n_a (mu_* - mu_a) in row-major order, for every lane that stands for a run."""
    for lane in range(LANES):
        lost[at(lane)] = 0.0
    for cell in range(cells):
        for lane in range(LANES):
            lost[at(lane)] += counts[at(cell * LANES) + at(lane)] * gaps[at(cell * LANES) + at(lane)]
    for lane in range(min(LANES, out.shape[0] - start)):
        out[start + lane, point] = lost[lane]


@compiled
def foresee(
    i: int,
    t: int,
    arms: Any,
    order: Any,
    ranks: Any,
    window: int,
    ring_size: int,
    stream: int,
    bits: Any,
    random: Any,
    picks: Any,
    ring: Any,
    shift: Any,
    code: Any,
) -> None:
    """The foreseen coordinates of all higher-ranked agents, each at its place in the code."""
    for lane in range(LANES):
        code[at(lane)] = 0
    remembered = min(t - 1, window)
    oldest = (t - 1 - remembered) % ring_size
    for rank in range(ranks[i]):
        j = order[rank]
        draw(bits, stream, random)
        if remembered == 0:
            scaled(random, arms[j], picks)
            for lane in range(LANES):
                code[at(lane)] |= picks[at(lane)] << shift[j]
        else:
            scaled(random, remembered, picks)
            recall(ring, j * ring_size * LANES, oldest, ring_size, picks, shift[j], code)


@compiled
def play_lanes(
    each: Any,
    words: Any,
    first_run: int,
    horizon: int,
    arms: Any,
    fixed_means: Any,
    mean_range: Any,
    sight: int,
    levels: Any,
    ranks: Any,
    options: Any,
    scales: Any,
    roots: Any,
    ring_size: int,
    checkpoints: Any,
    out: Any,
) -> None:
    """Play runs ``first_run``, ``first_run + 1``, ... into the rows of ``out``.

    ``each`` is a tuple with one entry per cell, padded to a power of two for each agent: its length is part of
    its type, so loops over cells unroll.
    """
    agents = arms.shape[0]
    cells = len(each)
    order = np.zeros(agents, dtype=np.int64)
    for i in range(agents):
        order[ranks[i]] = i
    # A number of a type, not a constant: the compiler would copy a function for each constant it is given.
    rewards = np.int64(REWARDS)
    choices_row = FIRST_OBSERVATION + agents

    # A cell's number is its coordinates' bits, agent 0's foremost: row-major order, with room up to a power of two.
    shift = np.zeros(agents, dtype=np.int64)
    low = np.zeros(agents, dtype=np.int64)
    mask = np.zeros(agents, dtype=np.int64)
    lay_bits(arms, np.arange(agents), shift, low)
    for i in range(agents):
        for j in range(agents):
            if ranks[j] < ranks[i]:
                mask[i] |= low[j] << shift[j]
    real = np.ones(cells, dtype=np.bool_)
    for cell in range(cells):
        for i in range(agents):
            real[cell] = real[cell] and (cell >> shift[i]) & low[i] < arms[i]
    sight_limits = np.zeros(agents, dtype=np.int64)
    for j in range(agents):
        sight_limits[j] = threshold(levels[j])
    otherwise = 1.0 if sight == FLIPPED else 0.0
    companion = options[0, INDEX] == COMPANION
    prior = 1.0 if companion else 0.0

    one = np.zeros((2 + 2 * agents, 4), dtype=np.uint64)
    bits = np.zeros(4 * (2 + 2 * agents) * LANES, dtype=np.uint64)
    random = np.zeros(LANES, dtype=np.int64)
    picks = np.zeros(LANES, dtype=np.int64)
    gaps = np.zeros(cells * LANES)
    limits = np.zeros(cells * LANES, dtype=np.int64)
    counts = np.zeros(cells * LANES)
    sums = np.zeros(agents * cells * LANES)
    estimates = np.zeros(agents * cells * LANES)
    spans = np.zeros(cells * LANES)
    ring = np.zeros(agents * ring_size * LANES, dtype=np.int64)
    code = np.zeros(LANES, dtype=np.int64)
    chosen = np.zeros(agents * LANES, dtype=np.int64)
    played = np.zeros(LANES, dtype=np.int64)
    latest = np.zeros(LANES)
    reward = np.zeros(LANES)
    total = np.zeros(LANES)
    fresh = np.zeros(LANES)

    for start in range(0, out.shape[0], LANES):
        seed_lanes(words, first_run + start, one, bits, real, fixed_means, mean_range, gaps, limits)
        spread_gaps(cells, gaps, fresh)
        counts[:] = 0.0
        sums[:] = 0.0
        for cell in range(cells):
            for lane in range(LANES):
                spans[cell * LANES + lane] = roots[0] if companion and real[cell] else 0.0
                for i in range(agents):
                    untried = 0.5 if companion else math.inf
                    estimates[(i * cells + cell) * LANES + lane] = untried if real[cell] else -math.inf

        point = 0
        for t in range(1, horizon + 1):
            for i in range(agents):
                foresees = options[i, FORESEES] == 1
                if foresees and ranks[i] == 0 and (t - 1) % options[i, REPEAT] != 0:
                    continue
                if companion and t == 1:
                    draw(bits, choices_row + i, random)
                    scaled(random, arms[i], picks)
                    for lane in range(LANES):
                        chosen[i * LANES + lane] = picks[lane]
                    continue
                scale = scales[i, 0] if options[i, INDEX] == PAPER else scales[i, t]
                if not foresees or ranks[i] == 0:
                    contend(each, estimates, spans, i, scale, shift[i], low[i], chosen)
                    continue
                foresee(
                    i,
                    t,
                    arms,
                    order,
                    ranks,
                    options[i, WINDOW],
                    ring_size,
                    choices_row + i,
                    bits,
                    random,
                    picks,
                    ring,
                    shift,
                    code,
                )
                contend_foreseen(each, estimates, spans, i, scale, shift[i], low[i], mask[i], code, chosen)

            for lane in range(LANES):
                played[lane] = 0
            for i in range(agents):
                join(ring, i * ring_size + (t - 1) % ring_size, i, shift[i], chosen, played)
            draw(bits, rewards, random)
            pay(played, limits, random, reward)
            count(played, counts, latest)
            roots_of(latest, fresh)
            nowhere = np.int64(0)
            put(nowhere, played, spans, fresh)
            for i in range(agents):
                base = i * cells * LANES
                draw(bits, FIRST_OBSERVATION + i, random)
                look(reward, random, sight_limits[i], otherwise, total)
                add(base, played, sums, total)
                estimate(total, latest, prior, fresh)
                put(base, played, estimates, fresh)

            if t == checkpoints[point]:
                keep_regret(cells, counts, gaps, fresh, out, start, point)
                point = min(point + 1, checkpoints.shape[0] - 1)
