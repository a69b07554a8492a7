"""Teams that find out whether they speak one protocol, compiled (`agents.handshake`): the plain functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.agents import handshake as plain
from cobandit.agents.bank import BankState, likeliest_row, make_bank, write_groups
from cobandit.agents.handshake import MATCHED, Handshake, handshake_arm, handshake_learn
from cobandit.agents.steered import Steering
from cobandit.agents.steering import AT, LEADER, SLOTS, steering_agent, write_slots
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds import bank as _bank  # noqa: F401 - whose functions are compiled, too
from cobandit.engine.fast.kinds.steered import steering_of
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import SEATED, Seat
from cobandit.engine.fast.rows import part_of
from cobandit.engine.fast.world import World, own_arm

compile_plain(plain.greeting, plain.handshake_arm, plain.handshake_learn, plain.is_greeted)

steering_part = part_of(Steering, "s_")
bank_part = part_of(BankState, "b_")


def prefixed(prefix: str, fields: tuple[str, ...]) -> list[str]:
    """Return the names of fields behind a prefix."""
    return [prefix + name for name in fields]


HandshakeFields: Any = joined_tuple(
    SEATED, ("shake",), prefixed("s_", Steering._fields), prefixed("b_", BankState._fields)
)


class HandshakePlayer(HandshakeFields):  # type: ignore[misc]
    """The notes of the handshake, and the fields of `agents.steered.Steering` and of `agents.bank.BankState`."""

    seat: int

    def begin(self, world: World) -> None:
        """Compute the slots, rows and groups from a run's ranks."""
        self.s_notes[LEADER] = steering_agent(world.arms, world.order, world.agents)
        self.s_notes[SLOTS] = write_slots(world.arms, world.order, world.agents, self.s_movers, self.s_steps)
        rank = world.ranks[self.seat]
        write_groups(bank_part(self), world.arms, world.strides, world.order, self.seat, rank)

    def choose(self, world: World, t: int) -> Arm:
        """Return the greeting, the steered arm, or the bank's; and what is foreseen."""
        bank = bank_part(self)
        arm = handshake_arm(self.shake, steering_part(self), bank, world.ranks, self.seat, t)
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

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        handshake_learn(self.shake, steering_part(self), bank_part(self), world.ranks, self.seat, t, played, seen)


def handshake(agent: Handshake, seat: Seat) -> HandshakePlayer:
    """Return the compiled form."""
    shake, bank = np.array([1, len(seat.briefing.arms)]), make_bank(agent, seat.briefing, np.array)
    return HandshakePlayer(seat.number, seat.stream, shake, *steering_of(agent, seat), *bank)
