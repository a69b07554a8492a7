"""Lock-step runs for larger problems: as `lanes`, with a tournament per agent and lane in place of the scan.

With the paper's index, delta being fixed, a round changes the index of the played cell alone. A tournament keeps the
best cell of every block at hand and is mended along one path, so a round costs the logarithm of the number of
cells. Leaves are numbered by the coordinates' bits, the leader's foremost: then every block is a subtree.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cobandit.engine.fast.choices import settle
from cobandit.engine.fast.codes import FLIPPED, FORESEES, REPEAT, WINDOW
from cobandit.engine.fast.lanes import (
    LANES,
    add,
    at,
    compiled,
    count,
    draw,
    estimate,
    foresee,
    join,
    keep_regret,
    lay_bits,
    look,
    pay,
    seed_lanes,
    spread_gaps,
    threshold,
)
from cobandit.engine.streams import FIRST_OBSERVATION, REWARDS


@compiled
def plant(first: int, agents: int, shift: Any, leaf_shift: Any, low: Any, real: Any, tops: Any, winners: Any) -> None:
    """A tournament in which no cell has been tried: all indices infinite, so the first cell of equals wins.

    Node 1 is the root, the leaves start at ``first``; cells that are mere padding have minus infinity.
    """
    for cell in range(first):
        leaf = first
        for i in range(agents):
            leaf |= ((cell >> shift[i]) & low[i]) << leaf_shift[i]
        tops[leaf] = math.inf if real[cell] else -math.inf
        winners[leaf] = cell
    settle(first, tops, winners)


@compiled
def crown(base: int, size: int, node: Any, winners: Any, shift: int, low: int, chosen: Any, to: int) -> None:
    """The own arm of the winner at each lane's node."""
    for lane in range(LANES):
        winner = np.int64(winners[at(base + lane * size + node[at(lane)])])
        chosen[at(to + lane)] = (winner >> shift) & low


@compiled
def leaves(agents: int, first: int, leaf_shift: Any, chosen: Any, leaf: Any) -> None:
    """The leaf of the played cell in every lane."""
    for lane in range(LANES):
        leaf[at(lane)] = first
    for i in range(agents):
        for lane in range(LANES):
            leaf[at(lane)] |= chosen[at(i * LANES + lane)] << leaf_shift[i]


@compiled
def replay(
    base: int,
    size: int,
    last: int,
    leaf: Any,
    played: Any,
    means: Any,
    latest: Any,
    bonuses: Any,
    tops: Any,
    winners: Any,
) -> None:
    """The played cell's new index in every lane, and the matches it plays up to the level of node ``last``.

    A match whose outcome is as before leaves everything above it as it was.
    """
    for lane in range(LANES):
        tree = base + lane * size
        node = leaf[at(lane)]
        top = means[at(lane)] + bonuses[at(np.int64(latest[at(lane)]))]
        winner = np.int32(played[at(lane)])
        tops[at(tree + node)] = top
        while node > last:
            beside = at(tree + (node ^ 1))
            rival = tops[beside]
            if rival >= top:
                other = winners[beside]
                if rival > top or other < winner:
                    top = rival
                    winner = other
            node >>= 1
            here = at(tree + node)
            if winners[here] == winner and tops[here] == top:
                break
            tops[here] = top
            winners[here] = winner


