"""How one of the two players of a study chooses and learns, compiled: registered agents and simulated people.

A study has two *places*, the participant's (0) and the AI's (1), and three *seats*: the participant, the AI, and the
simulated partner of the warm start, who sits at the participant's place before the participant comes. The searches are
those of `choices`; the three people mirror ``studies/behaviours.py``. Rewards are always 0 or 1 here.

A player is a row of ``options``, ``numbers``, ``scales`` and ``bonuses``; a seat is a row of what is remembered:
``counts``, ``sums`` and ``kept`` indices of its cells, ``active`` cells of a schedule, ``notes``, the other's ``past``
arms, and the ``trail`` of seen rounds as 2 cell + reward. ``own[place, cell]`` is the arm of a place in a cell. The
cells of a player's block, the other's arm foreseen, are ``base + lines[place]``; ``lines[2]`` holds all cells.
``values`` is paper to reckon on. All of it is put into the round loop before compiling: to hand over so many arrays
would cost more than what is done with them.
Paper: Experiments, Procedure; Online Casino Study, Procedure.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cobandit.engine.fast.choices import (
    beaten,
    best_kept,
    best_of,
    fresh_indices,
    gather,
    gradient_values,
    posterior_samples,
    private_best,
)
from cobandit.engine.fast.codes import (
    BLOCK_TS,
    BLOCK_UCB,
    COMPANION,
    FORESEES,
    FRESH,
    GRADIENT,
    INDEX,
    INTERVALS,
    INTS,
    KIND,
    MEMORY,
    NOISE_WEIGHT,
    ORACLE,
    OWN_UCB,
    PAPER,
    PHASES,
    PRIOR_MEAN,
    PRIOR_WEIGHT,
    RANDOM_TIES,
    REMAINING,
    REPEAT,
    SCALE,
    SEARCH,
    SLIP,
    SOFTMAX,
    STAY_OR_SHIFT,
    SWEEPS,
    TEMPERATURE,
    WINDOW,
)
from cobandit.engine.fast.random import compiled, inlined, uniform

SEATS = 3
PARTICIPANT, AI, WARM = range(SEATS)

# Columns of a player's whole-number options that studies add to those of `codes`; TABLE is where its weights start.
PLACE, OWN_ARMS, OTHER_ARMS, RANK, HORIZON, TABLE, COLUMNS = range(INTS, INTS + 7)

# Columns of a seat's notes.
ARM, FORESEEN, WON, SEEN, LEFT, SCHEDULED, PHASE, EXPLORED, COMMITMENT, NOTES = range(10)

UNKNOWN = 0.5
"""What people take a configuration to be worth before they ever saw it."""


@compiled
def forget(counts: Any, sums: Any, kept: Any, active: Any, notes: Any) -> None:
    """Every seat as it is before its first round (`Agent.reset`)."""
    counts[:] = 0
    sums[:] = 0.0
    kept[:] = math.inf
    active[:] = 1
    notes[:] = 0
    for seat in range(SEATS):
        notes[seat, ARM] = -1
        notes[seat, FORESEEN] = -1
        notes[seat, WON] = 1
        notes[seat, LEFT] = counts.shape[1]
        notes[seat, PHASE] = 1
        notes[seat, COMMITMENT] = -1


@inlined
def softmax_cell(
    options: Any,
    numbers: Any,
    weights: Any,
    counts: Any,
    sums: Any,
    values: Any,
    player: int,
    seat: int,
    streams: Any,
    row: int,
) -> Any:
    """The configuration that `Softmax` aims at, given what it remembers of each.

    n remembered rounds of which s were good are state n (n + 1) / 2 + s; the table holds exp(value - top) for every
    state of the top and of another one, as NumPy computes it.
    """
    cells = values.shape[0]
    temperature = numbers[player, TEMPERATURE]
    top = -math.inf
    at = 0
    for cell in range(cells):
        values[cell] = (UNKNOWN + sums[seat, cell]) / (1.0 + counts[seat, cell]) / temperature
        if values[cell] > top:
            top = values[cell]
            at = cell
    start = options[player, TABLE]
    memory = options[player, MEMORY]
    n = counts[seat, at]
    line = start + (memory + 1) * (memory + 2) // 2 * (n * (n + 1) // 2 + np.int64(sums[seat, at]))
    total = 0.0
    for cell in range(cells):
        if start < 0:
            total += math.exp(values[cell] - top)
        else:
            n = counts[seat, cell]
            total += weights[line + n * (n + 1) // 2 + np.int64(sums[seat, cell])]
        values[cell] = total
    aim = uniform(streams, row) * total
    for cell in range(cells - 1):
        if values[cell] > aim:
            return cell
    return cells - 1


@inlined
def person_arm(
    options: Any,
    numbers: Any,
    own: Any,
    weights: Any,
    counts: Any,
    sums: Any,
    notes: Any,
    values: Any,
    player: int,
    seat: int,
    streams: Any,
    row: int,
) -> Any:
    """The arm of a simulated person (``studies/behaviours.py``)."""
    kind = options[player, KIND]
    arms = options[player, OWN_ARMS]
    if kind == SOFTMAX:
        cell = softmax_cell(options, numbers, weights, counts, sums, values, player, seat, streams, row)
        return own[options[player, PLACE], cell]
    slip = numbers[player, SLIP]
    if kind == STAY_OR_SHIFT:
        last = notes[seat, ARM]
        if last < 0 or uniform(streams, row) < slip:
            return np.int64(uniform(streams, row) * arms)
        if notes[seat, WON] == 1 or arms == 1:
            return last
        return (last + 1 + np.int64(uniform(streams, row) * (arms - 1))) % arms
    if uniform(streams, row) < slip:
        return np.int64(uniform(streams, row) * arms)
    cells = values.shape[0]
    for cell in range(cells):
        values[cell] = (sums[seat, cell] + UNKNOWN) / (counts[seat, cell] + 1.0)
    return own[options[player, PLACE], best_of(values, cells, True, streams, row)]


@inlined
def choose(
    options: Any,
    numbers: Any,
    scales: Any,
    roots: Any,
    steps: Any,
    weights: Any,
    own: Any,
    lines: Any,
    counts: Any,
    sums: Any,
    kept: Any,
    active: Any,
    notes: Any,
    past: Any,
    values: Any,
    player: int,
    seat: int,
    t: int,
    best_cell: Any,
    streams: Any,
    row: int,
) -> Any:
    """The arm of a player in its own round ``t`` (`Agent.choose`); what it foresaw is left in its notes."""
    kind = options[player, KIND]
    if kind >= SOFTMAX:
        return person_arm(options, numbers, own, weights, counts, sums, notes, values, player, seat, streams, row)
    place = options[player, PLACE]
    arms = options[player, OWN_ARMS]
    cells = values.shape[0]
    ties = options[player, RANDOM_TIES] == 1
    cell = np.int64(0)
    if kind in (BLOCK_UCB, BLOCK_TS):
        foresees = options[player, FORESEES] == 1
        leads = options[player, RANK] == 0
        if foresees and leads and options[player, REPEAT] > 1 and (t - 1) % options[player, REPEAT] != 0:
            return notes[seat, ARM]
        if kind == BLOCK_UCB and options[player, INDEX] == COMPANION and t == 1:
            return np.int64(uniform(streams, row) * arms)
        base = np.int64(0)
        line = np.int64(2)
        size = cells
        if foresees and not leads:
            remembered = min(t - 1, options[player, WINDOW])
            u = uniform(streams, row)
            if remembered == 0:
                foreseen = np.int64(u * options[player, OTHER_ARMS])
            else:
                foreseen = past[seat, t - 1 - remembered + np.int64(u * remembered)]
            notes[seat, FORESEEN] = foreseen
            base = lines[1 - place, foreseen]
            line = place
            size = arms
        if kind == BLOCK_TS:
            posterior_samples(
                True,
                numbers[player, PRIOR_MEAN],
                numbers[player, PRIOR_WEIGHT],
                numbers[player, NOISE_WEIGHT],
                counts[seat],
                sums[seat],
                base,
                lines[line],
                size,
                streams,
                row,
                steps,
                values,
            )
            cell = base + lines[line, best_of(values, size, ties, streams, row)]
        elif options[player, SEARCH] == FRESH:
            fresh_indices(
                options[player, INDEX],
                scales[player, t],
                roots,
                counts[seat],
                sums[seat],
                base,
                lines[line],
                size,
                values,
            )
            cell = base + lines[line, best_of(values, size, ties, streams, row)]
        elif ties:
            gather(kept[seat], base, lines[line], size, values)
            cell = base + lines[line, best_of(values, size, ties, streams, row)]
        else:
            cell = best_kept(kept[seat], base, lines[line], size)
    elif kind == OWN_UCB:
        if options[player, INDEX] == COMPANION and t == 1:
            return np.int64(uniform(streams, row) * arms)
        if options[player, INDEX] == PAPER:
            return best_of(kept[seat], arms, ties, streams, row)
        no_base = np.int64(0)
        fresh_indices(
            options[player, INDEX],
            scales[player, t],
            roots,
            counts[seat],
            sums[seat],
            no_base,
            lines[2],
            arms,
            values,
        )
        return best_of(values, arms, ties, streams, row)
    elif kind == GRADIENT:
        remaining = numbers[player, REMAINING]
        if remaining < 0.0:
            remaining = float(options[player, HORIZON] - t)
        gradient_values(
            True,
            remaining,
            numbers[player, PRIOR_MEAN],
            numbers[player, PRIOR_WEIGHT],
            numbers[player, NOISE_WEIGHT],
            counts[seat],
            sums[seat],
            cells,
            values,
        )
        cell = best_of(values, cells, ties, streams, row)
    elif kind == ORACLE:
        cell = best_cell
    elif kind == INTERVALS:
        cell = notes[seat, SCHEDULED]
        if beaten(counts[seat], sums[seat], active[seat], roots, numbers[player, SCALE], cell, cells):
            return (own[place, cell] + 1) % arms
    elif notes[seat, EXPLORED] < options[player, SWEEPS] * notes[seat, PHASE] * cells:
        cell = notes[seat, EXPLORED] % cells
    else:
        if notes[seat, COMMITMENT] < 0:
            notes[seat, COMMITMENT] = private_best(counts[seat], sums[seat], cells, ties, streams, row, values)
        cell = notes[seat, COMMITMENT]
    return own[place, cell]


@inlined
def learn(
    options: Any,
    bonuses: Any,
    own: Any,
    counts: Any,
    sums: Any,
    kept: Any,
    active: Any,
    notes: Any,
    past: Any,
    trail: Any,
    player: int,
    seat: int,
    t: int,
    played: int,
    look: float,
) -> None:
    """What a player makes of its own round ``t`` (`Agent.observe`); ``look`` is NaN where it knows it saw nothing."""
    kind = options[player, KIND]
    place = options[player, PLACE]
    arm = own[place, played]
    notes[seat, ARM] = arm
    past[seat, t - 1] = own[1 - place, played]
    if look == look:
        where = arm if kind == OWN_UCB else played
        n = counts[seat, where] + 1
        s = sums[seat, where] + look
        counts[seat, where] = n
        sums[seat, where] = s
        if kind in (BLOCK_UCB, OWN_UCB):
            if options[player, INDEX] == PAPER:
                kept[seat, where] = s / n + bonuses[player, n]
        elif kind == STAY_OR_SHIFT:
            # Of rewards that are 0 or 1 none above 0 is below the mean.
            notes[seat, WON] = 1 if look > 0.0 else 0
        elif kind == SOFTMAX:
            latest = notes[seat, SEEN]
            trail[seat, latest] = 2 * played + np.int64(look)
            notes[seat, SEEN] = latest + 1
            if latest >= options[player, MEMORY]:
                oldest = trail[seat, latest - options[player, MEMORY]]
                counts[seat, oldest >> 1] -= 1
                sums[seat, oldest >> 1] -= oldest & 1
    if kind == INTERVALS:
        scheduled = notes[seat, SCHEDULED]
        if played != scheduled and notes[seat, LEFT] > 1:
            active[seat, scheduled] = 0
            notes[seat, LEFT] -= 1
        scheduled = (scheduled + 1) % counts.shape[1]
        while active[seat, scheduled] == 0:
            scheduled = (scheduled + 1) % counts.shape[1]
        notes[seat, SCHEDULED] = scheduled
    elif kind == PHASES:
        if notes[seat, EXPLORED] < options[player, SWEEPS] * notes[seat, PHASE] * counts.shape[1]:
            notes[seat, EXPLORED] += 1
        elif t & (t - 1) == 0:
            notes[seat, PHASE] += 1
            notes[seat, EXPLORED] = 0
            notes[seat, COMMITMENT] = -1
