"""Signalling: a steered follower reports its observations with its own arms, so that both agents' observations count.

This is beyond the paper. When the number of plays of a team action reaches 4, 8, 16, 32 or 64, the next two rounds are
a report on it. The leader stays in the row of its best team action. The follower plays its public arm, or the next one:
one bit each. Two bits are a level, the quarter that contains its successes there since its last report; the lowest is
silence. Report rounds themselves are not reported on. The leader has a posterior of every team action's mean on a grid.
A report multiplies it by the probability of such a level, given the mean and the leader's observations of the same
rounds.

All code here is plain arithmetic on numbers and flat lists, which the fast engine compiles unchanged.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cobandit.agents.base import Briefing
from cobandit.agents.beliefs import COMPANION_FLOOR
from cobandit.agents.gittins import INDICES, UCB, remaining_rounds
from cobandit.agents.steering import (
    AT,
    LAST,
    LEADER,
    NOTHING,
    OUTDATED,
    SLOT,
    most_slots,
    move_on,
    row_towards,
    steering_rows,
)
from cobandit.base.cells import arms_in_cells, strides_of
from cobandit.base.errors import InvalidInput
from cobandit.base.tuples import Floats, Ints, MakeRow

GRID = 40
"""Points at which a posterior is held."""
FIRST, MOST_PLAYS = 4, 64
"""The first and the last number of plays that is reported on; the others double the first."""
ALWAYS = 8
"""Up to this many plays the most-played team action is reported on, too; later the leader knows it well enough."""
BITS = 2
LEVELS = 1 << BITS
ENDING = 20
"""No report begins in the last rounds: it would no longer pay."""
WEAK_SIGHT = 0.6
"""Up to this observability of the leader, reports are worth their rounds."""
MEASURED = (2, 2)
"""The arms for which that was measured."""
CLOSE = 1e-6
"""A step of Newton's method below which an index is taken."""
FAINT = 1e-12
"""In place of the chance of a level that cannot be, which a partner that does not keep the protocol may send."""

CELL, SAID, LEVEL = range(3)
"""What ``report`` holds: the team action that is reported on, the bits said so far, and the level: the follower's
own, or what the leader has heard of it."""


class Reporting(NamedTuple):
    """What a member of a reporting team knows: settings, plays, own successes, posteriors and the public slots.

    ``counts`` are all plays; ``since`` and ``hits`` are plays and own successes since a team action's last report.
    Means are chances that the leader sees a reward, at the points ``values``. The compiled kind
    derives its fields from these.
    """

    index: Any  # as int it would hide the method of tuples
    stay: int
    horizon: int
    exploration: float
    leader_sight: float
    follower_sight: float
    cells: int
    arms: Ints
    strides: Ints
    own: Ints
    values: Floats
    counts: Ints
    since: Ints
    hits: Ints
    weights: Floats
    means: Floats
    kept: Floats
    stamps: Ints
    ahead: Floats
    worth: Floats
    movers: Ints
    steps: Ints
    notes: Ints
    report: Ints
    levels: Ints
    both: Floats
    alone: Floats


def reporting_arm(me: Reporting, seat: int, t: int) -> int:
    """Return the own arm: the leader's decision, or a follower's public arm with the next bit of its report."""
    leader = me.notes[LEADER]
    reports = me.report[CELL] != NOTHING
    if seat != leader:
        arm = me.own[seat * me.cells + me.notes[AT]]
        if reports:
            arm = (arm + (me.report[LEVEL] >> (BITS - 1 - me.report[SAID]) & 1)) % me.arms[seat]
        return int(arm)
    if reports and me.report[SAID] > 0:
        return int(me.notes[LAST])
    best = best_believed(me, t)
    if reports:
        return int(me.own[leader * me.cells + best])
    return row_towards(me, best, t)


def reporting_learn(me: Reporting, seat: int, t: int, played: int, seen: float) -> None:
    """Remember a round (NaN: nothing was seen); it may be a report's, or call for one."""
    if seat == me.notes[LEADER] and seen == seen:
        see(me, played, seen)
    me.counts[played] += 1
    if me.report[CELL] != NOTHING:
        go_on_reporting(me, seat, played)
        return
    me.since[played] += 1
    if seen == 1.0:
        me.hits[played] += 1
    move_on(me, played)
    if t + 1 < me.horizon - ENDING and is_due(me, played):
        begin_report(me, seat, played)