@compiled
def play_forest(
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
    bonuses: Any,
    ring_size: int,
    checkpoints: Any,
    out: Any,
) -> None:
    """Play runs ``first_run``, ``first_run + 1``, ... into the rows of ``out``."""
    agents = arms.shape[0]
    order = np.zeros(agents, dtype=np.int64)
    for i in range(agents):
        order[ranks[i]] = i
    # A number of a type, not a constant: the compiler would copy a function for each constant it is given.
    rewards = np.int64(REWARDS)
    choices_row = FIRST_OBSERVATION + agents
    shift = np.zeros(agents, dtype=np.int64)
    leaf_shift = np.zeros(agents, dtype=np.int64)
    low = np.zeros(agents, dtype=np.int64)
    width = lay_bits(arms, np.arange(agents), shift, low)
    lay_bits(arms, order, leaf_shift, low)
    cells = 1 << width
    size = 2 * cells
    real = np.ones(cells, dtype=np.bool_)
    for cell in range(cells):
        for i in range(agents):
            real[cell] = real[cell] and (cell >> shift[i]) & low[i] < arms[i]
    # An agent that foresees the higher-ranked looks up a node this many levels above the leaves; others the root.
    below = np.full(agents, width, dtype=np.int64)
    for i in range(agents):
        if options[i, FORESEES] == 1 and ranks[i] > 0:
            below[i] = leaf_shift[order[ranks[i] - 1]]
    sight_limits = np.zeros(agents, dtype=np.int64)
    for j in range(agents):
        sight_limits[j] = threshold(levels[j])
    otherwise = 1.0 if sight == FLIPPED else 0.0
    prior = np.float64(0.0)

    one = np.zeros((2 + 2 * agents, 4), dtype=np.uint64)
    bits = np.zeros(4 * (2 + 2 * agents) * LANES, dtype=np.uint64)
    random = np.zeros(LANES, dtype=np.int64)
    picks = np.zeros(LANES, dtype=np.int64)
    gaps = np.zeros(cells * LANES)
    limits = np.zeros(cells * LANES, dtype=np.int64)
    counts = np.zeros(cells * LANES)
    sums = np.zeros(agents * cells * LANES)
    tops = np.zeros(agents * LANES * size)
    winners = np.zeros(agents * LANES * size, dtype=np.int32)
    grown_tops = np.zeros(size)
    grown_winners = np.zeros(size, dtype=np.int32)
    plant(cells, agents, shift, leaf_shift, low, real, grown_tops, grown_winners)
    ring = np.zeros(agents * ring_size * LANES, dtype=np.int64)
    node = np.zeros(LANES, dtype=np.int64)
    leaf = np.zeros(LANES, dtype=np.int64)
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
        for tree in range(agents * LANES):
            tops[tree * size : (tree + 1) * size] = grown_tops
            winners[tree * size : (tree + 1) * size] = grown_winners

        point = 0
        slot = -1
        for t in range(1, horizon + 1):
            slot = slot + 1 if slot + 1 < ring_size else 0
            for i in range(agents):
                foresees = options[i, FORESEES] == 1
                if foresees and ranks[i] == 0 and options[i, REPEAT] > 1 and (t - 1) % options[i, REPEAT] != 0:
                    continue
                if below[i] < width:
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
                        leaf_shift,
                        node,
                    )
                    for lane in range(LANES):
                        node[at(lane)] = (cells | node[at(lane)]) >> below[i]
                else:
                    for lane in range(LANES):
                        node[at(lane)] = 1
                crown(i * LANES * size, size, node, winners, shift[i], low[i], chosen, i * LANES)

            for lane in range(LANES):
                played[at(lane)] = 0
            for i in range(agents):
                join(ring, i * ring_size + slot, i, shift[i], chosen, played)
            leaves(agents, cells, leaf_shift, chosen, leaf)
            draw(bits, rewards, random)
            pay(played, limits, random, reward)
            count(played, counts, latest)
            for i in range(agents):
                draw(bits, FIRST_OBSERVATION + i, random)
                look(reward, random, sight_limits[i], otherwise, total)
                add(i * cells * LANES, played, sums, total)
                estimate(total, latest, prior, fresh)
                last = (2 << (width - below[i])) - 1
                replay(i * LANES * size, size, last, leaf, played, fresh, latest, bonuses[i], tops, winners)

            if t == checkpoints[point]:
                keep_regret(cells, counts, gaps, fresh, out, start, point)
                point = min(point + 1, checkpoints.shape[0] - 1)
