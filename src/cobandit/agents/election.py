"""The opening in which a team elects its best observer: sweeps over the team actions, then votes (beyond the paper).

For unknown observability, the paper's footnote draws the roles. Here the ranks of the briefing are ignored. First the
team sweeps over all team actions, so all agents observe the same rounds. Then each member signals with three of its own
arms how much it has seen. The agent that has seen most leads from then on. Only arms are exchanged.

All code here is plain arithmetic on numbers and flat lists, which the fast engine compiles unchanged.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cobandit.agents.base import Briefing
from cobandit.base.cells import arms_in_cells
from cobandit.base.tuples import Floats, Ints, MakeRow

SWEEPS = 2
"""How often each team action is looked at before the vote, by default (m)."""
BITS = 3
"""The number of rounds in which all agents signal how much they have seen: a number from 0 to 7."""
LEVELS = 1 << BITS
LONGEST_SWEEP = 32
"""Rounds of the sweeps at most: with many team actions a part of them is looked at."""

SUM, ZEROS, LOOKS = range(3)
"""What tells who sees more: rewards seen (*missed*), rewards not seen (*flipped*), looks (*missed-known*)."""
EVIDENCE = {"flipped": ZEROS, "missed-known": LOOKS}


class Opening(NamedTuple):
    """The state of the election in one member. All agents that elect have these fields, also compiled kinds.

    ``own[i * cells + cell]`` is agent i's arm in a cell. ``order`` lists the agents by rank after the votes;
    ``tally[0]`` is the basis of the agent's own vote.
    """

    cells: int
    arms: Ints
    own: Ints
    agents: int
    sweep: int
    sweep_rounds: int
    evidence: int
    order: Ints
    votes: Ints
    tally: Floats


def is_opening(me: Opening, t: int) -> bool:
    """Return whether a round belongs to the sweeps or to the votes."""
    return bool(t <= me.sweep_rounds + BITS)


def sweep_cell(me: Opening, t: int) -> int:
    """Return the team action of a round of the sweeps; spread over all of them where there are too many."""
    if me.sweep >= me.cells:
        return int((t - 1) % me.cells)
    return int((t - 1) * me.cells // me.sweep_rounds)


def vote(me: Opening) -> int:
    """Return how much was seen in the sweeps, from 0 to 7."""
    seen = me.tally[0]
    if me.evidence == ZEROS:
        seen = me.sweep_rounds - seen
    level = int(seen * LEVELS / me.sweep_rounds)
    return min(max(level, 0), LEVELS - 1)


def opening_arm(me: Opening, seat: int, t: int) -> int:
    """Return the own arm: by the sweep, or a bit of the own vote."""
    if t <= me.sweep_rounds:
        return int(me.own[seat * me.cells + sweep_cell(me, t)])
    bit = vote(me) >> (BITS - t + me.sweep_rounds) & 1
    return int(bit if me.arms[seat] > 1 else 0)


def opening_foresight(me: Opening, other: int, t: int) -> int:
    """Return another agent's next arm: known in a sweep, unknown (-1) in a vote."""
    return int(me.own[other * me.cells + sweep_cell(me, t)]) if t <= me.sweep_rounds else -1


def opening_learn(me: Opening, t: int, played: int, seen: float) -> bool:
    """Update with a round (NaN: nothing was seen); whether it was the last vote, with which the team has its ranks."""
    if t <= me.sweep_rounds:
        if seen == seen:
            me.tally[0] += 1.0 if me.evidence == LOOKS else seen
        return False
    for agent in range(me.agents):
        me.votes[agent] = 2 * me.votes[agent] + min(me.own[agent * me.cells + played], 1)
    if t < me.sweep_rounds + BITS:
        return False
    for agent in range(me.agents):
        place = 0
        for other in range(me.agents):  # of equals the lower index first
            if me.votes[other] > me.votes[agent] or (me.votes[other] == me.votes[agent] and other < agent):
                place += 1
        me.order[place] = agent
    return True


def make_opening(sweeps: int, briefing: Briefing, array: MakeRow) -> Opening:
    """Return the state of a member before the first round; ``array`` converts a list to the array type in use."""
    agents, cells = len(briefing.arms), math.prod(briefing.arms)
    wanted = sweeps * cells
    rounds = min(wanted, LONGEST_SWEEP)
    return Opening(
        cells=cells,
        arms=array(briefing.arms),
        own=array(arms_in_cells(briefing.arms)),
        agents=agents,
        sweep=min(rounds, cells) if wanted > LONGEST_SWEEP else cells,
        sweep_rounds=rounds,
        evidence=EVIDENCE.get(briefing.observation, SUM),
        order=array(list(range(agents))),
        votes=array([0] * agents),
        tally=array([0.0]),
    )
