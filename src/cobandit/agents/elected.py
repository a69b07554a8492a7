"""Leader election: a team that does not know its best observer elects one in the first rounds (beyond the paper).

After the opening (`election`) the agent that has seen most leads; the rest is a steered team or a team of partner-aware
UCB. Other partner-aware agents elect with `elected_aware`.

All code here is plain arithmetic on numbers and flat lists, which the fast engine compiles unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.election import (
    SWEEPS,
    Opening,
    is_opening,
    make_opening,
    opening_arm,
    opening_foresight,
    opening_learn,
)
from cobandit.agents.gittins import INDICES, UCB
from cobandit.agents.steered import (
    Steered,
    Steering,
    leading_row,
    make_steering,
    reckon_lines,
    remember,
    span_of,
    take_in,
)
from cobandit.agents.steering import AT, LAST, LEADER, SLOT, SLOTS, move_on, steering_agent, write_slots
from cobandit.base.checks import MOST, one_of, real, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.tuples import MakeRow, joined_tuple
from cobandit.problem.problem import ranks_of

PLAYS = ("steered", "partner-aware")


class Election(joined_tuple(Steering, ("aware",), Opening)):  # type: ignore[misc]
    """The fields of `agents.steered.Steering` and of `agents.election.Opening`; ``aware`` is 1 for Alg. 1 and 2."""

    __slots__ = ()


def elected_arm(me: Election, seat: int, t: int) -> int:
    """Return the own arm: by the opening, or as a member of the team that was elected."""
    if is_opening(me, t):
        return opening_arm(me, seat, t)
    if me.aware == 1:
        return aware_arm(me, seat, t)
    if seat == me.notes[LEADER]:
        return int(leading_row(me, t))
    return int(me.own[seat * me.cells + me.notes[AT]])


def aware_arm(me: Election, seat: int, t: int) -> int:
    """Return the own part of the best team action in which the higher-ranked play what they last played (Alg. 1, W =
    1).
    """
    reckon_lines(me, t)
    best = -1
    for cell in range(me.cells):
        if is_foreseen(me, seat, cell) and (best < 0 or me.kept[cell] > me.kept[best]):
            best = cell
    return int(me.own[seat * me.cells + best])


def is_foreseen(me: Election, seat: int, cell: int) -> bool:
    """Return whether all higher-ranked agents have their last arms in a cell."""
    at = me.notes[AT]
    for rank in range(me.agents):
        higher = me.order[rank]
        if higher == seat:
            return True
        if me.own[higher * me.cells + cell] != me.own[higher * me.cells + at]:
            return False
    return True


def elected_learn(me: Election, seat: int, t: int, played: int, seen: float) -> None:
    """Remember a round (NaN: nothing was seen); with the last vote the team has its ranks."""
    if is_opening(me, t):
        remember(me, played, seen)
        if opening_learn(me, t, played, seen):
            take_places(me, played)
    elif me.aware == 1:
        remember(me, played, seen)
        me.notes[AT] = played
    elif seat == me.notes[LEADER]:
        take_in(me, played, seen)
    else:
        move_on(me, played)


def take_places(me: Election, played: int) -> None:
    """Set the slots of the elected ranks, with every agent at its arm of the last round."""
    leader = steering_agent(me.arms, me.order, me.agents)
    me.notes[LEADER] = leader
    me.notes[SLOTS] = write_slots(me.arms, me.order, me.agents, me.movers, me.steps)
    me.notes[SLOT] = 0
    me.notes[AT] = played
    me.notes[LAST] = me.own[leader * me.cells + played]


def foreseen_arm(me: Election, seat: int, other: int, t: int) -> int:
    """Return the predicted next arm of another member; -1: none."""
    if is_opening(me, t):
        return opening_foresight(me, other, t)
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
    """Elects the best observer in the first rounds as the leader of a steered or a partner-aware team.

    The ranks of the briefing are not used. Every member must be of this kind, with the same options. With noisy
    observations all agents see equally many rewards, and the election is random.
    """

    name: ClassVar[str] = "elected"
    label: ClassVar[str] = "Elected"
    paper: ClassVar[str] = "beyond the paper: roles for unknown observability, in place of the footnote's random ones"
    needs_each_round: ClassVar[bool] = True
    protocol: ClassVar[str | None] = "elected"
    protocol_options: ClassVar[tuple[str, ...]] = ("play", "sweeps")
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.elected:elected"
    electing: ClassVar[Any] = "cobandit.agents.elected:same_again"

    play: str = option("steered", "what the elected team plays: " + ", ".join(PLAYS), one_of(PLAYS))
    sweeps: int = option(SWEEPS, "m: plays of each team action before the vote", whole(1, MOST))
    index: str = option("gittins-horizon", "index of a steered team: " + ", ".join(INDICES), one_of(INDICES))
    stay: int = option(4, "D: minimal number of rounds for which a path is planned", whole(1, MOST))
    exploration: float = option(0.025, "exploration constant c (index ucb, and partner-aware)", real(0.0))
    leader_sight: float = option(1.0, "known observability of the leader: the bound of its prior", real(0.0, 1.0))
    prior_mean: float = option(0.5, "mean of the prior (Gaussian settings only)", real(-1e6, 1e6))
    prior_sd: float = option(0.3, "standard deviation of the prior (Gaussian settings only)", real(1e-6, 1e6))
    noise_sd: float = option(0.35, "assumed noise of a seen reward (Gaussian settings only)", real(1e-6, 1e6))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start without observations and without a leader."""
        super().reset(briefing, rng)
        self._election = make_election(self, briefing, list)
        self._predictions: dict[int, int] = {}

    @property
    def predictions(self) -> Mapping[int, int]:
        """What the others will play, as far as it is public or foreseen."""
        return self._predictions

    def choose(self) -> int:
        """Return the own arm."""
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

    @property
    def elected_ranks(self) -> tuple[int, ...]:
        """Each agent's rank by the votes; by the agents' numbers until they are in."""
        return ranks_of(list(self._election.order))

    def dump_memory(self) -> dict[str, Any]:
        """Return the learnt values and the leader as plain data."""
        return {"election": self._election._asdict(), "predictions": self._predictions}

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Take that back."""
        self._election = Election(**memory["election"])
        self._predictions = dict(memory["predictions"])


def make_election(agent: Elected, briefing: Briefing, array: MakeRow) -> Election:
    """Return the state of an agent before the first round; ``array`` converts a list to the array type in use."""
    aware = agent.play == "partner-aware"
    steering = make_steering(agent, briefing, array)
    if aware:
        steering = steering._replace(index=UCB)
        reset_spans(steering)
    opening = make_opening(agent.sweeps, briefing, array)
    return Election(**(steering._asdict() | opening._asdict()), aware=int(aware))


def reset_spans(me: Steering) -> None:
    """Set the index spans of cells that were never seen."""
    for cell in range(me.cells):
        me.spans[cell] = span_of(me, 0)


def elected_steered(agent: Steered) -> Elected:
    """Return the agent of a steered team with an elected leader (``roles="elected"``)."""
    if agent.reports == "on":
        raise InvalidInput(
            "reports is 'on', but roles is 'elected'; who reports must be known beforehand. "
            "Leave reports out, or give the roles."
        )
    shared = {name: value for name, value in agent.options.items() if name not in ("reports", "follower_sight")}
    return Elected(play="steered", **shared)


def same_again(agent: Elected) -> Elected:
    """Return a team that elects by itself is what it is under every role rule."""
    return agent
