"""Leader election: a team that does not know who sees more finds it out in the first rounds (beyond the paper).

Where observability is unknown, the paper's footnote draws the roles. Here nobody takes the briefed ranks for granted.
First the team sweeps over all team actions, so everybody looks at the same rounds. Then each member says, by three of
its own arms, how much it has seen. Who has seen most leads from then on; the rest is a steered team or a team of
partner-aware UCB. Nothing but arms is exchanged.

Everything here is plain arithmetic on numbers and flat lists, which the fast engine compiles as it stands.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.gittins import INDICES, UCB
from cobandit.agents.steered import (
    leading_row,
    make_steering,
    reckon_lines,
    remember,
    span_of,
    take_in,
)
from cobandit.agents.steering import AT, LAST, LEADER, SLOT, SLOTS, move_on, steering_agent, write_slots
from cobandit.base.checks import MOST, one_of, real, whole

PLAYS = ("steered", "partner-aware")
BITS = 3
"""Rounds in which everybody says what it has seen: a number from 0 to 7."""
LEVELS = 1 << BITS
LONGEST_SWEEP = 32
"""Rounds of the sweeps at most: with many team actions a part of them is looked at."""

SUM, ZEROS, LOOKS = range(3)
"""What tells who sees more: rewards seen (*missed*), rewards not seen (*flipped*), looks (*missed-known*)."""
EVIDENCE = {"flipped": ZEROS, "missed-known": LOOKS}


class Election(NamedTuple):
    """The fields of `agents.steered.Steering`, and those of the election. The compiled kind has the same.

    ``order`` lists the agents by rank as soon as the votes are in; ``tally[0]`` is what the own vote is made of.
    """

    index: Any
    stay: Any
    horizon: Any
    exploration: Any
    binary: Any
    prior: Any
    weight: Any
    noise_weight: Any
    cells: Any
    arms: Any
    strides: Any
    own: Any
    counts: Any
    sums: Any
    means: Any
    spans: Any
    kept: Any
    stamps: Any
    ahead: Any
    worth: Any
    movers: Any
    steps: Any
    notes: Any
    watch: Any
    aware: Any
    agents: Any
    sweep: Any
    sweep_rounds: Any
    evidence: Any
    order: Any
    votes: Any
    tally: Any


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


def elected_arm(me: Any, seat: int, t: int) -> int:
    """The own arm: by the sweep, by the own vote, or as a member of the team that was elected."""
    if t <= me.sweep_rounds:
        return int(me.own[seat * me.cells + sweep_cell(me, t)])
    if t <= me.sweep_rounds + BITS:
        bit = vote(me) >> (BITS - t + me.sweep_rounds) & 1
        return int(bit if me.arms[seat] > 1 else 0)
    if me.aware == 1:
        return aware_arm(me, seat, t)
    if seat == me.notes[LEADER]:
        return int(leading_row(me, t))
    return int(me.own[seat * me.cells + me.notes[AT]])


def aware_arm(me: Any, seat: int, t: int) -> int:
    """The own part of the best team action in which the higher-ranked play what they last played (Alg. 1, W = 1)."""
    reckon_lines(me, t)
    best = -1
    for cell in range(me.cells):
        if is_foreseen(me, seat, cell) and (best < 0 or me.kept[cell] > me.kept[best]):
            best = cell
    return int(me.own[seat * me.cells + best])


def is_foreseen(me: Any, seat: int, cell: int) -> bool:
    """Whether all higher-ranked agents have their last arms in a cell."""
    at = me.notes[AT]
    for rank in range(me.agents):
        higher = me.order[rank]
        if higher == seat:
            return True
        if me.own[higher * me.cells + cell] != me.own[higher * me.cells + at]:
            return False
    return True


def elected_learn(me: Any, seat: int, t: int, played: int, seen: float) -> None:
    """Remember a round (NaN: nothing was seen); with the last vote the team has its ranks."""
    if t > me.sweep_rounds + BITS:
        if me.aware == 1:
            remember(me, played, seen)
            me.notes[AT] = played
        elif seat == me.notes[LEADER]:
            take_in(me, played, seen)
        else:
            move_on(me, played)
        return
    remember(me, played, seen)
    if t <= me.sweep_rounds:
        if seen == seen:
            me.tally[0] += 1.0 if me.evidence == LOOKS else seen
        return
    for agent in range(me.agents):
        me.votes[agent] = 2 * me.votes[agent] + min(me.own[agent * me.cells + played], 1)
    if t == me.sweep_rounds + BITS:
        count_votes(me, played)


def count_votes(me: Any, played: int) -> None:
    """Ranks by votes, of equals the lower index first; everybody stands where the last round was."""
    for agent in range(me.agents):
        place = 0
        for other in range(me.agents):
            if me.votes[other] > me.votes[agent] or (me.votes[other] == me.votes[agent] and other < agent):
                place += 1
        me.order[place] = agent
    leader = steering_agent(me.arms, me.order, me.agents)
    me.notes[LEADER] = leader
    me.notes[SLOTS] = write_slots(me.arms, me.order, me.agents, me.movers, me.steps)
    me.notes[SLOT] = 0
    me.notes[AT] = played
    me.notes[LAST] = me.own[leader * me.cells + played]


def foreseen_arm(me: Any, seat: int, other: int, t: int) -> int:
    """What a member foresees of another one's next arm; -1: nothing."""
    if t <= me.sweep_rounds:
        return int(me.own[other * me.cells + sweep_cell(me, t)])
    if t <= me.sweep_rounds + BITS:
        return -1
    if me.aware == 0:
        return int(me.own[other * me.cells + me.notes[AT]]) if seat == me.notes[LEADER] else -1
    for rank in range(me.agents):
        if me.order[rank] == seat:
            return -1
        if me.order[rank] == other:
            return int(me.own[other * me.cells + me.notes[AT]])
    return -1


