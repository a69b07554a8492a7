"""Events of a run, counted round by round: the definitions behind `Diagnostics`.

A round is described by the team action played, its loss (mu_* - mu_a), the team action at which each agent aimed and
the arms that each predicted. All code here is plain arithmetic on numbers and flat lists, which the fast engine
compiles unchanged; `fast.lockstep.notes` does the same in vector code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.base.cells import arms_in_cells
from cobandit.base.tuples import Floats, Ints, MakeRow

NONE = -1
"""Where no team action is aimed at, or none was played."""

FEW_CELLS = 16
"""Up to this many team actions regret by cause is summed cell by cell, as lock-step needs it."""

LAST, STREAK, LOCK, HABIT, HABIT_COUNT, POINT, RUN, PER_AGENT = range(8)
"""What ``notes`` hold: the last team action and for how many rounds on end it was played, when the team locked (0: not
yet), the team action played most often and how often, the next checkpoint and the present run. Behind them come, for
each agent, the team action that it waits for and for how many rounds it has insisted on it."""

EXPLORING, MISMATCH, WRONG = range(3)
"""The causes of regret; from the last on, one for each agent whose arm alone is wrong, and one for several of them."""


class Tally(NamedTuple):
    """The counts of the runs of one piece of work.

    ``own[i * cells + cell]`` is agent i's arm in a cell. ``counts`` are those of the run so far (`count_places`), and
    ``totals`` their sums over the runs at each checkpoint. ``odd`` has, where ``by_cell`` is 1, the plays of each cell
    while exploring, then those in rounds of mismatch. ``lost`` is the regret of the run by cause, and
    ``lost_at`` that of every run at every checkpoint. ``overall`` has the sum of the rounds in which teams locked, and
    each agent's longest spell of insisting.
    """

    agents: int
    cells: int
    by_cell: int
    lock_rounds: int
    points: Ints
    last_point: int
    own: Ints
    counts: Ints
    odd: Ints
    notes: Ints
    lost: Floats
    totals: Ints
    lost_at: Floats
    overall: Ints


class Counted(NamedTuple):
    """What was counted: ``totals`` (checkpoints x `count_places`), ``overall``, and regret by cause of every run.

    ``lost`` is an array of runs x checkpoints x causes, the runs in their order.
    """

    totals: NDArray[np.int64]
    overall: NDArray[np.int64]
    lost: NDArray[np.float64]


class Places(NamedTuple):
    """Where each kind of count begins in ``counts``, and how many there are."""

    plays: int
    mismatches: int
    insisted: int
    spells: int
    hits: int
    locked: int
    predicted: int
    width: int


def count_places(agents: int, cells: int) -> Places:
    """Return the order of the counts.

    Plays of each cell since the checkpoint before. Then, from round 1 on: mismatches; for each agent rounds and spells
    of insisting; hits of each pair of agents; runs locked on the best cell and on another; predictions of each pair.
    """
    insisted = cells + 1
    hits = insisted + 2 * agents
    locked = hits + agents * agents
    predicted = locked + 2
    return Places(0, cells, insisted, insisted + agents, hits, locked, predicted, width=predicted + agents * agents)


def lock_rounds(horizon: int) -> int:
    """Return for how many consecutive rounds a team has to play one team action to be locked on it."""
    return max(2, min(100, horizon // 10))


def sums_by_cell(cells: int, changes: bool) -> bool:
    """Return whether regret by cause is summed up cell by cell at each checkpoint, else round by round."""
    return cells <= FEW_CELLS and not changes


def make_tally(
    arms: Sequence[int], horizon: int, checkpoints: Sequence[int], runs: int, changes: bool, array: MakeRow
) -> Tally:
    """Return empty counts for ``runs`` runs; ``array`` converts a list to the field type. ``changes``: the means
    change.
    """
    agents, cells = len(arms), math.prod(arms)
    width, points = count_places(agents, cells).width, [int(t) for t in checkpoints]
    by_cell = sums_by_cell(cells, changes)
    return Tally(
        agents,
        cells,
        int(by_cell),
        lock_rounds(horizon),
        array(points),
        len(points) - 1,
        array(arms_in_cells(arms)),
        array([0] * width),
        array([0] * (2 * cells if by_cell else 1)),
        array([0] * (PER_AGENT + 2 * agents)),
        array([0.0] * (agents + 3)),
        array([0] * (len(points) * width)),
        array([0.0] * (runs * len(points) * (agents + 3))),
        array([0] * (1 + agents)),
    )


def begin_tally(me: Tally) -> None:
    """Reset the counts for a new run."""
    agents = me.agents
    for k in range(me.cells + 3 + agents * (2 + 2 * agents)):
        me.counts[k] = 0
    if me.by_cell == 1:
        for k in range(2 * me.cells):
            me.odd[k] = 0
    for cause in range(agents + 3):
        me.lost[cause] = 0.0
    for k in range(RUN):
        me.notes[k] = 0
    me.notes[LAST] = NONE
    me.notes[HABIT] = NONE
    for i in range(agents):
        me.notes[PER_AGENT + i] = NONE
        me.notes[PER_AGENT + agents + i] = 0


def note_round(
    me: Tally, t: int, played: int, original: int, best: int, means: Floats, aims: Ints, predictions: Ints
) -> None:
    """Count round t, in which one team action was played and another one, or the same, was the best.

    ``original`` is the team action played in the problem's own labels; all else is in those of the agents. ``aims`` has
    the team action at which each agent aims, ``predictions[i * agents + j]`` the arm that agent i foresees for agent
    j; `NONE` where there is none. Counts grow by what is true, without a branch: most of it could
    not be foretold.
    """
    if t == 1:
        begin_tally(me)
    agents, cells, counts, notes = me.agents, me.cells, me.counts, me.notes
    insisted = cells + 1
    hits = insisted + 2 * agents
    locked = hits + agents * agents
    shared = NONE
    differing = False
    for i in range(agents):
        aim = aims[i]
        differing = differing | ((aim != shared) & (shared >= 0) & (aim >= 0))
        shared = aim if aim >= 0 else shared
        insists = (aim >= 0) & (aim == notes[PER_AGENT + i])
        length = (notes[PER_AGENT + agents + i] + 1) * insists
        notes[PER_AGENT + agents + i] = length
        notes[PER_AGENT + i] = aim if aim != played else NONE
        counts[insisted + i] += insists
        counts[insisted + agents + i] += length == 1
        if length > me.overall[1 + i]:
            me.overall[1 + i] = length
        for j in range(agents):
            foreseen = predictions[i * agents + j]
            if foreseen >= 0:
                counts[locked + 2 + i * agents + j] += 1
                counts[hits + i * agents + j] += foreseen == me.own[j * cells + played]
    counts[cells] += differing

    streak = notes[STREAK] * (played == notes[LAST]) + 1
    notes[STREAK] = streak
    notes[LAST] = played
    if streak == me.lock_rounds and notes[LOCK] == 0:
        notes[LOCK] = t - streak + 1
        me.overall[0] += t - streak + 1
        counts[locked if played == best else locked + 1] = 1

    if me.by_cell == 1:
        me.odd[played] += (played != notes[HABIT]) & (not differing)
        me.odd[cells + played] += differing
    elif played != best:
        me.lost[cause_of(me, played, best, differing)] += means[best] - means[played]
    plays = counts[played] + 1
    counts[played] = plays
    if plays > notes[HABIT_COUNT]:
        notes[HABIT] = played
        notes[HABIT_COUNT] = plays

    point = notes[POINT]
    if t <= me.points[point]:
        me.totals[point * (locked + 2 + agents * agents) + original] += 1
        if t == me.points[point]:
            keep_checkpoint(me, best, means)


def cause_of(me: Tally, played: int, best: int, differing: bool) -> int:
    """Return why a round lost something, once its aims are compared and before its play is counted."""
    if differing:
        return MISMATCH
    if played != me.notes[HABIT]:
        return EXPLORING
    return wrong_arms(me, played, best)


def wrong_arms(me: Tally, played: int, best: int) -> int:
    """Return the cause of what is lost by playing one team action as a habit while another one is the best."""
    wrong, which = 0, 0
    for i in range(me.agents):
        if me.own[i * me.cells + played] != me.own[i * me.cells + best]:
            wrong += 1
            which = i
    return WRONG + (which if wrong == 1 else me.agents)


def keep_checkpoint(me: Tally, best: int, means: Floats) -> None:
    """Add the counts of the run to the totals, and keep its regret by cause."""
    point, cells, causes = me.notes[POINT], me.cells, me.agents + 3
    width = cells + 3 + me.agents * (2 + 2 * me.agents)
    for k in range(cells, width):
        me.totals[point * width + k] += me.counts[k]
    if me.by_cell == 1:
        for cause in range(causes):
            me.lost[cause] = 0.0
        for cell in range(cells):
            gap = means[best] - means[cell]
            explored, mismatched = me.odd[cell], me.odd[cells + cell]
            me.lost[EXPLORING] += explored * gap
            me.lost[MISMATCH] += mismatched * gap
            me.lost[wrong_arms(me, cell, best)] += (me.counts[cell] - explored - mismatched) * gap
    row = (me.notes[RUN] * (me.last_point + 1) + point) * causes
    for cause in range(causes):
        me.lost_at[row + cause] = me.lost[cause]
    if point == me.last_point:
        me.notes[RUN] += 1
    else:
        me.notes[POINT] = point + 1
