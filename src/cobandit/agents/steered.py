"""Steered teams: an agreed protocol without any channel but the actions (beyond the paper).

The leader steers, the followers are steered (`steering`); the leader alone learns, by an index of every cell. Where it
misses many rewards, a follower may report what it sees (`reports`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import COMPANION_FLOOR
from cobandit.agents.gittins import INDICES, UCB, beta_prior, beta_tail, gittins_beta, gittins_factor, remaining_rounds
from cobandit.agents.signalling import (
    CELL,
    WEAK_SIGHT,
    Reporting,
    has_reports,
    make_reporting,
    reporting_arm,
    reporting_learn,
)
from cobandit.agents.steering import (
    AT,
    LEADER,
    NOTHING,
    OUTDATED,
    SLOTS,
    WATCHED,
    WATCHED_ROUNDS,
    most_slots,
    move_on,
    row_towards,
    steering_agent,
    steering_rows,
    write_slots,
)
from cobandit.base.cells import arms_in_cells, strides_of
from cobandit.base.checks import MOST, one_of, real, whole
from cobandit.base.tuples import Floats, Ints, MakeRow

REPORTS = ("auto", "on", "off")

LEVEL, ABOVE, DENSITY, FACTOR = range(4)
"""What ``watch`` holds: the best other index, what the watched cell's posterior has above it, its density there
(`gittins.beta_tail`), and the factor of a normal posterior's index."""


class Steering(NamedTuple):
    """The state of a steering agent: settings, its own observations of every cell, stored indices, and the public
    slots.

    ``means`` and ``spans`` are those of the posteriors (the index multiplies the span); ``stamps`` has the number of
    remaining rounds for which an index was computed. The compiled kind derives its fields from these.
    """

    index: Any  # as int it would hide the method of tuples
    stay: int
    horizon: int
    exploration: float
    binary: int
    prior: float
    weight: float
    noise_weight: float
    cells: int
    arms: Ints
    strides: Ints
    own: Ints
    counts: Ints
    sums: Floats
    means: Floats
    spans: Floats
    kept: Floats
    stamps: Ints
    ahead: Floats
    worth: Floats
    movers: Ints
    steps: Ints
    notes: Ints
    watch: Floats


Known = TypeVar("Known", bound=Steering | Reporting)


def mean_of(me: Steering, count: int, total: float) -> float:
    """Return the posterior mean of a cell: a Beta posterior, or a normal one where rewards are not all 0 or 1."""
    if me.binary == 1:
        return float((me.prior * me.weight + total) / (me.weight + count))
    return float((me.prior * me.weight + total * me.noise_weight) / (me.weight + count * me.noise_weight))


def span_of(me: Steering, count: int) -> float:
    """Return the span of a cell, which its index multiplies: 1 / sqrt(n), or the standard deviation of a normal
    posterior.
    """
    if me.index == UCB:
        return 1.0 / math.sqrt(max(count, COMPANION_FLOOR))
    return 1.0 / math.sqrt(me.weight + count * me.noise_weight)


def is_still_best(me: Steering, cell: int, rounds: int) -> bool:
    """Return whether the watched cell's index is above all others, without computing it.

    It is if l - m < H E[(theta - l)+] at the best other index l. With fewer remaining rounds the others have only
    decreased; with more they must be computed again.
    """
    if me.notes[WATCHED] != cell or rounds > me.notes[WATCHED_ROUNDS]:
        return False
    mean, level, above = me.means[cell], me.watch[LEVEL], me.watch[ABOVE]
    ones = mean * (me.weight + me.counts[cell])
    excess = mean * (above + me.watch[DENSITY] / ones) - level * above
    return bool(level - mean < rounds * excess)


def watch_cell(me: Steering, cell: int, rounds: int) -> None:
    """Start to compare a cell with the best of the others, which are all up to date."""
    level = 0.0
    for other in range(me.cells):
        if other != cell and me.kept[other] > level:
            level = me.kept[other]
    total = me.weight + me.counts[cell]
    ones = me.means[cell] * total
    above, density = beta_tail(ones, total - ones, level)
    me.watch[LEVEL], me.watch[ABOVE], me.watch[DENSITY] = level, above, density
    me.notes[WATCHED], me.notes[WATCHED_ROUNDS] = cell, rounds


