"""The round loop in lock-step."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import types, uint64
from numpy.typing import NDArray

from cobandit.engine.fast.arrays import Floats, Ints, Words
from cobandit.engine.fast.caching import compiled_loop, with_vectors
from cobandit.engine.fast.dispatch import overload
from cobandit.engine.fast.intrinsics import from_entry
from cobandit.engine.fast.lockstep.notes import begin_notes, collect, keep_notes, note_events
from cobandit.engine.fast.lockstep.steps import (
    FIRST_COUNT,
    LANES,
    foresee_drawn,
    foresee_packed,
    foresee_remembered,
    play_round,
    remember,
)
from cobandit.engine.fast.pipeline import PART_OPTIONS
from cobandit.engine.fast.protocols import Code, Squads
from cobandit.engine.fast.random import inlined
from cobandit.engine.fast.rows import Tag, tuple_at


class Agents(NamedTuple):
    """The agents' options: arrays with one number each.

    A cell's number consists of its coordinates' bits, agent 0's first, with bits for a power of two of arms: those at
    ``shift``, ``width`` of them, masked by ``low``. ``mask`` has the bits of all that rank higher, ``higher`` is the
    number of agents that an agent predicts, ``foreseer`` the first that predicts an agent (-1: none). With ``packed`` =
    1 all remembered arms of an agent are the bits of one word, instead of the ring. ``aim_at`` and ``code_at`` are the
    positions of an agent's aim and of its predictions in the events of a round.
    """

    arms: Ints
    shift: Ints
    low: Ints
    mask: Ints
    order: Ints
    higher: Ints
    width: Ints
    foreseer: Ints
    window: Ints
    repeat: Ints
    scales: Floats
    limit: Ints
    aim_at: Ints
    code_at: Ints
    ring_size: int
    count: Any
    packed: int
    scale_step: int
    changes: int
    otherwise: float


class Lanes(NamedTuple):
    """The state of all lanes: ``LANES`` numbers for each stream word, cell, agent or agent and cell.

    ``decides`` has one number for each agent: whether it decides in the current round.
    """

    bits: Words
    ring: Words
    limits: Ints
    counts: Floats
    spans: Floats
    sums: Floats
    estimates: Floats
    gaps: Floats
    foreseen: Ints
    chosen: Ints
    decides: Ints


def notes_at(notes: Tag | None, memory: Ints) -> Any:
    """Return the notes behind their tag, or None."""
    return None if notes is None else tuple_at(notes, memory, 2)


# Decided by type: numba would make of the condition a value that may be None, to be asked for in every use.
@overload(notes_at, jit_options=PART_OPTIONS, strict=False)
def _notes_at(notes: types.Type, memory: types.Type) -> Code:
    if isinstance(notes, types.NoneType):
        return lambda notes, memory: None
    return lambda notes, memory: tuple_at(notes, memory, 2)


@inlined
def foresee_round(t: int, slot: int, companion: int, agents: Agents, lanes: Lanes) -> None:
    """Compute whether each agent decides in round t, and its predictions of the higher-ranked agents."""
    ring_size, step = agents.ring_size, agents.count * LANES
    for i in range(agents.count):
        lanes.decides[i] = 1 if (t - 1) % agents.repeat[i] == 0 else 0
        bits = from_entry(lanes.bits, (1 + agents.count + i) * 4 * LANES)
        if companion == 1 and t == 1:
            lanes.decides[i] = 0
            foresee_drawn(bits, FIRST_COUNT, agents.arms[i], 0, 0, from_entry(lanes.chosen, i * LANES))
            continue
        foreseen = from_entry(lanes.foreseen, i * LANES)
        remembered = t - 1 if t - 1 < agents.window[i] else agents.window[i]
        for rank in range(agents.higher[i]):
            j = agents.order[rank]
            keep = 0 if rank == 0 else -1
            # One draw for each agent that ranks higher in every round, except in the companion code's first.
            drawn = (t - 1) * agents.higher[i] + rank
            if companion == 1:
                drawn += 1 - agents.higher[i]
            counter = FIRST_COUNT + uint64(drawn)
            ring = from_entry(lanes.ring, j * LANES)
            if remembered == 0:
                foresee_drawn(bits, counter, agents.arms[j], agents.shift[j], keep, foreseen)
            elif agents.packed == 1:
                foresee_packed(
                    bits,
                    counter,
                    remembered,
                    from_entry(lanes.chosen, j * LANES),
                    1 if agents.foreseer[j] == i else 0,
                    ring,
                    agents.width[j],
                    agents.low[j],
                    agents.shift[j],
                    keep,
                    foreseen,
                )
            else:
                oldest = slot - remembered if slot >= remembered else slot - remembered + ring_size
                foresee_remembered(
                    bits, counter, remembered, ring, ring_size, step, oldest, agents.shift[j], keep, foreseen
                )


@compiled_loop
@with_vectors
def play_lanes(
    each: Squads,
    team: Squads,
    changing: int | None,
    tags: tuple[Tag, ...],
    memory: Ints,
    seeds: Words,
    limits: Ints,
    gaps: Floats,
    real: NDArray[np.bool_],
    notes: Tag | None,
    companion: int,
    untried_root: float,
    horizon: int,
    checkpoints: Ints,
    out: Floats,
) -> None:
    """Play one run for each row of ``seeds`` into the rows of ``out``.

    ``each`` and ``team`` are as long as there are cells and agents; ``changing`` is None where no index changes but
    that of the played cell. ``tags`` are those of the agents and of the lanes, ``seeds`` are the streams' states from
    the rewards' on, ``limits`` and ``gaps`` describe each run's means. ``notes`` is None, or the tag of the `LaneNotes`
    that are taken of every round.
    """
    agents = tuple_at(tags[0], memory, 0)
    lanes = tuple_at(tags[1], memory, 1)
    tally = notes_at(notes, memory)
    cells, ring_size, step = len(each), agents.ring_size, agents.count * LANES
    runs = out.shape[0]
    prior = 1.0 if companion == 1 else 0.0
    for start in range(0, runs, LANES):
        for lane in range(LANES):
            run = start + lane if start + lane < runs else runs - 1
            for k in range(seeds.shape[1]):
                lanes.bits[k * LANES + lane] = seeds[run, k]
            for cell in range(cells):
                here = cell * LANES + lane
                lanes.limits[here] = limits[run, cell]
                lanes.gaps[here] = gaps[run, cell]
                lanes.counts[here] = 0.0
                lanes.spans[here] = untried_root if companion == 1 and real[cell] else 0.0
                for i in range(agents.count):
                    untried = 0.5 if companion == 1 else math.inf
                    lanes.sums[i * cells * LANES + here] = 0.0
                    lanes.estimates[i * cells * LANES + here] = untried if real[cell] else -math.inf
        if notes is not None:
            begin_notes(cells, agents, lanes.gaps, tally, LANES if runs - start > LANES else runs - start)
        point = 0
        slot = -1
        for t in range(1, horizon + 1):
            slot = slot + 1 if slot + 1 < ring_size else 0
            foresee_round(t, slot, companion, agents, lanes)
            play_round(each, team, changing, t, prior, agents, lanes, tally)
            if agents.packed == 0:
                for j in range(agents.count):
                    remember(from_entry(lanes.chosen, j * LANES), from_entry(lanes.ring, slot * step + j * LANES))
            if notes is not None:
                collect(team, agents, lanes.chosen, lanes.foreseen, tally.aims, tally.words)
                note_events(t, companion, agents, lanes.decides, lanes.counts, tally)
            if t == checkpoints[point]:
                # Sum of n_a (mu_* - mu_a) in row-major order, for every lane that stands for a run.
                for lane in range(LANES if runs - start > LANES else runs - start):
                    lost = 0.0
                    for cell in range(cells):
                        lost += lanes.counts[cell * LANES + lane] * lanes.gaps[cell * LANES + lane]
                    out[start + lane, point] = lost
                if notes is not None:
                    keep_notes(t, cells, agents.count, lanes.counts, lanes.gaps, tally, point, start)
                point = point + 1 if point + 1 < checkpoints.shape[0] else point
