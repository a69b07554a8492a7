"""Partner-aware agents that elect their leader, compiled (`agents.elected_aware`).

After the last vote the world has the elected ranks. All members write the same: they know of the same arms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.agents.elected_aware import ElectedAwareTS, ElectedAwareUCB
from cobandit.agents.election import Opening, is_opening, opening_arm, opening_foresight, opening_learn
from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds.election import opening_of
from cobandit.engine.fast.kinds.foresight import WIDTHS, foresight_of, keeps_arm, role_widths, with_constant
from cobandit.engine.fast.kinds.heeding import role_scale
from cobandit.engine.fast.kinds.thompson import BetaThompson, GaussianThompson, beta_best, gaussian_best, gaussian_prior
from cobandit.engine.fast.kinds.ucb import FreshUCB, changing_index, fresh_best, keep_line, record
from cobandit.engine.fast.models import write_ranks
from cobandit.engine.fast.players import Seat, table
from cobandit.engine.fast.random import gamma_steps, inlined
from cobandit.engine.fast.world import World, aim_at


class ElectedUCB(joined_tuple(FreshUCB, ("has_roles", *WIDTHS, "horizon"), Opening)):  # type: ignore[misc]
    """The fields of `ucb.FreshUCB` and of `agents.election.Opening`; with ``has_roles`` 1 the scale is by role."""

    seat: int

    def choose(self, world: World, t: int) -> Arm:
        """Return the own arm of the opening; then the own part of the best cell of the block."""
        if is_opening(self, t):
            return agreed_arm(self, world, t)
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        scale = self.scales[t] if self.has_roles == 0 else role_scale(self, world, t)
        return aim_at(world, self.seat, fresh_best(self, world, t, scale))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward, or a vote."""
        keep_line(self, world, played, seen)
        count_vote(self, world, t, played, seen)


class ElectedBetaThompson(joined_tuple(BetaThompson, Opening)):  # type: ignore[misc]
    """The fields of `thompson.BetaThompson` and of `agents.election.Opening`."""

    seat: int

    def choose(self, world: World, t: int) -> Arm:
        """Return the own arm of the opening; then the own part of the cell with the best draw."""
        if is_opening(self, t):
            return agreed_arm(self, world, t)
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, beta_best(self, world, t))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward, or a vote."""
        record(self, played, seen)
        count_vote(self, world, t, played, seen)


class ElectedGaussianThompson(joined_tuple(GaussianThompson, Opening)):  # type: ignore[misc]
    """The fields of `thompson.GaussianThompson` and of `agents.election.Opening`."""

    seat: int

    def choose(self, world: World, t: int) -> Arm:
        """Return the own arm of the opening; then the own part of the cell with the best draw."""
        if is_opening(self, t):
            return agreed_arm(self, world, t)
        if keeps_arm(self, world, t):
            return world.arm[self.seat]
        return aim_at(world, self.seat, gaussian_best(self, world, t))

    def learn(self, world: World, t: int, played: int, seen: float) -> None:
        """Take in one seen reward, or a vote."""
        record(self, played, seen)
        count_vote(self, world, t, played, seen)


@inlined
def agreed_arm(me: Any, world: World, t: int) -> Any:
    """Return the agent's arm in a round of the opening, with the known arms of the others."""
    for j in range(world.agents):
        if j != me.seat:
            world.predictions[me.seat * world.agents + j] = opening_foresight(me, j, t)
    return np.int64(opening_arm(me, me.seat, t))


@inlined
def count_vote(me: Any, world: World, t: int, played: int, seen: float) -> None:
    """Take in a round of the opening; with the last vote the world has the elected ranks."""
    if is_opening(me, t) and opening_learn(me, t, played, seen):
        for rank in range(world.agents):
            world.order[rank] = me.order[rank]
        write_ranks(world)


def elected_ucb(agent: ElectedAwareUCB, seat: Seat) -> ElectedUCB:
    """Return the compiled form: a scan, whatever the index; that of the paper has one scale for all rounds."""
    return ElectedUCB(
        seat.number,
        seat.stream,
        *foresight_of(agent, seat),
        int(agent.ties == "random"),
        *changing_index(with_constant(agent, 0), seat, seat.cells),
        int(agent.follower_exploration is not None),
        *role_widths(agent),
        seat.briefing.horizon,
        *opening_of(agent.sweeps, seat),
    )


def elected_ts(agent: ElectedAwareTS, seat: Seat) -> ElectedBetaThompson | ElectedGaussianThompson:
    """Return the compiled form for the rewards of a problem."""
    shared = seat.number, seat.stream, *foresight_of(agent, seat), int(agent.ties == "random")
    memory = seat.zeros(np.int64), seat.zeros()
    opening = opening_of(agent.sweeps, seat)
    if seat.briefing.binary:
        return ElectedBetaThompson(*shared, table(gamma_steps(seat.briefing.horizon + 1)), *memory, *opening)
    return ElectedGaussianThompson(*shared, *gaussian_prior(agent), *memory, *opening)