def follow_watched(me: Steering, cell: int, seen: float) -> None:
    """Update the tail of the watched cell above the same level after one more observation."""
    total = me.weight + me.counts[cell]
    ones = me.means[cell] * total
    level, density = me.watch[LEVEL], me.watch[DENSITY]
    if seen == 1.0:
        me.watch[ABOVE] += density / ones
        me.watch[DENSITY] = density * level * total / ones
    else:
        me.watch[ABOVE] -= density / (total - ones)
        me.watch[DENSITY] = density * (1.0 - level) * total / (total - ones)


def reckon_all(me: Steering, rounds: int) -> None:
    """Bring the Gittins index of every cell up to date (Beta posteriors)."""
    untried = -1
    for cell in range(me.cells):
        if me.stamps[cell] == rounds:
            continue
        me.stamps[cell] = rounds
        if me.counts[cell] == 0 and untried >= 0:
            me.kept[cell] = me.kept[untried]
            continue
        total = me.weight + me.counts[cell]
        ones = me.means[cell] * total
        me.kept[cell] = gittins_beta(ones, total - ones, float(rounds), me.kept[cell])
        untried = cell if me.counts[cell] == 0 else untried


def reckon_lines(me: Steering, t: int) -> None:
    """Compute the index of every cell, mean + factor * span: UCB, or the Gittins index of normal posteriors."""
    if me.index == UCB:
        factor = math.sqrt(2.0 * me.exploration * math.log(t - 1.0)) if t > 1 else 0.0
    else:
        rounds = remaining_rounds(me, t)
        if rounds != me.notes[WATCHED_ROUNDS]:
            me.watch[FACTOR] = gittins_factor(float(rounds))
            me.notes[WATCHED_ROUNDS] = rounds
        factor = me.watch[FACTOR]
    for cell in range(me.cells):
        me.kept[cell] = me.means[cell] + factor * me.spans[cell]


def best_cell(me: Steering, t: int) -> int:
    """Return the cell with the highest index, the first of equals; if the present one is still best, without computing
    it.
    """
    at = me.notes[AT]
    bayes = me.index != UCB and me.binary == 1
    rounds = 0
    if bayes:
        rounds = remaining_rounds(me, t)
        if is_still_best(me, at, rounds):
            return int(at)
        reckon_all(me, rounds)
    else:
        reckon_lines(me, t)
    best = 0
    for cell in range(1, me.cells):
        if me.kept[cell] > me.kept[best]:
            best = cell
    if bayes and best == at and me.cells > 1:
        watch_cell(me, at, rounds)
    return int(best)


def leading_row(me: Steering, t: int) -> int:
    """Return the steering agent's arm: to the best cell if it is within reach, else on the best way to good ones."""
    return row_towards(me, best_cell(me, t), t)


def take_in(me: Steering, played: int, seen: float) -> None:
    """Remember a round (NaN: nothing was seen), and where the partners will be."""
    remember(me, played, seen)
    move_on(me, played)


def remember(me: Steering, played: int, seen: float) -> None:
    """Store the observation of a round in its cell (NaN: nothing was seen)."""
    if seen == seen:
        if me.notes[WATCHED] == played and (seen == 1.0 or seen == 0.0):
            follow_watched(me, played, seen)
        else:
            me.notes[WATCHED] = NOTHING
        me.counts[played] += 1
        me.sums[played] += seen
        me.means[played] = mean_of(me, me.counts[played], me.sums[played])
        if me.index == UCB or me.binary == 0:
            me.spans[played] = span_of(me, me.counts[played])
        me.stamps[played] = OUTDATED


