"""A follower for any leader, for instance a person: a mixture of simple predictors of the leader's next arm.

Beyond the paper. Alg. 1 predicts with a window of fixed length, which suits some leaders and not others. Here eleven
predictors assign probabilities to the leader's next arm, and better predictors get larger weights: a Bayesian mixture
with a fixed share (Herbster and Warmuth, 1998). The prediction is used as in Alg. 1.

All code here is plain arithmetic on numbers and flat lists, which the fast engine compiles unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.gittins import beta_prior
from cobandit.agents.steering import Numbers
from cobandit.base.cells import strides_of
from cobandit.base.checks import real
from cobandit.base.lazy import renamed_names
from cobandit.base.records import flag
from cobandit.base.tuples import Floats, Ints, MakeRow

DECAYS = (0.0, 0.6, 0.9, 0.97, 1.0)
"""How much of a histogram of the leader's arms is left after a round."""
STAYS, GREEDY, OPTIMIST = len(DECAYS), len(DECAYS) + 4, len(DECAYS) + 5
"""Where the predictors by staying begin (over all; by the own reward; by the last cell; by both), and those by aims."""
PREDICTORS = len(DECAYS) + 6
SURE = 0.9
"""How likely a predictor by aims holds the arm it thinks of."""
SHARE = 0.01
"""What goes back to all predictors alike after each round."""
SWEEPS, DISCOUNT = 15, 0.9
"""How far ahead a plan looks."""

ROWS, GROUPS, LAST, GOOD, LOOKS = range(5)
"""What ``notes`` hold: how many rows and groups there are, the last group (-1: none), whether its round was good by
the own eyes, and how many rewards were seen."""


class BankState(NamedTuple):
    """What a follower with a bank knows. The compiled kind derives its fields from these.

    A *row* is what all higher-ranked agents play, a *group* a row together with the own arm: group = row * arms + arm.
    """

    plan: int
    exploration: float
    sight: float
    prior: float
    weight: float
    cells: int
    arms: int
    row: Ints
    group: Ints
    counts: Ints
    sums: Floats
    worth: Floats
    ahead: Floats
    histograms: Floats
    stays: Floats
    guesses: Floats
    trust: Floats
    mixture: Floats
    notes: Ints
    total: Floats


def stay_chance(me: BankState, predictor: int) -> float:
    """Return how likely the leader keeps its row, by one of the four predictors by staying."""
    at = 2 * stay_place(me, predictor)
    return float(me.stays[at] / (me.stays[at] + me.stays[at + 1]))


def stay_place(me: BankState, predictor: int) -> int:
    """Return which pair of counts (stayed, moved) a predictor by staying looks at now."""
    last, good, groups = me.notes[LAST], me.notes[GOOD], me.notes[GROUPS]
    if predictor == 0:
        return 0
    if predictor == 1:
        return int(1 + good)
    return int(3 + last) if predictor == 2 else int(3 + groups + 2 * last + good)


