"""The follower with a bank of predictors, compiled (`agents.bank`): the plain functions themselves, on arrays."""

from __future__ import annotations

import numpy as np

from cobandit.agents import bank as plain
from cobandit.agents.bank import Bank, BankState, banked_arm, likeliest_row, make_bank, take_in, write_groups
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import SEATED, Seat
from cobandit.engine.fast.world import World

compile_plain(
    plain.stay_chance,
    plain.stay_place,
    plain.guess_all,
    plain.bet_on,
    plain.banked_arm,
    plain.look_ahead,
    plain.take_in,
    plain.write_groups,
    plain.likeliest_row,
)


class BankPlayer(joined_tuple(SEATED, BankState)):  # type: ignore[misc]
    """The fields of `agents.bank.BankState`."""

    seat: int

    def begin(self, world: World) -> None:
        """Compute the rows and groups from a run's ranks."""
        write_groups(self, world.arms, world.strides, world.order, self.seat, world.ranks[self.seat])

    def choose(self, world: World, t: int) -> Arm:
        """Return the arm that is best against the prediction."""
        arm = banked_arm(self, t)
        row = likeliest_row(self)
        for below in range(world.ranks[self.seat]):
            other = world.order[world.ranks[self.seat] - 1 - below]
            world.predictions[self.seat * world.agents + other] = row % world.arms[other]
            row //= world.arms[other]
        return arm

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Remember the round."""
        take_in(self, played, seen)


def bank(agent: Bank, seat: Seat) -> BankPlayer:
    """Return the compiled form."""
    return BankPlayer(seat.number, seat.stream, *make_bank(agent, seat.briefing, np.array))