@dataclass
class Elected(Agent):
    """Finds out in the first rounds who sees more; that one leads a steered or a partner-aware team.

    The ranks of the briefing are not used. Every member must be of this kind, with the same options. Where rewards are
    seen with noise nobody sees more of them, and the election is a coin.
    """

    name: ClassVar[str] = "elected"
    paper: ClassVar[str] = "beyond the paper: roles for unknown observability, in place of the footnote's random ones"
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.elected:elected"

    play: str = option("steered", "what the elected team plays: " + ", ".join(PLAYS), one_of(PLAYS))
    sweeps: int = option(2, "m: how often each team action is looked at before the vote", whole(1, MOST))
    index: str = option("gittins-horizon", "index of a steered team: " + ", ".join(INDICES), one_of(INDICES))
    stay: int = option(4, "D: for how many rounds a way to a team action is planned at least", whole(1, MOST))
    exploration: float = option(0.025, "exploration constant c (index ucb, and partner-aware)", real(0.0))
    leader_sight: float = option(1.0, "what is known of the leader's observability: its prior's bound", real(0.0, 1.0))
    prior_mean: float = option(0.5, "mean of the normal prior (Gaussian settings only)", real(-1e6, 1e6))
    prior_sd: float = option(0.3, "standard deviation of the normal prior (Gaussian settings only)", real(1e-6, 1e6))
    noise_sd: float = option(0.35, "assumed noise of a seen reward (Gaussian settings only)", real(1e-6, 1e6))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Nothing was seen, and nobody leads."""
        super().reset(briefing, rng)
        self._election = make_election(self, briefing, list)
        self._predictions: dict[int, int] = {}

    @property
    def predictions(self) -> Mapping[int, int]:
        """What the others will play, as far as it is public or foreseen."""
        return self._predictions

    def choose(self) -> int:
        """The own arm."""
        seat = self.briefing.agent
        for other in range(len(self.briefing.arms)):
            arm = -1 if other == seat else foreseen_arm(self._election, seat, other, self.round)
            self._predictions.pop(other, None)
            if arm >= 0:
                self._predictions[other] = arm
        return elected_arm(self._election, seat, self.round)

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round."""
        played = int(np.ravel_multi_index(team_action, self.briefing.arms))
        seen = math.nan if reward is None else reward
        elected_learn(self._election, self.briefing.agent, self.round, played, seen)

    def dump_memory(self) -> dict[str, Any]:
        """What was learnt and who leads, as plain data."""
        return {"election": self._election._asdict(), "predictions": self._predictions}

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Take that back."""
        self._election = Election(**memory["election"])
        self._predictions = dict(memory["predictions"])


def make_election(agent: Elected, briefing: Briefing, room: Any) -> Election:
    """What an agent knows before the first round; ``room`` makes what stands for an array."""
    aware = agent.play == "partner-aware"
    steering = make_steering(agent, briefing, room)
    if aware:
        steering = steering._replace(index=UCB)
        reset_spans(steering)
    agents = len(briefing.arms)
    wanted = agent.sweeps * steering.cells
    rounds = min(wanted, LONGEST_SWEEP)
    return Election(
        *steering,
        aware=int(aware),
        agents=agents,
        sweep=min(rounds, steering.cells) if wanted > LONGEST_SWEEP else steering.cells,
        sweep_rounds=rounds,
        evidence=EVIDENCE.get(briefing.observation, SUM),
        order=room(list(range(agents))),
        votes=room([0] * agents),
        tally=room([0.0]),
    )


def reset_spans(me: Any) -> None:
    """The spans of cells that were never seen, for the present index."""
    for cell in range(me.cells):
        me.spans[cell] = span_of(me, 0)
