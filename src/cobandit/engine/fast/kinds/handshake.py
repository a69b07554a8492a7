"""Teams that find out whether they speak one protocol, compiled (`agents.handshake`): the plain functions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cobandit.agents import handshake as plain
from cobandit.agents.bank import BankState, likeliest_row, make_bank, write_groups
from cobandit.agents.handshake import MATCHED, Handshake, handshake_arm, handshake_learn
from cobandit.agents.steered import Steering, make_steering
from cobandit.agents.steering import AT, LEADER, SLOTS, steering_agent, write_slots
from cobandit.engine.fast.kinds import bank as _bank  # noqa: F401 - whose functions are compiled, too
from cobandit.engine.fast.kinds import steered as _steered  # noqa: F401
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.rows import part_of
from cobandit.engine.fast.world import own_arm

compile_plain(plain.greeting, plain.handshake_arm, plain.handshake_learn, plain.is_greeted)

steering_of = part_of(Steering, "s_")
bank_of = part_of(BankState, "b_")


class HandshakePlayer(NamedTuple):
    """The fields of `agents.steered.Steering` and of `agents.bank.BankState`, and the notes of the handshake."""

    seat: Any
    stream: Any
    shake: Any
    s_index: Any
    s_stay: Any
    s_horizon: Any
    s_exploration: Any
    s_binary: Any
    s_prior: Any
    s_weight: Any
    s_noise_weight: Any
    s_cells: Any
    s_arms: Any
    s_strides: Any
    s_own: Any
    s_counts: Any
    s_sums: Any
    s_means: Any
    s_spans: Any
    s_kept: Any
    s_stamps: Any
    s_ahead: Any
    s_worth: Any
    s_movers: Any
    s_steps: Any
    s_notes: Any
    s_watch: Any
    b_plan: Any
    b_exploration: Any
    b_sight: Any
    b_prior: Any
    b_weight: Any
    b_cells: Any
    b_arms: Any
    b_row: Any
    b_group: Any
    b_counts: Any
    b_sums: Any
    b_worth: Any
    b_ahead: Any
    b_histograms: Any
    b_stays: Any
    b_guesses: Any
    b_trust: Any
    b_mixture: Any
    b_notes: Any
    b_total: Any

    def begin(self, world: Any) -> None:
        """The slots, rows and groups of a run's ranks."""
        self.s_notes[LEADER] = steering_agent(world.arms, world.order, world.agents)
        self.s_notes[SLOTS] = write_slots(world.arms, world.order, world.agents, self.s_movers, self.s_steps)
        rank = world.ranks[self.seat]
        write_groups(bank_of(self), world.arms, world.strides, world.order, self.seat, rank)

    def choose(self, world: Any, t: int) -> Any:
        """The greeting, the steered arm, or the bank's; and what is foreseen."""
        bank = bank_of(self)
        arm = handshake_arm(self.shake, steering_of(self), bank, world.ranks, self.seat, t)
        agents = world.agents
        for j in range(agents):
            world.predictions[self.seat * agents + j] = -1
        if self.shake[MATCHED] == 1:
            if t > plain.ROUNDS and self.seat == self.s_notes[LEADER]:
                for j in range(agents):
                    if j != self.seat:
                        world.predictions[self.seat * agents + j] = own_arm(world, j, self.s_notes[AT])
        else:
            row = likeliest_row(bank)
            for below in range(world.ranks[self.seat]):
                other = world.order[world.ranks[self.seat] - 1 - below]
                world.predictions[self.seat * agents + other] = row % world.arms[other]
                row //= world.arms[other]
        return arm

    def learn(self, world: Any, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        handshake_learn(self.shake, steering_of(self), bank_of(self), world.ranks, self.seat, t, played, seen)


def handshake(agent: Handshake, seat: Seat) -> HandshakePlayer:
    """The compiled form."""
    steering = make_steering(agent, seat.briefing, np.array)
    fixed = {name: table(getattr(steering, name)) for name in ("arms", "strides", "own")}
    bank = make_bank(agent, seat.briefing, np.array)
    return HandshakePlayer(
        seat.number, seat.stream, np.array([1, len(seat.briefing.arms)]), *steering._replace(**fixed), *bank
    )
