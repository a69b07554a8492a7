"""Very naive UCBVI, compiled (`mdp.agents.naive`): counts, moves and plan over the own arms alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cobandit.base.tuples import joined_tuple
from cobandit.engine.fast.arrays import Arm, Cells, Floats, Ints
from cobandit.engine.fast.kinds.search import best_of
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import inlined, uniform
from cobandit.mdp.fast.kinds.ucbvi import Optimism, Plan, optimism_of, plan_arrays, record_reward
from cobandit.mdp.fast.planning import COMPANION, joint_max_plan, scale_at
from cobandit.mdp.fast.world import EPISODE, NEXT, PLACE, STATE, MarkovWorld, count_move


class OwnModel(NamedTuple):
    """A model over states and own arms; its fields are those of `world.MarkovWorld`."""

    visits: Ints
    link_counts: Ints
    links: Cells
    moves: Floats


class OwnArmsPlanner(joined_tuple(Optimism, Plan, OwnModel)):  # type: ignore[misc]
    """Plans by a model of its own, over states and own arms."""

    def plan_episode(self, world: MarkovWorld, t: int) -> None:
        """Compute the indices of the next episode."""
        if self.index != COMPANION or world.here[EPISODE] > 0:
            actions = world.arms[self.seat]
            joint_max_plan(self, self, world.states, actions, world.steps, scale_at(self, t, self.exploration))

    def choose(self, world: MarkovWorld, t: int) -> Arm:
        """Return the own arm with the best index."""
        if self.index == COMPANION and world.here[EPISODE] == 0:
            return np.int64(uniform(world.streams, self.stream) * world.arms[self.seat])
        return best_own(self, world)

    def learn(self, world: MarkovWorld, t: int, played: int, seen: float) -> None:
        """Take in the own arm, the reward and the move."""
        pair = world.here[STATE] * world.arms[self.seat] + world.arm[self.seat]
        record_reward(self, pair, seen)
        self.visits[pair] += 1
        count_move(self.link_counts, self.links, self.moves, pair, world.states, world.here[NEXT])


@inlined
def best_own(me: Any, world: MarkovWorld) -> Any:
    """Return the own arm of the best index at the present place."""
    arms = world.arms[me.seat]
    start = world.here[PLACE] * arms
    for k in range(arms):
        world.values[k] = me.q[start + k]
    return np.int64(best_of(world.values, arms, me.random_ties, world.streams, me.stream))


def very_naive(agent: Any, seat: Seat) -> OwnArmsPlanner:
    """Return the compiled form."""
    briefing: Any = seat.briefing
    pairs = briefing.states * briefing.own_arms
    model = OwnModel(
        np.zeros(pairs, dtype=np.int64),
        np.zeros(pairs, dtype=np.int64),
        np.zeros(pairs * briefing.states, dtype=np.int32),
        np.zeros(pairs * briefing.states),
    )
    return OwnArmsPlanner(*optimism_of(agent, seat), *plan_arrays(briefing, briefing.own_arms), *model)
