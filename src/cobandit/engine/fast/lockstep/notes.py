"""Diagnostics of runs in lock-step: `engine.tally` on bits, with the same counts and sums.

A round puts a few bits into bytes of each lane: the played cell, the cells that agents aim at, and the predictions.
Each of these bits of all lanes is one 64-bit number, a *plane*, so comparing a cell takes a few operations for all
lanes, and counting differences is a population count. Single lanes are visited only after an event: another cell than
before, a mismatch, an agent that begins or ceases to insist.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from cobandit.engine.fast.arrays import Floats, Ints, Words
from cobandit.engine.fast.intrinsics import apart, bit_plane, from_entry, lowest, ones
from cobandit.engine.fast.lockstep.steps import LANES, at
from cobandit.engine.fast.random import compiled
from cobandit.engine.tally import EXPLORING, MISMATCH, WRONG, count_places, lock_rounds

if TYPE_CHECKING:
    from cobandit.engine.fast.lockstep.loop import Agents

BYTES = 4
"""Bytes of a lane for the events of a round: enough for four bits each of a cell, four aims and three predictions."""

EVERY = uint64(0xFFFFFFFFFFFFFFFF)


class LaneNotes(NamedTuple):
    """Numbers or bits of all lanes, and sums over them.

    ``words``, and byte by byte ``bytes``, are the events of the round: the cell in the lowest ``bits`` bits, then the
    cells that the agents aim at, then what those foresee that foresee anything (`loop.Agents`). ``planes`` are the same
    across the lanes. ``last``, ``habit`` and ``waited`` are planes of the cell played last, of that played most often
    and of those that agents aimed at last; ``waits`` says in which lanes an agent did not get that, ``insists`` in
    which it aims at it again, ``since`` from which round on. ``aimed`` is 1 for an agent that has ever aimed.
    ``live[0]`` has the lanes that stand for runs. For each lane: ``best`` is a_*, ``cell`` has been played since round
    ``began``, ``favourite`` most often; ``lock`` is the round in which it locked, ``on_best`` whether on a_*. ``odd``
    are the plays of each cell while exploring, then those in rounds of mismatch, up to the round ``stretch``, since
    which neither the cell nor its reason has changed; ``odd_lanes`` are the lanes of the last round with a mismatch,
    and with another cell than the habit. ``cause`` is why a cell loses as a habit. ``origins`` has for every run of the
    piece the problem's cell behind each of the agents' cells, by which plays are added up.
    """

    words: Ints
    bytes: NDArray[np.uint8]
    aims: Ints
    planes: Words
    last: Words
    habit: Words
    waited: Words
    waits: Words
    insists: Words
    since: Ints
    aimed: Ints
    live: Words
    best: Ints
    cell: Ints
    began: Ints
    favourite: Ints
    lock: Ints
    on_best: Ints
    odd: Ints
    odd_lanes: Words
    stretch: Ints
    cause: Ints
    origins: Ints
    counted: Ints
    totals: Ints
    lost_at: Floats
    overall: Ints
    bits: int
    used_bits: int
    lock_rounds: int
    last_point: int


def make_notes(higher: Sequence[int], cells: int, horizon: int, points: int, runs: int) -> LaneNotes:
    """Return notes for pieces of up to ``runs`` runs, over ``cells`` (padded) cells; ``higher``: number of predicted
    agents.
    """
    agents, bits = len(higher), (cells - 1).bit_length()
    used_bits = bits * (1 + agents + sum(map(bool, higher)))

    def numbers(count: int) -> Ints:
        return np.zeros(count, dtype=np.int64)

    def planes(count: int) -> Words:
        return np.zeros(max(count, 1), dtype=np.uint64)

    width = count_places(agents, cells).predicted
    return LaneNotes(
        words=numbers(LANES),
        bytes=np.zeros(BYTES * LANES, dtype=np.uint8),
        aims=numbers(agents * LANES),
        planes=planes(used_bits),
        last=planes(bits),
        habit=planes(bits),
        waited=planes(agents * bits),
        waits=planes(agents),
        insists=planes(agents),
        since=numbers(agents * LANES),
        aimed=numbers(agents),
        live=planes(1),
        best=numbers(LANES),
        cell=numbers(LANES),
        began=numbers(LANES),
        favourite=numbers(LANES),
        lock=numbers(LANES),
        on_best=numbers(LANES),
        odd=numbers(2 * cells * LANES),
        odd_lanes=planes(2),
        stretch=numbers(LANES),
        cause=numbers(cells * LANES),
        origins=np.tile(np.arange(cells), runs),
        counted=numbers(width - cells),
        totals=numbers(points * width),
        lost_at=np.zeros(runs * points * (agents + 3)),
        overall=numbers(1 + agents),
        bits=bits,
        used_bits=used_bits,
        lock_rounds=lock_rounds(horizon),
        last_point=points - 1,
    )


@compiled
def begin_notes(cells: int, agents: Agents, gaps: Floats, tally: LaneNotes, live: int) -> None:
    """Reset the notes for new runs; only the first ``live`` lanes are in use."""
    tally.odd_lanes[0] = uint64(0)
    tally.odd_lanes[1] = uint64(0)
    tally.live[0] = EVERY if live == LANES else (uint64(1) << uint64(live)) - uint64(1)
    for lane in range(LANES):
        best = 0
        for cell in range(cells - 1, -1, -1):
            if gaps[cell * LANES + lane] == 0.0:
                best = cell
        tally.best[lane] = best
        tally.began[lane] = 1
        tally.stretch[lane] = 1
        tally.cell[lane] = 0
        tally.lock[lane] = 0
        tally.on_best[lane] = 0
        tally.favourite[lane] = -1
        for cell in range(cells):
            wrong, which = 0, 0
            for i in range(agents.count):
                if ((cell ^ best) >> agents.shift[i]) & agents.low[i] != 0:
                    wrong += 1
                    which = i
            tally.cause[cell * LANES + lane] = WRONG + (which if wrong == 1 else agents.count)
    for k in range(2 * cells * LANES):
        tally.odd[k] = 0
    for i in range(agents.count):
        tally.aimed[i] = 0
        tally.waits[i] = uint64(0)
        tally.insists[i] = uint64(0)
    for k in range(1 + agents.count * (2 + agents.count)):
        tally.counted[k] = 0


@compiled
def note_events(t: int, companion: int, agents: Agents, decides: Ints, plays: Floats, tally: LaneNotes) -> None:
    """Count round t of every lane (`tally.note_round`)."""
    bits, live = tally.bits, tally.live[0]
    for byte in range((tally.used_bits + 7) >> 3):
        pack(tally.words, 8 * byte, from_entry(tally.bytes, byte * LANES))
    for b in range(tally.used_bits):
        tally.planes[b] = bit_plane(from_entry(tally.bytes, (b >> 3) * LANES), b & 7)
    differing = note_aims(t, agents, decides, tally)
    differing = differing & live
    tally.counted[0] += ones(differing)
    if companion == 0 or t > 1:
        note_predictions(agents, tally)

    moved, rare = uint64(0), uint64(0)
    for b in range(bits):
        plane = tally.planes[b]
        moved = moved | (plane ^ tally.last[b])
        rare = rare | (plane ^ tally.habit[b])
        tally.last[b] = plane
    if t == 1:
        moved, rare = EVERY, EVERY
    rare = rare & live
    low = (int64(1) << bits) - 1
    changed = (moved | (differing ^ tally.odd_lanes[0]) | (rare ^ tally.odd_lanes[1])) & live
    while changed != uint64(0):
        lane = lowest(changed)
        changed = changed & (changed - uint64(1))
        count_stretch(tally, lane, t, low + 1)
        if moved >> uint64(lane) & uint64(1) == uint64(1):
            lock_if_long(tally, lane, t - tally.began[lane])
            tally.began[lane] = t
            tally.cell[lane] = int64(tally.bytes[lane]) & low
    tally.odd_lanes[0] = differing
    tally.odd_lanes[1] = rare
    while rare != uint64(0):
        lane = lowest(rare)
        rare = rare & (rare - uint64(1))
        cell, habit = tally.cell[lane], tally.favourite[lane]
        if habit < 0 or plays[cell * LANES + lane] > plays[habit * LANES + lane]:
            bit = uint64(1) << uint64(lane)
            tally.favourite[lane] = cell
            for b in range(bits):
                others = tally.habit[b] & ~bit
                tally.habit[b] = others | bit if (cell >> b) & 1 == 1 else others


@compiled
def count_stretch(tally: LaneNotes, lane: int, t: int, cells: int) -> None:
    """Count the rounds before round t in which a lane played its cell by mismatch, or while exploring."""
    rounds = t - tally.stretch[lane]
    tally.stretch[lane] = t
    if tally.odd_lanes[0] >> uint64(lane) & uint64(1) == uint64(1):
        tally.odd[(cells + tally.cell[lane]) * LANES + lane] += rounds
    elif tally.odd_lanes[1] >> uint64(lane) & uint64(1) == uint64(1):
        tally.odd[tally.cell[lane] * LANES + lane] += rounds


@compiled
def collect(team: tuple[object, ...], agents: Agents, chosen: Ints, foreseen: Ints, aims: Ints, words: Ints) -> None:
    """Put the events of the round of each lane into a word."""
    apart()
    for lane in range(LANES):
        o = at(lane)
        word = int64(0)
        for i in range(len(team)):
            own = o + at(i * LANES)
            word = word | chosen[own] << agents.shift[at(i)] | aims[own] << agents.aim_at[at(i)]
            word = word | (foreseen[own] & agents.mask[at(i)]) << agents.code_at[at(i)]
        words[o] = word


@compiled
def pack(words: Ints, shift: int, packed: NDArray[np.uint8]) -> None:
    """Pack one byte of each word."""
    apart()
    for lane in range(LANES):
        packed[at(lane)] = np.uint8((words[at(lane)] >> shift) & 255)


@compiled
def note_aims(t: int, agents: Agents, decides: Ints, tally: LaneNotes) -> np.uint64:
    """Count who insists; the lanes in which two agents aim at different cells."""
    bits, live = tally.bits, tally.live[0]
    differing = uint64(0)
    first = -1
    for i in range(agents.count):
        if decides[i] == 1:
            tally.aimed[i] = 1
        if tally.aimed[i] == 0:
            continue
        missed, other = uint64(0), uint64(0)
        for b in range(bits):
            plane = tally.planes[(1 + i) * bits + b]
            missed = missed | (plane ^ tally.planes[b])
            other = other | (plane ^ tally.waited[i * bits + b])
            if first >= 0:
                differing = differing | (plane ^ tally.planes[(1 + first) * bits + b])
            tally.waited[i * bits + b] = plane
        first = i if first < 0 else first
        insists = tally.waits[i] & ~other & live
        before = tally.insists[i]
        begins, ends = insists & ~before, before & ~insists
        tally.waits[i] = missed
        tally.insists[i] = insists
        tally.counted[1 + i] += ones(insists)
        tally.counted[1 + agents.count + i] += ones(begins)
        while begins != uint64(0):
            tally.since[i * LANES + lowest(begins)] = t
            begins = begins & (begins - uint64(1))
        while ends != uint64(0):
            length = t - tally.since[i * LANES + lowest(ends)]
            ends = ends & (ends - uint64(1))
            if length > tally.overall[1 + i]:
                tally.overall[1 + i] = length
    return differing


@compiled
def note_predictions(agents: Agents, tally: LaneNotes) -> None:
    """Count in how many lanes each agent foresaw the arms of those that rank higher."""
    live = tally.live[0]
    for i in range(agents.count):
        for rank in range(agents.higher[i]):
            j = agents.order[rank]
            wrong = uint64(0)
            b, low = agents.shift[j], agents.low[j]
            while low > 0:
                wrong = wrong | (tally.planes[agents.code_at[i] + b] ^ tally.planes[b])
                b += 1
                low >>= 1
            tally.counted[1 + 2 * agents.count + i * agents.count + j] += ones(~wrong & live)


@compiled
def lock_if_long(tally: LaneNotes, lane: int, streak: int) -> None:
    """Note that a lane has locked on its cell, if it has played that for long enough and locked on none before."""
    if streak >= tally.lock_rounds and tally.lock[lane] == 0:
        tally.lock[lane] = tally.began[lane]
        tally.on_best[lane] = 1 if tally.cell[lane] == tally.best[lane] else 0


@compiled
def keep_notes(
    t: int, cells: int, agents: int, plays: Floats, gaps: Floats, tally: LaneNotes, point: int, start: int
) -> None:
    """Add the counts of the lanes that stand for runs, from run ``start`` on, to the totals of a checkpoint."""
    live = ones(tally.live[0])
    known = 1 + agents * (2 + agents)
    row = point * (cells + known + 2)
    for lane in range(live):
        for cell in range(cells):
            original = tally.origins[(start + lane) * cells + cell]
            tally.totals[row + original] += int64(plays[cell * LANES + lane])
    row += cells
    for k in range(known):
        tally.totals[row + k] += tally.counted[k]
    row += known
    causes = agents + 3
    for lane in range(live):
        lock_if_long(tally, lane, t - tally.began[lane] + 1)
        if tally.lock[lane] > 0:
            tally.totals[row + 1 - tally.on_best[lane]] += 1
        count_stretch(tally, lane, t + 1, cells)
        here = ((start + lane) * (tally.last_point + 1) + point) * causes
        exploring, by_mismatch = 0.0, 0.0
        for cause in range(WRONG, causes):
            tally.lost_at[here + cause] = 0.0
        for cell in range(cells):
            place = cell * LANES + lane
            gap, explored, mismatched = gaps[place], tally.odd[place], tally.odd[cells * LANES + place]
            exploring += explored * gap
            by_mismatch += mismatched * gap
            settled = int64(plays[place]) - explored - mismatched
            tally.lost_at[here + tally.cause[place]] += settled * gap
        tally.lost_at[here + EXPLORING] = exploring
        tally.lost_at[here + MISMATCH] = by_mismatch
    if point == tally.last_point:
        end_notes(t, agents, live, tally)


@compiled
def end_notes(t: int, agents: int, live: int, tally: LaneNotes) -> None:
    """Take in when runs locked, and the spells of insisting that last to their end."""
    for lane in range(live):
        tally.overall[0] += tally.lock[lane]
    for i in range(agents):
        insists = tally.insists[i]
        while insists != uint64(0):
            length = t + 1 - tally.since[i * LANES + lowest(insists)]
            insists = insists & (insists - uint64(1))
            if length > tally.overall[1 + i]:
                tally.overall[1 + i] = length
