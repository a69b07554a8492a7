"""Centralised UCB and Thompson, compiled (`agents.centralised`): the agents' searches, by one controller.

A joint kind chooses a cell, not an arm, and learns from the combined observation of all agents.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.agents.centralised import CentralisedTS, CentralisedUCB
from cobandit.engine.fast.arrays import Arm
from cobandit.engine.fast.kinds.kinetic import KineticUCB, kinetic_winner
from cobandit.engine.fast.kinds.thompson import BetaThompson, GaussianThompson, beta_best, gaussian_best, thompson
from cobandit.engine.fast.kinds.tournament import TournamentUCB, block_winner
from cobandit.engine.fast.kinds.ucb import COMPANION, FreshUCB, KeptUCB, fresh_best, kept_best
from cobandit.engine.fast.kinds.ucb_search import quickest_ucb
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import inlined, uniform
from cobandit.engine.fast.world import World


@inlined
def random_cell(me: Any, world: World) -> Any:
    """Draw the arm of each agent separately."""
    cell = 0
    for j in range(world.agents):
        cell += np.int64(uniform(world.streams, me.stream) * world.arms[j]) * world.strides[j]
    return cell


class JointKeptUCB(KeptUCB):
    """`KeptUCB` for all."""

    joint = True

    def choose(self, world: World, t: int) -> Arm:
        """Return the cell with the best index."""
        return kept_best(self, world, t)


class JointFreshUCB(FreshUCB):
    """`FreshUCB` for all."""

    joint = True

    def choose(self, world: World, t: int) -> Arm:
        """Return the cell with the best index."""
        if self.index == COMPANION and t == 1:
            return random_cell(self, world)
        return fresh_best(self, world, t, self.scales[t])


class JointTournamentUCB(TournamentUCB):
    """`TournamentUCB` for all."""

    joint = True

    def choose(self, world: World, t: int) -> Arm:
        """Return the cell with the best index."""
        return block_winner(self, world, t)


class JointKineticUCB(KineticUCB):
    """`KineticUCB` for all."""

    joint = True

    def choose(self, world: World, t: int) -> Arm:
        """Return the cell with the best index."""
        return random_cell(self, world) if self.index == COMPANION and t == 1 else kinetic_winner(self, t)


class JointBetaThompson(BetaThompson):
    """`BetaThompson` for all."""

    joint = True

    def choose(self, world: World, t: int) -> Arm:
        """Return the cell with the best draw."""
        return beta_best(self, world, t)


class JointGaussianThompson(GaussianThompson):
    """`GaussianThompson` for all."""

    joint = True

    def choose(self, world: World, t: int) -> Arm:
        """Return the cell with the best draw."""
        return gaussian_best(self, world, t)


JOINT: dict[type[Any], type[Any]] = {
    kind.__mro__[1]: kind
    for kind in (
        JointKeptUCB,
        JointFreshUCB,
        JointTournamentUCB,
        JointKineticUCB,
        JointBetaThompson,
        JointGaussianThompson,
    )
}


def centralised_ucb(agent: CentralisedUCB, seat: Seat) -> Any:
    """Return the quickest compiled form."""
    kind = quickest_ucb(agent, seat)
    return JOINT[type(kind)](*kind)


def centralised_ts(agent: CentralisedTS, seat: Seat) -> Any:
    """Return the compiled form."""
    kind = thompson(agent, seat)
    return JOINT[type(kind)](*kind)