def is_due(me: Reporting, cell: int) -> bool:
    """Return whether a team action that was just played is to be reported on."""
    count = me.counts[cell]
    if count < FIRST or count > MOST_PLAYS or count & (count - 1) != 0:
        return False
    most = count
    for other in range(me.cells):
        most = max(most, me.counts[other])
    return bool(count <= ALWAYS or count < most)


def begin_report(me: Reporting, seat: int, cell: int) -> None:
    """Start a report on a team action; the follower knows its level, the leader has no bits yet."""
    write_levels(me, me.since[cell])
    me.report[CELL], me.report[SAID], me.report[LEVEL] = cell, 0, 0
    if seat != me.notes[LEADER]:
        for level in range(LEVELS - 1):
            if me.hits[cell] >= me.levels[level]:
                me.report[LEVEL] = level + 1


def write_levels(me: Reporting, plays: int) -> None:
    """Compute the first number of successes of each higher level: the quartiles of Bin(plays, p_F / 2), increasing."""
    write_binomial(me.both, plays, 0.5 * me.follower_sight)
    level, below = 0, 0.0
    for successes in range(plays + 1):
        below += me.both[successes]
        while level < LEVELS - 1 and below >= (level + 1.0) / LEVELS:
            me.levels[level] = successes + 1
            level += 1
    while level < LEVELS - 1:
        me.levels[level] = plays + 1
        level += 1
    for higher in range(1, LEVELS - 1):
        me.levels[higher] = max(me.levels[higher], me.levels[higher - 1] + 1)


def write_binomial(array: Floats, trials: int, chance: float) -> None:
    """Write the probabilities of 0, 1, ... successes in ``trials`` trials."""
    if chance >= 1.0:
        for successes in range(trials):
            array[successes] = 0.0
        array[trials] = 1.0
        return
    value = 1.0
    for _ in range(trials):
        value *= 1.0 - chance
    array[0] = value
    for successes in range(trials):
        value *= chance / (1.0 - chance) * (trials - successes) / (successes + 1.0)
        array[successes + 1] = value


def go_on_reporting(me: Reporting, seat: int, played: int) -> None:
    """Process one bit. After the last one the leader uses the report, and the turn of the slots starts again."""
    leader = me.notes[LEADER]
    follower, at = 1 - leader, me.notes[AT]
    if seat == leader:
        bit = 0 if me.own[follower * me.cells + played] == me.own[follower * me.cells + at] else 1
        me.report[LEVEL] = 2 * me.report[LEVEL] + bit
    row = me.own[leader * me.cells + played]
    me.notes[AT] = at + (row - me.notes[LAST]) * me.strides[leader]
    me.notes[LAST] = row
    me.notes[SLOT] = 0
    me.report[SAID] += 1
    if me.report[SAID] == BITS:
        cell = me.report[CELL]
        if seat == leader:
            believe(me, cell, me.report[LEVEL])
        me.since[cell] = 0
        me.hits[cell] = 0
        me.report[CELL] = NOTHING


def believe(me: Reporting, cell: int, level: int) -> None:
    """Bayes' rule for a report: its level was heard, and in the same rounds the leader has seen its own successes.

    Where the leader saw a reward, there was one, and the follower saw it with p_F. Where it saw none, the follower saw
    one with p_F (1 - p_L) mu / (1 - p_L mu).
    """
    plays, seen = me.since[cell], me.hits[cell]
    unseen = plays - seen
    low = 0 if level == 0 else me.levels[level - 1]
    high = plays if level == LEVELS - 1 else min(plays, me.levels[level] - 1)
    write_binomial(me.both, seen, me.follower_sight)
    for point in range(GRID):
        mean = (point + 0.5) / GRID
        missed = (1.0 - me.leader_sight) * mean / (1.0 - me.leader_sight * mean)
        write_binomial(me.alone, unseen, me.follower_sight * missed)
        chance = 0.0
        for shared in range(seen + 1):
            within = 0.0
            for successes in range(max(low, shared), min(high, shared + unseen) + 1):
                within += me.alone[successes - shared]
            chance += me.both[shared] * within
        me.weights[cell * GRID + point] *= max(chance, FAINT)
    scale_weights(me, cell)


def see(me: Reporting, cell: int, seen: float) -> None:
    """Bayes' rule for the leader's own look at a team action."""
    for point in range(GRID):
        value = me.values[point]
        me.weights[cell * GRID + point] *= value if seen == 1.0 else 1.0 - value
    scale_weights(me, cell)