@dataclass
class Steered(Agent):
    """A team with an agreed protocol: the leader decides by its own observations and steers all others with its arms.

    A follower ignores rewards: its arm is a public function of past arms. So the leader always knows the next team
    action. It plays the best cell if that is within reach, and otherwise starts the best path of the next two turns.
    With reports, one follower signals its observations with its arms. Every member must be of this kind, with the same
    options.
    """

    name: ClassVar[str] = "steered"
    label: ClassVar[str] = "Steered"
    paper: ClassVar[str] = "beyond the paper: an agreed protocol, no channel but the actions"
    needs_each_round: ClassVar[bool] = True
    protocol: ClassVar[str | None] = "steered"
    protocol_options: ClassVar[tuple[str, ...]] = ("reports",)
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.steered:steered"
    electing: ClassVar[Any] = "cobandit.agents.elected:elected_steered"

    index: str = option("gittins-horizon", "index of a team action: " + ", ".join(INDICES), one_of(INDICES))
    stay: int = option(4, "D: minimal number of rounds for which a path is planned", whole(1, MOST))
    exploration: float = option(0.025, "exploration constant c (index ucb only)", real(0.0))
    leader_sight: float = option(1.0, "the leader's observability, which bounds its prior", real(0.0, 1.0))
    reports: str = option(
        "auto",
        f"whether the follower reports: on, off, or auto (2 x 2 arms, leader_sight at most {WEAK_SIGHT})",
        one_of(REPORTS),
    )
    follower_sight: float = option(0.0, "the follower's observability (reports only); 0: not known", real(0.0, 1.0))
    prior_mean: float = option(0.5, "mean of the prior (Gaussian settings only)", real(-1e6, 1e6))
    prior_sd: float = option(0.3, "standard deviation of the prior (Gaussian settings only)", real(1e-6, 1e6))
    noise_sd: float = option(0.35, "assumed noise of a seen reward (Gaussian settings only)", real(1e-6, 1e6))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start with all agents at their first arm, the first slot free, and no observations."""
        super().reset(briefing, rng)
        make = make_reporting if has_reports(self, briefing) else make_steering
        self._steering: Steering | Reporting = begun(make(self, briefing, list), briefing.ranks)
        self._predictions: dict[int, int] = {}

    @property
    def predictions(self) -> Mapping[int, int]:
        """What the leader knows that the others will play."""
        return self._predictions

    def choose(self) -> int:
        """Return the own arm: the leader's decision, or a follower's public arm."""
        me, seat = self._steering, self.briefing.agent
        at = np.unravel_index(me.notes[AT], self.briefing.arms)
        if seat == me.notes[LEADER]:
            unknown = isinstance(me, Reporting) and me.report[CELL] != NOTHING
            self._predictions = {j: int(arm) for j, arm in enumerate(at) if j != seat and not unknown}
        if isinstance(me, Reporting):
            return reporting_arm(me, seat, self.round)
        return leading_row(me, self.round) if seat == me.notes[LEADER] else int(at[seat])

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round."""
        played = int(np.ravel_multi_index(team_action, self.briefing.arms))
        me, seen = self._steering, math.nan if reward is None else reward
        if isinstance(me, Reporting):
            reporting_learn(me, self.briefing.agent, self.round, played, seen)
        elif self.briefing.agent == me.notes[LEADER]:
            take_in(me, played, seen)
        else:
            move_on(me, played)

    def dump_memory(self) -> dict[str, Any]:
        """Return the slots and the learnt values as plain data."""
        return {"steering": self._steering._asdict(), "predictions": self._predictions}

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Take that back."""
        self._steering = type(self._steering)(**memory["steering"])
        self._predictions = dict(memory["predictions"])


def make_steering(agent: Any, briefing: Briefing, array: MakeRow) -> Steering:
    """Return the state of an agent before the first round; ``array`` converts a list to the array type in use."""
    cells = math.prod(briefing.arms)
    if briefing.binary:
        sight = agent.leader_sight
        ranges = {"missed": (0.0, sight), "flipped": (1.0 - sight, 1.0)}
        ones, zeros = beta_prior(*ranges.get(briefing.observation, (0.0, 1.0)))
        prior, weight, noise_weight = ones / (ones + zeros), ones + zeros, 0.0
    else:
        prior, weight, noise_weight = agent.prior_mean, agent.prior_sd**-2.0, agent.noise_sd**-2.0
    slots = most_slots(briefing.arms)
    me = Steering(
        index=INDICES.index(agent.index),
        stay=agent.stay,
        horizon=briefing.horizon,
        exploration=agent.exploration,
        binary=int(briefing.binary),
        prior=prior,
        weight=weight,
        noise_weight=noise_weight,
        cells=cells,
        arms=array(briefing.arms),
        strides=array(strides_of(briefing.arms)),
        own=array(arms_in_cells(briefing.arms)),
        counts=array([0] * cells),
        sums=array([0.0] * cells),
        means=array([prior] * cells),
        spans=array([0.0] * cells),
        **steering_rows(cells, slots, array),
        watch=array([0.0] * 4),
    )
    for cell in range(cells):
        me.spans[cell] = span_of(me, 0)
    return me


def begun(me: Known, ranks: tuple[int, ...]) -> Known:
    """Return the same with the slots of these ranks."""
    order = sorted(range(len(ranks)), key=ranks.__getitem__)
    me.notes[LEADER] = steering_agent(me.arms, order, len(order))
    me.notes[SLOTS] = write_slots(me.arms, order, len(order), me.movers, me.steps)
    return me
