"""A cheap handshake: steered if all partners follow the protocol, else the bank (beyond the paper).

In the first rounds every agent plays a public sequence of arms, its greeting. With two or three agents of two arms each
the greetings sweep all team actions, so the rounds are exploration that any learner would do. An agent that sees
another arm than the greeting knows immediately that a partner does not follow the protocol, and continues with the
bank.

All code here is plain arithmetic on numbers and flat lists, which the fast engine compiles unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.bank import BankState, banked_arm, likeliest_arms, seated_bank
from cobandit.agents.bank import take_in as bank_take_in
from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.gittins import INDICES
from cobandit.agents.steered import Steering, begun, leading_row, make_steering, remember, take_in
from cobandit.agents.steering import AT, LAST, LEADER, SLOT, Numbers, move_on
from cobandit.base.checks import MOST, one_of, real, whole
from cobandit.base.records import flag
from cobandit.base.tuples import Ints

ROUNDS = 8
"""Number of rounds of a greeting."""
GREETINGS = (
    (0, 1, 1, 0, 1, 0, 0, 1),
    (0, 0, 1, 1, 1, 0, 1, 0),
    (0, 0, 0, 0, 1, 1, 1, 1),
)
"""By rank: two agents with two arms play every team action twice, three of them every one once."""

MATCHED, AGENTS = range(2)
"""The entries of a handshake's notes: whether all agents have greeted so far, and the number of agents."""


def greeting(rank: int, t: int, arms: int) -> int:
    """Return the arm with which an agent of a rank greets in round t; no walk from arm to arm, as a beginner's might
    be.
    """
    bit = GREETINGS[rank % 3][(t - 1 + rank // 3) % ROUNDS]
    if arms <= 2:
        return bit * (arms - 1)
    return int((bit + (t - 1) * (t - 1 + rank)) % arms)


def is_greeted(agents: int, steering: Steering, ranks: Numbers, t: int, played: int) -> bool:
    """Return whether all agents have greeted in round t."""
    for agent in range(agents):
        if steering.own[agent * steering.cells + played] != greeting(ranks[agent], t, steering.arms[agent]):
            return False
    return True


def handshake_arm(shake: Ints, steering: Steering, bank: BankState, ranks: Numbers, seat: int, t: int) -> int:
    """Return the own arm: the greeting, the steered arm, or the bank's."""
    if shake[MATCHED] == 0:
        return int(banked_arm(bank, t))
    if t <= ROUNDS:
        banked_arm(bank, t)  # its predictors bet from the first round on
        return greeting(ranks[seat], t, steering.arms[seat])
    if seat == steering.notes[LEADER]:
        return int(leading_row(steering, t))
    return int(steering.own[seat * steering.cells + steering.notes[AT]])


def handshake_learn(
    shake: Ints, steering: Steering, bank: BankState, ranks: Numbers, seat: int, t: int, played: int, seen: float
) -> None:
    """Store a round (NaN: nothing was seen), and whether all agents have greeted so far."""
    if shake[MATCHED] == 1 and t > ROUNDS:
        if seat == steering.notes[LEADER]:
            take_in(steering, played, seen)
        else:
            move_on(steering, played)
        return
    bank_take_in(bank, played, seen)
    if shake[MATCHED] == 1:
        remember(steering, played, seen)
        if not is_greeted(shake[AGENTS], steering, ranks, t, played):
            shake[MATCHED] = 0
        elif t == ROUNDS:
            steering.notes[AT] = played
            steering.notes[LAST] = steering.own[steering.notes[LEADER] * steering.cells + played]
            steering.notes[SLOT] = 0


@dataclass
class Handshake(Agent):
    """Plays with any partner: as a steered team if all partners greet, else with the bank.

    The first eight rounds are a public greeting. An agent that sees another arm than the greeting continues with the
    bank immediately.
    """

    name: ClassVar[str] = "handshake"
    label: ClassVar[str] = "Handshake"
    paper: ClassVar[str] = "beyond the paper: steered if the partner speaks the protocol, else the bank"
    needs_each_round: ClassVar[bool] = True
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.handshake:handshake"

    index: str = option("gittins-horizon", "index of a steered team: " + ", ".join(INDICES), one_of(INDICES))
    stay: int = option(4, "D: minimal number of rounds for which a path is planned", whole(1, MOST))
    exploration: float = option(0.05, "exploration constant c of the bank (and of index ucb)", real(0.0))
    leader_sight: float = option(1.0, "the leader's observability, the bound of a steered prior", real(0.0, 1.0))
    sight: float = option(1.0, "own observability, which bounds the bank's prior", real(0.0, 1.0))
    plan: bool = option(False, "look-ahead of the bank over some rounds", flag)
    prior_mean: float = option(0.5, "mean of the prior (Gaussian settings only)", real(-1e6, 1e6))
    prior_sd: float = option(0.3, "standard deviation of the prior (Gaussian settings only)", real(1e-6, 1e6))
    noise_sd: float = option(0.35, "assumed noise of a seen reward (Gaussian settings only)", real(1e-6, 1e6))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start without observations and greetings."""
        super().reset(briefing, rng)
        self._shake = [1, len(briefing.arms)]
        self._steering = begun(make_steering(self, briefing, list), briefing.ranks)
        self._bank = seated_bank(self, briefing)
        self._predictions: dict[int, int] = {}

    @property
    def greeted(self) -> bool:
        """Whether every partner has greeted so far."""
        return self._shake[MATCHED] == 1

    @property
    def predictions(self) -> Mapping[int, int]:
        """What a steering leader knows, or what the bank holds likeliest."""
        return self._predictions

    def choose(self) -> int:
        """Return the greeting, the steered arm, or the bank's."""
        briefing, seat = self.briefing, self.briefing.agent
        arm = handshake_arm(self._shake, self._steering, self._bank, briefing.ranks, seat, self.round)
        self._predictions = {}
        if not self.greeted:
            self._predictions = likeliest_arms(self._bank, briefing)
        elif self.round > ROUNDS and seat == self._steering.notes[LEADER]:
            at = np.unravel_index(self._steering.notes[AT], briefing.arms)
            self._predictions = {other: int(place) for other, place in enumerate(at) if other != seat}
        return arm

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round."""
        briefing = self.briefing
        played = int(np.ravel_multi_index(team_action, briefing.arms))
        seen = math.nan if reward is None else reward
        state = (self._shake, self._steering, self._bank, briefing.ranks, briefing.agent)
        handshake_learn(*state, self.round, played, seen)

    def dump_memory(self) -> dict[str, Any]:
        """Return the learnt values as plain data."""
        return {
            "shake": self._shake,
            "steering": self._steering._asdict(),
            "bank": self._bank._asdict(),
            "predictions": self._predictions,
        }

    def load_memory(self, memory: Mapping[str, Any]) -> None:
        """Take that back."""
        self._shake = list(memory["shake"])
        self._steering = Steering(**memory["steering"])
        self._bank = BankState(**memory["bank"])
        self._predictions = dict(memory["predictions"])