def guess_all(me: BankState, t: int) -> None:
    """Compute every predictor's probability of every row, and the mixture's."""
    rows = me.notes[ROWS]
    for k in range(len(DECAYS)):
        total = 0.0
        for row in range(rows):
            total += me.histograms[k * rows + row]
        for row in range(rows):
            me.guesses[k * rows + row] = (me.histograms[k * rows + row] + 0.05) / (total + 0.05 * rows)
    for k in range(4):
        if me.notes[LAST] < 0:
            bet_on(me, STAYS + k, 0, 1.0 / rows)
        else:
            bet_on(me, STAYS + k, me.notes[LAST] // me.arms, stay_chance(me, k))
    greedy, optimist = 0, 0
    best_mean, best_index = -math.inf, -math.inf
    bonus = 0.05 * math.log(t + 1.0)
    for cell in range(me.cells):
        mean = (me.prior * me.weight + me.sums[cell]) / (me.weight + me.counts[cell])
        index = mean + me.sight * math.sqrt(bonus / (me.counts[cell] + 0.1))
        if mean > best_mean:
            best_mean, greedy = mean, me.row[cell]
        if index > best_index:
            best_index, optimist = index, me.row[cell]
    bet_on(me, GREEDY, greedy, SURE)
    bet_on(me, OPTIMIST, optimist, SURE)
    for row in range(rows):
        chance = 0.0
        for k in range(PREDICTORS):
            chance += me.trust[k] * me.guesses[k * rows + row]
        me.mixture[row] = chance


def bet_on(me: BankState, predictor: int, row: int, chance: float) -> None:
    """Give one row this probability, and divide the rest equally among all others."""
    rows = me.notes[ROWS]
    for other in range(rows):
        me.guesses[predictor * rows + other] = (1.0 - chance) / max(rows - 1, 1)
    me.guesses[predictor * rows + row] = chance if rows > 1 else 1.0


def banked_arm(me: BankState, t: int) -> int:
    """Return the own arm that is best against the predicted row."""
    guess_all(me, t)
    rows, groups, arms = me.notes[ROWS], me.notes[GROUPS], me.arms
    for group in range(groups):
        me.worth[group] = -math.inf
    bonus = 2.0 * me.exploration * me.sight * math.log(t + 1.0)
    for cell in range(me.cells):
        mean = (me.prior * me.weight + me.sums[cell]) / (me.weight + me.counts[cell])
        index = mean + math.sqrt(bonus / (me.counts[cell] + 1.0))
        group = me.group[cell]
        me.worth[group] = index if index > me.worth[group] else me.worth[group]
    if me.plan == 1:
        look_ahead(me)
    best, top = 0, -math.inf
    for arm in range(arms):
        value = 0.0
        for row in range(rows):
            value += me.mixture[row] * me.mixture[row] * me.worth[row * arms + arm]
        if value > top:
            best, top = arm, value
    return best


def look_ahead(me: BankState) -> None:
    """Add to each group's worth what the rounds after it are worth, if the leader stays as it used to there."""
    rows, groups, arms = me.notes[ROWS], me.notes[GROUPS], me.arms
    for group in range(groups):
        me.ahead[group] = 0.0
    for _ in range(SWEEPS):
        for group in range(groups):
            at = 2 * (3 + group)
            stay = me.stays[at] / (me.stays[at] + me.stays[at + 1]) if rows > 1 else 1.0
            top = -math.inf
            for arm in range(arms):
                value = 0.0
                for row in range(rows):
                    chance = stay if row == group // arms else (1.0 - stay) / (rows - 1)
                    value += chance * (me.worth[row * arms + arm] + DISCOUNT * me.ahead[row * arms + arm])
                top = value if value > top else top
            me.ahead[groups + group] = top
        for group in range(groups):
            me.ahead[group] = me.ahead[groups + group]
    for group in range(groups):
        me.worth[group] += DISCOUNT * me.ahead[group]


def take_in(me: BankState, played: int, seen: float) -> None:
    """Remember a round (NaN: nothing was seen) and which predictors were right."""
    rows, row = me.notes[ROWS], me.row[played]
    total = 0.0
    for k in range(PREDICTORS):
        me.trust[k] *= max(me.guesses[k * rows + row], 1e-3)
        total += me.trust[k]
    for k in range(PREDICTORS):
        me.trust[k] = (1.0 - SHARE) * me.trust[k] / total + SHARE / PREDICTORS
    for k, decay in enumerate(DECAYS):
        for other in range(rows):
            me.histograms[k * rows + other] *= decay
        me.histograms[k * rows + row] += 1.0
    if me.notes[LAST] >= 0:
        moved = 0 if row == me.notes[LAST] // me.arms else 1
        for k in range(4):
            me.stays[2 * stay_place(me, k) + moved] += 1.0
    me.notes[LAST] = me.group[played]
    if seen == seen:
        me.counts[played] += 1
        me.sums[played] += seen
        me.notes[LOOKS] += 1
        me.total[0] += seen
        me.notes[GOOD] = 1 if seen > 0.0 and seen * me.notes[LOOKS] >= me.total[0] else 0


def write_groups(me: BankState, arms: Numbers, strides: Numbers, order: Numbers, seat: int, rank: int) -> None:
    """Compute the row and the group of every cell, and initialise all rows equally."""
    rows = 1
    for above in range(rank):
        rows *= arms[order[above]]
    for cell in range(me.cells):
        row = 0
        for above in range(rank):
            row = row * arms[order[above]] + cell // strides[order[above]] % arms[order[above]]
        me.row[cell] = row
        me.group[cell] = row * me.arms + cell // strides[seat] % me.arms
    me.notes[ROWS], me.notes[GROUPS] = rows, rows * me.arms
    for k in range(PREDICTORS * rows):
        me.guesses[k] = 1.0 / rows


def likeliest_row(me: BankState) -> int:
    """Return the row that the mixture holds likeliest."""
    best = 0
    for row in range(1, me.notes[ROWS]):
        if me.mixture[row] > me.mixture[best]:
            best = row
    return best


@dataclass
class Bank(Agent):
    """Predicts higher-ranked agents with a mixture of predictors, and plays the best arm against the prediction.

    The probabilities of the mixture are squared: a nearly certain prediction decides, while without information all
    rows count. The value of each team action is its posterior mean by the agent's own observations plus a small bonus.
    A leader has no one to predict and plays its part of the best team action.
    """

    name: ClassVar[str] = "bank"
    label: ClassVar[str] = "Bank"
    paper: ClassVar[str] = "beyond the paper: Alg. 1 with a bank of predictors in place of the window"
    needs_each_round: ClassVar[bool] = True
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.bank:bank"

    plan: bool = option(False, "look-ahead over whether the leader stays or moves", flag)
    exploration: float = option(0.05, "exploration constant c, times the agent's observability", real(0.0))
    sight: float = option(1.0, "own observability, which bounds the prior", real(0.0, 1.0))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start without observations, with equal weights of all predictors."""
        super().reset(briefing, rng)
        self._bank = seated_bank(self, briefing)
        self._predictions: dict[int, int] = {}

    @property
    def predictions(self) -> Mapping[int, int]:
        """The likeliest arm of each higher-ranked agent."""
        return self._predictions

    def choose(self) -> int:
        """Return the arm that is best against the prediction."""
        arm = banked_arm(self._bank, self.round)
        self._predictions = likeliest_arms(self._bank, self.briefing)
        return arm

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round."""
        played = int(np.ravel_multi_index(team_action, self.briefing.arms))
        take_in(self._bank, played, math.nan if reward is None else reward)

    def dump_memory(self) -> dict[str, Any]:
        """Return the learnt values as plain data."""
        return {"bank": self._bank._asdict(), "predictions": self._predictions}

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Take that back."""
        self._bank = BankState(**memory["bank"])
        self._predictions = dict(memory["predictions"])


def seated_bank(agent: Any, briefing: Briefing) -> BankState:
    """Return what an agent in the seat of its briefing knows before the first round, in lists."""
    bank = make_bank(agent, briefing, list)
    order = sorted(range(len(briefing.arms)), key=briefing.ranks.__getitem__)
    strides = strides_of(briefing.arms)
    write_groups(bank, briefing.arms, strides, order, briefing.agent, briefing.rank)
    return bank


def likeliest_arms(bank: BankState, briefing: Briefing) -> dict[int, int]:
    """Return the likeliest arm of each agent that ranks higher."""
    row, arms = likeliest_row(bank), {}
    for other in reversed(briefing.higher):
        row, arms[other] = divmod(row, briefing.arms[other])
    return arms


def make_bank(agent: Any, briefing: Briefing, array: MakeRow) -> BankState:
    """Return the state of an agent before the first round; ``array`` converts a list to the array type in use."""
    cells, arms = math.prod(briefing.arms), briefing.own_arms
    rows = cells // arms
    ranges = {"missed": (0.0, agent.sight), "flipped": (1.0 - agent.sight, 1.0)} if briefing.binary else {}
    ones, zeros = beta_prior(*ranges.get(briefing.observation, (0.0, 1.0)))
    return BankState(
        plan=int(agent.plan),
        exploration=agent.exploration,
        sight=agent.sight,
        prior=ones / (ones + zeros),
        weight=ones + zeros,
        cells=cells,
        arms=arms,
        row=array([0] * cells),
        group=array([0] * cells),
        counts=array([0] * cells),
        sums=array([0.0] * cells),
        worth=array([0.0] * cells),
        ahead=array([0.0] * (2 * cells)),
        histograms=array([0.5] * (len(DECAYS) * rows)),
        stays=array([2.0, 1.0] * (3 + 3 * cells)),
        guesses=array([0.0] * (PREDICTORS * rows)),
        trust=array([1.0 / PREDICTORS] * PREDICTORS),
        mixture=array([0.0] * rows),
        notes=array([1, arms, -1, 0, 0]),
        total=array([0.0]),
    )


# Agents that were pickled under the old name are still found.
__getattr__ = renamed_names(__name__, {"BankFollower": "Bank"})
