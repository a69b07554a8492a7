"""The general compiled round loop: any registered agents, any mix of them, every model of the problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cobandit.engine.fast.choices import (
    beaten,
    best_kept,
    best_of,
    climb,
    compiled,
    fresh_indices,
    gather,
    gradient_values,
    plant,
    posterior_samples,
    private_best,
)
from cobandit.engine.fast.codes import (
    BERNOULLI,
    BLOCK_TS,
    BLOCK_UCB,
    COMPANION,
    FLIPPED,
    FORESEES,
    FRESH,
    GRADIENT,
    INDEX,
    INTERVALS,
    KIND,
    MISSED,
    MISSED_KNOWN,
    NOISE_WEIGHT,
    NOISY,
    ORACLE,
    OWN_UCB,
    PAPER,
    PHASES,
    PRIOR_MEAN,
    PRIOR_WEIGHT,
    RANDOM_TIES,
    REMAINING,
    REPEAT,
    ROLES_RANDOM,
    SCALE,
    SEARCH,
    SWEEPS,
    TOURNAMENT,
    WINDOW,
)
from cobandit.engine.fast.random import normal, seed_streams, uniform
from cobandit.engine.streams import FIRST_OBSERVATION, REWARDS, SETUP


@compiled
def draw_instance(
    streams: Any,
    fixed_means: Any,
    mean_range: Any,
    reward_model: int,
    fixed_spreads: Any,
    spread_range: Any,
    role_rule: int,
    given_ranks: Any,
    means: Any,
    spreads: Any,
    ranks: Any,
) -> None:
    """What nature fixes for one run (`Problem.instance`)."""
    cells = means.shape[0]
    agents = ranks.shape[0]
    setup = np.int64(SETUP)
    for cell in range(cells):
        if fixed_means.shape[0] > 0:
            means[cell] = fixed_means[cell]
        else:
            means[cell] = mean_range[0] + (mean_range[1] - mean_range[0]) * uniform(streams, setup)
    if reward_model != BERNOULLI:
        for cell in range(cells):
            if fixed_spreads.shape[0] > 0:
                spreads[cell] = fixed_spreads[cell]
            else:
                spreads[cell] = spread_range[0] + (spread_range[1] - spread_range[0]) * uniform(streams, setup)
    if role_rule == ROLES_RANDOM:
        order = np.arange(agents)
        for last in range(agents - 1, 0, -1):
            pick = int(uniform(streams, setup) * (last + 1))
            order[last], order[pick] = order[pick], order[last]
        for rank in range(agents):
            ranks[order[rank]] = rank
    else:
        ranks[:] = given_ranks


@compiled
def lay_out(arms: Any, strides: Any, ranks: Any, options: Any, joint: bool, free: Any, free_count: Any) -> None:
    """For each player the cells of its block relative to the foreseen coordinates, in row-major order."""
    agents = arms.shape[0]
    cells = free.shape[1]
    for i in range(options.shape[0]):
        foresees = options[i, FORESEES] == 1 and not joint
        count = 0
        for cell in range(cells):
            inside = True
            if foresees:
                for j in range(agents):
                    if ranks[j] < ranks[i] and (cell // strides[j]) % arms[j] != 0:
                        inside = False
            if inside:
                free[i, count] = cell
                count += 1
        free_count[i] = count


@compiled
def lay_leaves(arms: Any, strides: Any, ranks: Any, leaf_of: Any, shift_of: Any) -> None:
    """The tournament's leaf of every cell: the coordinates' bits, the leader's foremost.

    A block then is a subtree: ``shift_of[i]`` is how far agent i's coordinate is shifted.
    """
    agents = arms.shape[0]
    bits = 0
    for rank in range(agents - 1, -1, -1):
        for i in range(agents):
            if ranks[i] == rank:
                shift_of[i] = bits
                while (1 << (bits - shift_of[i])) < arms[i]:
                    bits += 1
    for cell in range(leaf_of.shape[0]):
        leaf = 0
        for i in range(agents):
            leaf |= ((cell // strides[i]) % arms[i]) << shift_of[i]
        leaf_of[cell] = leaf


@compiled
def regret(counts: Any, means: Any, best: float) -> float:
    """Sum of n_a (mu_* - mu_a) in row-major order (`reference.regret_of`)."""
    total = 0.0
    for cell in range(counts.shape[0]):
        total += counts[cell] * (best - means[cell])
    return total


@compiled
def play_runs(
    words: Any,
    first_run: int,
    horizon: int,
    arms: Any,
    fixed_means: Any,
    mean_range: Any,
    reward_model: int,
    fixed_spreads: Any,
    spread_range: Any,
    sight: int,
    levels: Any,
    role_rule: int,
    given_ranks: Any,
    joint: bool,
    best_observer: int,
    binary: bool,
    options: Any,
    numbers: Any,
    scales: Any,
    bonuses: Any,
    roots: Any,
    steps: Any,
    ring_size: int,
    leaf_bits: int,
    checkpoints: Any,
    out: Any,
    record: bool,
    kept_means: Any,
    kept_ranks: Any,
    kept_actions: Any,
    kept_rewards: Any,
    kept_seen: Any,
    kept_predictions: Any,
) -> None:
    """Play runs ``first_run``, ``first_run + 1``, ... into the rows of ``out``; ``record`` keeps one run's rounds."""
    agents = arms.shape[0]
    players = options.shape[0]
    strides = np.ones(agents, dtype=np.int64)
    for i in range(agents - 2, -1, -1):
        strides[i] = strides[i + 1] * arms[i + 1]
    cells = strides[0] * arms[0]
    own = np.zeros((agents, cells), dtype=np.int32)
    for i in range(agents):
        for cell in range(cells):
            own[i, cell] = (cell // strides[i]) % arms[i]
    # A number of a type, not a constant: the compiler would copy a function for each constant it is given.
    rewards = np.int64(REWARDS)
    choices_row = FIRST_OBSERVATION + agents

    streams = np.zeros((2 + 2 * agents, 4), dtype=np.uint64)
    means = np.empty(cells)
    spreads = np.zeros(cells)
    ranks = np.zeros(agents, dtype=np.int64)
    order = np.zeros(agents, dtype=np.int64)
    plays = np.zeros(cells, dtype=np.int64)
    counts = np.zeros((players, cells), dtype=np.int64)
    sums = np.zeros((players, cells))
    kept = np.empty((players, cells))
    values = np.empty(cells)
    free = np.zeros((players, cells), dtype=np.int64)
    free_count = np.zeros(players, dtype=np.int64)
    ring = np.zeros((agents, ring_size), dtype=np.int64)
    predictions = np.full((players, agents), -1, dtype=np.int64)
    arm = np.zeros(agents, dtype=np.int64)
    seen = np.zeros(agents)

    tournaments = False
    schedules = False
    for i in range(players):
        tournaments = tournaments or (options[i, KIND] == BLOCK_UCB and options[i, SEARCH] == TOURNAMENT)
        schedules = schedules or options[i, KIND] == INTERVALS
    leaf_of = np.zeros(cells if tournaments else 0, dtype=np.int64)
    shift_of = np.zeros(agents, dtype=np.int64)
    first_leaf = 1 << leaf_bits
    grown_tops = np.empty(2 * first_leaf if tournaments else 0)
    grown_winners = np.empty(2 * first_leaf if tournaments else 0, dtype=np.int32)
    tops = np.empty((players if tournaments else 0, 2 * first_leaf))
    winners = np.empty((players if tournaments else 0, 2 * first_leaf), dtype=np.int32)
    summit = np.ones(players, dtype=np.int64)
    below = np.zeros(players, dtype=np.int64)
    active = np.ones((players if schedules else 0, cells), dtype=np.uint8)
    remaining_cells = np.zeros(players, dtype=np.int64)
    scheduled = np.zeros(players, dtype=np.int64)
    phase = np.zeros(players, dtype=np.int64)
    explored = np.zeros(players, dtype=np.int64)
    commitment = np.zeros(players, dtype=np.int64)

    for run in range(out.shape[0]):
        seed_streams(words, first_run + run, streams)
        draw_instance(
            streams,
            fixed_means,
            mean_range,
            reward_model,
            fixed_spreads,
            spread_range,
            role_rule,
            given_ranks,
            means,
            spreads,
            ranks,
        )
        best_cell = 0
        for cell in range(1, cells):
            if means[cell] > means[best_cell]:
                best_cell = cell
        best_mean = means[best_cell]
        for i in range(agents):
            order[ranks[i]] = i
        if run == 0 or role_rule == ROLES_RANDOM:
            lay_out(arms, strides, ranks, options, joint, free, free_count)
            if tournaments:
                lay_leaves(arms, strides, ranks, leaf_of, shift_of)
                plant(leaf_of, first_leaf, grown_tops, grown_winners)
                for i in range(players):
                    below[i] = leaf_bits
                    if options[i, FORESEES] == 1 and not joint:
                        below[i] = shift_of[i]
                        while (1 << (below[i] - shift_of[i])) < arms[i]:
                            below[i] += 1
                    summit[i] = 1 << (leaf_bits - below[i])
        plays[:] = 0
        counts[:] = 0
        sums[:] = 0.0
        kept[:] = math.inf
        predictions[:] = -1
        scheduled[:] = 0
        explored[:] = 0
        phase[:] = 1
        commitment[:] = -1
        if schedules:
            active[:] = 1
            remaining_cells[:] = cells
        if tournaments:
            for i in range(players):
                if options[i, KIND] == BLOCK_UCB and options[i, SEARCH] == TOURNAMENT:
                    tops[i] = grown_tops
                    winners[i] = grown_winners

        at = 0
        slot = -1
        for t in range(1, horizon + 1):
            slot = slot + 1 if slot + 1 < ring_size else 0
            for i in range(players):
                kind = options[i, KIND]
                row = choices_row + i
                ties = options[i, RANDOM_TIES] == 1
                cell = -1
                if kind in (BLOCK_UCB, BLOCK_TS):
                    foresees = options[i, FORESEES] == 1 and not joint
                    if foresees and ranks[i] == 0 and options[i, REPEAT] > 1 and (t - 1) % options[i, REPEAT] != 0:
                        continue
                    if kind == BLOCK_UCB and options[i, INDEX] == COMPANION and t == 1:
                        if joint:
                            for j in range(agents):
                                arm[j] = int(uniform(streams, row) * arms[j])
                        else:
                            arm[i] = int(uniform(streams, row) * arms[i])
                        continue
                    base = 0
                    node = 1
                    if foresees and ranks[i] > 0:
                        remembered = min(t - 1, options[i, WINDOW])
                        oldest = slot - remembered if slot >= remembered else slot - remembered + ring_size
                        leaf = first_leaf
                        for rank in range(ranks[i]):
                            j = order[rank]
                            u = uniform(streams, row)
                            if remembered == 0:
                                foreseen = int(u * arms[j])
                            else:
                                back = oldest + int(u * remembered)
                                foreseen = ring[j, back if back < ring_size else back - ring_size]
                            predictions[i, j] = foreseen
                            base += foreseen * strides[j]
                            leaf |= foreseen << shift_of[j]
                        node = leaf >> below[i]
                    if kind == BLOCK_TS:
                        posterior_samples(
                            binary,
                            numbers[i, PRIOR_MEAN],
                            numbers[i, PRIOR_WEIGHT],
                            numbers[i, NOISE_WEIGHT],
                            counts[i],
                            sums[i],
                            base,
                            free[i],
                            free_count[i],
                            streams,
                            row,
                            steps,
                            values,
                        )
                        cell = base + free[i, best_of(values, free_count[i], ties, streams, row)]
                    elif options[i, SEARCH] == TOURNAMENT:
                        cell = winners[i, node]
                    elif options[i, SEARCH] == FRESH:
                        scale = scales[i, t]
                        fresh_indices(
                            options[i, INDEX],
                            scale,
                            roots,
                            counts[i],
                            sums[i],
                            base,
                            free[i],
                            free_count[i],
                            values,
                        )
                        cell = base + free[i, best_of(values, free_count[i], ties, streams, row)]
                    elif ties:
                        gather(kept[i], base, free[i], free_count[i], values)
                        cell = base + free[i, best_of(values, free_count[i], ties, streams, row)]
                    else:
                        cell = best_kept(kept[i], base, free[i], free_count[i])
                elif kind == OWN_UCB:
                    no_base = np.int64(0)
                    if options[i, INDEX] == COMPANION and t == 1:
                        arm[i] = int(uniform(streams, row) * arms[i])
                    elif options[i, INDEX] == PAPER:
                        arm[i] = best_of(kept[i], arms[i], ties, streams, row)
                    else:
                        fresh_indices(
                            options[i, INDEX],
                            scales[i, t],
                            roots,
                            counts[i],
                            sums[i],
                            no_base,
                            free[i],
                            arms[i],
                            values,
                        )
                        arm[i] = best_of(values, arms[i], ties, streams, row)
                    continue
                elif kind == GRADIENT:
                    remaining = numbers[i, REMAINING]
                    if remaining < 0.0:
                        remaining = float(horizon - t)
                    gradient_values(
                        binary,
                        remaining,
                        numbers[i, PRIOR_MEAN],
                        numbers[i, PRIOR_WEIGHT],
                        numbers[i, NOISE_WEIGHT],
                        counts[i],
                        sums[i],
                        cells,
                        values,
                    )
                    cell = best_of(values, cells, ties, streams, row)
                elif kind == ORACLE:
                    cell = best_cell
                elif kind == INTERVALS:
                    arm[i] = own[i, scheduled[i]]
                    if beaten(counts[i], sums[i], active[i], roots, numbers[i, SCALE], scheduled[i], cells):
                        arm[i] = (arm[i] + 1) % arms[i]
                    continue
                elif kind == PHASES:
                    if explored[i] < options[i, SWEEPS] * phase[i] * cells:
                        cell = explored[i] % cells
                    else:
                        if commitment[i] < 0:
                            commitment[i] = private_best(counts[i], sums[i], cells, ties, streams, row, values)
                        cell = commitment[i]
                if joint:
                    for j in range(agents):
                        arm[j] = own[j, cell]
                else:
                    arm[i] = own[i, cell]

            played = 0
            for j in range(agents):
                played += arm[j] * strides[j]
                ring[j, slot] = arm[j]
            plays[played] += 1

            if reward_model == BERNOULLI:
                reward = 1.0 if uniform(streams, rewards) < means[played] else 0.0
            else:
                reward = means[played] + spreads[played] * normal(streams, rewards)
            for j in range(agents):
                row = FIRST_OBSERVATION + j
                if sight == NOISY:
                    seen[j] = reward + levels[j] * normal(streams, row)
                elif uniform(streams, row) < levels[j]:
                    seen[j] = reward
                else:
                    seen[j] = 0.0 if sight == MISSED else 1.0 if sight == FLIPPED else math.nan

            for i in range(players):
                look = seen[i]
                if joint:
                    look = seen[best_observer]
                    if sight in (MISSED, MISSED_KNOWN):
                        look = 0.0 if sight == MISSED else math.nan
                        for j in range(agents - 1, -1, -1):
                            if (sight == MISSED and seen[j] != 0.0) or (sight == MISSED_KNOWN and seen[j] == seen[j]):
                                look = seen[j]
                kind = options[i, KIND]
                if look == look:
                    where = arm[i] if kind == OWN_UCB else played
                    n = counts[i, where] + 1
                    s = sums[i, where] + look
                    counts[i, where] = n
                    sums[i, where] = s
                    if kind in (BLOCK_UCB, OWN_UCB) and options[i, INDEX] == PAPER:
                        index = s / n + bonuses[i, n]
                        kept[i, where] = index
                        if options[i, SEARCH] == TOURNAMENT and kind == BLOCK_UCB:
                            climb(tops[i], winners[i], first_leaf + leaf_of[where], 2 * summit[i] - 1, index, where)
                if kind == INTERVALS:
                    if played != scheduled[i] and remaining_cells[i] > 1:
                        active[i, scheduled[i]] = 0
                        remaining_cells[i] -= 1
                    following = (scheduled[i] + 1) % cells
                    while active[i, following] == 0:
                        following = (following + 1) % cells
                    scheduled[i] = following
                elif kind == PHASES:
                    if explored[i] < options[i, SWEEPS] * phase[i] * cells:
                        explored[i] += 1
                    elif t & (t - 1) == 0:
                        phase[i] += 1
                        explored[i] = 0
                        commitment[i] = -1

            if record:
                kept_rewards[t - 1] = reward
                for j in range(agents):
                    kept_actions[t - 1, j] = arm[j]
                    kept_seen[t - 1, j] = seen[j]
                for i in range(players):
                    for j in range(agents):
                        kept_predictions[t - 1, i, j] = predictions[i, j]
            if t == checkpoints[at]:
                out[run, at] = regret(plays, means, best_mean)
                at = min(at + 1, checkpoints.shape[0] - 1)
        if record:
            kept_means[:] = means
            kept_ranks[:] = ranks
