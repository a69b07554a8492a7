"""Steering: one agent moves its partners with nothing but its own arms.

Steered agents ignore rewards: their next arm is a public function of past arms. Rounds cycle through *slots*. Slot 0 is
free. In every other slot it is one partner's turn, and its arm moves by as much as the steering agent's arm has just
moved: j <- (j + step (i_t - i_{t-1})) mod K. One slot is enough for a partner with no more arms than the steering agent
has; a partner with more has a slot for each digit of its arm, written in the base of the steering agent's number of
arms. So the steering agent always knows what the others will play, and can bring them anywhere within one turn of the
slots.

All code here is plain arithmetic on numbers and flat lists, which the fast engine compiles unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cobandit.base.tuples import Floats, Ints, MakeRow

Numbers = Sequence[int] | Ints

NOBODY = -1
"""Whose turn it is in the free slot."""

NOTHING = -1
"""In place of a team action: none is watched, or none is reported on."""

OUTDATED = -1
"""Replaces the number of rounds of a stored index when its team action was played."""

LEADER, SLOTS, SLOT, LAST, AT, WATCHED, WATCHED_ROUNDS = range(7)
"""What ``notes`` hold: who steers, how many slots there are, the present one, the steering agent's last arm, the
present state, and what `steered` adds: which cell is watched, and for how many remaining rounds it was compared."""


def steering_agent(arms: Numbers, order: Numbers, agents: int) -> int:
    """Return the highest-ranked agent with several arms: an agent with one arm cannot signal."""
    for rank in range(agents):
        if arms[order[rank]] > 1:
            return order[rank]
    return order[0]


def write_slots(arms: Numbers, order: Numbers, agents: int, movers: Ints, steps: Ints) -> int:
    """Write whose turn it is in each slot, and how far a move of one goes; the number of slots."""
    leader = steering_agent(arms, order, agents)
    movers[0], steps[0] = NOBODY, 0
    slots = 1
    for rank in range(agents):
        follower = order[rank]
        if follower != leader and arms[leader] > 1:
            step = 1
            while step < arms[follower]:
                movers[slots], steps[slots] = follower, step
                step *= arms[leader]
                slots += 1
    return slots


def most_slots(arms: Sequence[int]) -> int:
    """Return the largest number of slots of a team, over all possible leaders."""
    return 1 + sum((size - 1).bit_length() for size in arms)


def steering_rows(cells: int, slots: int, array: MakeRow) -> dict[str, Any]:
    """Return the fields that every steering agent has before the first round, by their names."""
    return {
        "kept": array([0.0] * cells),
        "stamps": array([OUTDATED] * cells),
        "ahead": array([0.0] * cells),
        "worth": array([0.0] * cells),
        "movers": array([0] * slots),
        "steps": array([0] * slots),
        "notes": array([0, 1, 0, 0, 0, NOTHING, 0]),
    }


def moved(arm: int, arms: int, step: int, change: int) -> int:
    """Return a partner's next arm when the steering agent's arm has changed by ``change`` in its slot."""
    return (arm + step * change) % arms


def row_towards(me: Any, best: int, t: int) -> int:
    """Return the steering agent's arm: to the best cell if it is within reach, else on the best way to good ones."""
    at, last = me.notes[AT], me.notes[LAST]
    leader, slots, slot = me.notes[LEADER], me.notes[SLOTS], me.notes[SLOT]
    row = me.own[leader * me.cells + best]
    if best == at + (row - last) * me.strides[leader] and (slot == 0 or row == last):
        return int(row)
    rest = min(me.stay, me.horizon - t + 1) - 2 * slots + 1
    return int(plan_row(me, at, slot, float(max(rest, 1))))


def plan_row(me: Any, at: int, slot: int, rest: float) -> int:
    """Return the steering agent's arm that begins the best way through nearly two turns of the slots.

    The best way has the highest sum of kept indices over all but the last round of two turns; the best cell among those
    that are left at its end counts ``rest`` times more. A state is the last own arm and what the partners play next,
    named by its cell; ``at`` is the present one. ``me`` has the indices (``kept``), the slots, every agent's arm in
    every cell (``own``) and, for scratch, ``worth`` and ``ahead``, what each state is worth in one round and in the
    next one.
    """
    leader, slots, cells = me.notes[LEADER], me.notes[SLOTS], me.cells
    arms, stride = me.arms[leader], me.strides[leader]
    # The followers react to the leader's changes by a public rule, so the team is a finite automaton whose state is a
    # cell and a slot. The leader finds its way by dynamic programming, backwards from the end of the second turn.
    for cell in range(cells):
        last = me.own[leader * cells + cell]
        if last == 0:
            me.ahead[cell] = rest * best_in_row(me.kept, cell, arms, stride)
        else:
            me.ahead[cell] = me.ahead[cell - last * stride]
    for later in range(2 * slots - 2, 0, -1):
        turn = (slot + later) % slots
        for cell in range(cells):
            last = me.own[leader * cells + cell]
            if turn == 0 and last > 0:  # in the free slot the last own arm does not matter
                me.worth[cell] = me.worth[cell - last * stride]
            else:
                me.worth[cell] = best_way(me, cell, turn)[0]
        for cell in range(cells):
            me.ahead[cell] = me.worth[cell]
    return best_way(me, at, slot)[1]


def best_in_row(values: Floats, cell: int, own: int, stride: int) -> float:
    """Return the best value that the steering agent can have from a cell of its arm 0 on, all others staying as they
    are.
    """
    top = values[cell]
    for arm in range(1, own):
        value = values[cell + arm * stride]
        top = value if value > top else top
    return top


def best_way(me: Any, state: int, turn: int) -> tuple[float, int]:
    """Return the value of a state in a slot, and the first of the agent's arms that achieves it."""
    leader, cells = me.notes[LEADER], me.cells
    arms, stride = me.arms[leader], me.strides[leader]
    last = me.own[leader * cells + state]
    start = state - last * stride
    mover = me.movers[turn]
    if mover == NOBODY:
        size, step, across, before, after = 1, 0, 0, 0, 0
    else:
        size, step, across = me.arms[mover], me.steps[turn], me.strides[mover]
        before = me.own[mover * cells + state]
        after = before - step * last
        while after < 0:
            after += size
    top, row = me.kept[start] + me.ahead[start + (after - before) * across], 0
    for arm in range(1, arms):
        after += step
        after = after if after < size else after - size
        cell = start + arm * stride
        value = me.kept[cell] + me.ahead[cell + (after - before) * across]
        if value > top:
            top, row = value, arm
    return top, row


def move_on(me: Any, played: int) -> None:
    """Compute the positions of the partners after a round, and the next slot."""
    # Every member computes this transition from public arms alone, so all of them know the state without a message.
    # It starts from what was played, not from what was planned: a member that deviates does not confuse the others.
    slot = me.notes[SLOT]
    row = me.own[me.notes[LEADER] * me.cells + played]
    mover = me.movers[slot]
    at = played
    if mover >= 0 and row != me.notes[LAST]:
        arm = me.own[mover * me.cells + played]
        at += (moved(arm, me.arms[mover], me.steps[slot], row - me.notes[LAST]) - arm) * me.strides[mover]
    me.notes[LAST] = row
    me.notes[AT] = at
    me.notes[SLOT] = slot + 1 if slot + 1 < me.notes[SLOTS] else 0
