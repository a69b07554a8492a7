"""The opening in which a team finds out who sees more: sweeps over the team actions, then votes (beyond the paper).

Where observability is unknown, the paper's footnote draws the roles. Here nobody takes the briefed ranks for granted.
First the team sweeps over all team actions, so everybody looks at the same rounds. Then each member says, by three of
its own arms, how much it has seen. Who has seen most leads from then on. Nothing but arms is exchanged.

Everything here is plain arithmetic on numbers and flat lists, which the fast engine compiles as it stands.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from cobandit.agents.base import Briefing

SWEEPS = 2
"""How often each team action is looked at before the vote, where nothing else is said (m)."""
BITS = 3
"""Rounds in which everybody says what it has seen: a number from 0 to 7."""
LEVELS = 1 << BITS
LONGEST_SWEEP = 32
"""Rounds of the sweeps at most: with many team actions a part of them is looked at."""

SUM, ZEROS, LOOKS = range(3)
"""What tells who sees more: rewards seen (*missed*), rewards not seen (*flipped*), looks (*missed-known*)."""
EVIDENCE = {"flipped": ZEROS, "missed-known": LOOKS}


class Opening(NamedTuple):
    """What a member knows of the election. Whoever elects has these fields, compiled kinds among them.

    ``own[i * cells + cell]`` is agent i's arm in a cell. ``order`` lists the agents by rank as soon as the votes are
    in; ``tally[0]`` is what the own vote is made of.
    """

    cells: Any
    arms: Any
    own: Any
    agents: Any
    sweep: Any
    sweep_rounds: Any
    evidence: Any
    order: Any
    votes: Any
    tally: Any


def is_opening(me: Any, t: int) -> bool:
    """Whether a round belongs to the sweeps or to the votes."""
    return bool(t <= me.sweep_rounds + BITS)


def sweep_cell(me: Any, t: int) -> int:
    """The team action of a round of the sweeps; spread over all of them where there are too many."""
    if me.sweep >= me.cells:
        return int((t - 1) % me.cells)
    return int((t - 1) * me.cells // me.sweep_rounds)


def vote(me: Any) -> int:
    """How much was seen in the sweeps, from 0 to 7."""
    seen = me.tally[0]
    if me.evidence == ZEROS:
        seen = me.sweep_rounds - seen
    level = int(seen * LEVELS / me.sweep_rounds)
    return min(max(level, 0), LEVELS - 1)


def opening_arm(me: Any, seat: int, t: int) -> int:
    """The own arm: by the sweep, or a bit of the own vote."""
    if t <= me.sweep_rounds:
        return int(me.own[seat * me.cells + sweep_cell(me, t)])
    bit = vote(me) >> (BITS - t + me.sweep_rounds) & 1
    return int(bit if me.arms[seat] > 1 else 0)


def opening_foresight(me: Any, other: int, t: int) -> int:
    """What is known of another one's arm: the sweep is agreed, a vote is not (-1)."""
    return int(me.own[other * me.cells + sweep_cell(me, t)]) if t <= me.sweep_rounds else -1


def opening_learn(me: Any, t: int, played: int, seen: float) -> bool:
    """Take in a round (NaN: nothing was seen); whether it was the last vote, with which the team has its ranks."""
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


def make_opening(sweeps: int, briefing: Briefing, room: Any) -> Opening:
    """What a member knows before the first round; ``room`` makes what stands for an array."""
    agents, cells = len(briefing.arms), math.prod(briefing.arms)
    strides = [math.prod(briefing.arms[i + 1 :]) for i in range(agents)]
    wanted = sweeps * cells
    rounds = min(wanted, LONGEST_SWEEP)
    return Opening(
        cells=cells,
        arms=room(briefing.arms),
        own=room(
            [
                cell // stride % size
                for stride, size in zip(strides, briefing.arms, strict=True)
                for cell in range(cells)
            ]
        ),
        agents=agents,
        sweep=min(rounds, cells) if wanted > LONGEST_SWEEP else cells,
        sweep_rounds=rounds,
        evidence=EVIDENCE.get(briefing.observation, SUM),
        order=room(list(range(agents))),
        votes=room([0] * agents),
        tally=room([0.0]),
    )