def scale_weights(me: Reporting, cell: int) -> None:
    """Make a posterior's weights sum to 1, and note its mean."""
    start = cell * GRID
    total = 0.0
    for point in range(GRID):
        total += me.weights[start + point]
    mean = 0.0
    for point in range(GRID):
        me.weights[start + point] /= total
        mean += me.weights[start + point] * me.values[point]
    me.means[cell] = mean
    me.stamps[cell] = OUTDATED


def best_believed(me: Reporting, t: int) -> int:
    """Return the team action of the highest index, the first of equals."""
    if me.index == UCB:
        factor = math.sqrt(2.0 * me.exploration * math.log(t - 1.0)) if t > 1 else 0.0
        for cell in range(me.cells):
            me.kept[cell] = me.means[cell] + factor * (1.0 / math.sqrt(max(me.counts[cell], COMPANION_FLOOR)))
    else:
        rounds = remaining_rounds(me, t)
        for cell in range(me.cells):
            if me.stamps[cell] != rounds:
                me.stamps[cell] = rounds
                me.kept[cell] = grid_index(me, cell, float(rounds))
    best = 0
    for cell in range(1, me.cells):
        if me.kept[cell] > me.kept[best]:
            best = cell
    return int(best)


def grid_index(me: Reporting, cell: int, rounds: float) -> float:
    """Return the optimistic Gittins index of a posterior on the grid (`gittins`); Newton's steps rise to it from the
    mean.
    """
    start, mean = cell * GRID, me.means[cell]
    level = mean
    for _ in range(60):
        above, excess = 0.0, 0.0
        for point in range(GRID - 1, -1, -1):
            if me.values[point] <= level:
                break
            above += me.weights[start + point]
            excess += me.weights[start + point] * (me.values[point] - level)
        step = (level - mean - rounds * excess) / (1.0 + rounds * above)
        level -= step
        if abs(step) < CLOSE:
            break
    return float(level)


def obstacle_to_reports(agent: Any, briefing: Briefing) -> str:
    """Return why a team cannot report at all; empty where it can."""
    if len(briefing.arms) != 2 or min(briefing.arms) < 2:
        return f"two agents with two arms or more are needed, not arms {briefing.arms}"
    if not briefing.binary or briefing.observation != "missed":
        seen = "0 and 1" if briefing.binary else "any number"
        return f"rewards of 0 and 1 that may be missed are needed, not {briefing.observation!r} rewards of {seen}"
    if agent.leader_sight <= 0.0 or agent.follower_sight <= 0.0:
        return "leader_sight and follower_sight above 0 are needed: what each of the two sees must be known"
    return ""


def has_reports(agent: Any, briefing: Briefing) -> bool:
    """Return whether a steered team reports: as its option says, or where reports are worth it."""
    if agent.reports == "off":
        return False
    obstacle = obstacle_to_reports(agent, briefing)
    if agent.reports == "on":
        if obstacle:
            raise InvalidInput(f"A steered team with reports='on' cannot play this: {obstacle}. Take 'auto' or 'off'.")
        return True
    return not obstacle and briefing.arms == MEASURED and agent.leader_sight <= WEAK_SIGHT


def make_reporting(agent: Any, briefing: Briefing, array: MakeRow) -> Reporting:
    """Return the state of a member before the first round; ``array`` converts a list to the array type in use."""
    arms = briefing.arms
    cells = math.prod(arms)
    slots = most_slots(arms)
    values = [agent.leader_sight * (point + 0.5) / GRID for point in range(GRID)]
    me = Reporting(
        index=INDICES.index(agent.index),
        stay=agent.stay,
        horizon=briefing.horizon,
        exploration=agent.exploration,
        leader_sight=agent.leader_sight,
        follower_sight=agent.follower_sight,
        cells=cells,
        arms=array(arms),
        strides=array(strides_of(arms)),
        own=array(arms_in_cells(arms)),
        values=array(values),
        counts=array([0] * cells),
        since=array([0] * cells),
        hits=array([0] * cells),
        weights=array([1.0 / GRID] * (cells * GRID)),
        means=array([0.0] * cells),
        **steering_rows(cells, slots, array),
        report=array([NOTHING, 0, 0]),
        levels=array([0] * (LEVELS - 1)),
        both=array([0.0] * (MOST_PLAYS + 1)),
        alone=array([0.0] * (MOST_PLAYS + 1)),
    )
    for cell in range(cells):
        scale_weights(me, cell)
    return me
