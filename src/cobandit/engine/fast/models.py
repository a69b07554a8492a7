"""What nature does in compiled code: rewards, observation and roles, each a kind of its own, mirroring `problem`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.base.errors import CobanditError
from cobandit.base.streams import FIRST_OBSERVATION, REWARDS, SETUP
from cobandit.engine.fast.random import inlined, normal, uniform
from cobandit.problem import Bernoulli, FixedMeans, Flipped, Gaussian, Missed, MissedKnown, Noisy, Problem, RandomMeans


class NotCompiled(CobanditError):
    """Why the fast engine cannot play something; the reference engine can."""


class BernoulliRewards(NamedTuple):
    """r*_t(a) ~ Bern(mu_a), the means given or drawn for each run."""

    given: Any
    is_given: Any
    low: Any
    high: Any

    def begin(self, world: Any) -> None:
        """The means of a run."""
        setup = np.int64(SETUP)
        for cell in range(world.cells):
            if self.is_given == 1:
                world.means[cell] = self.given[cell]
            else:
                world.means[cell] = self.low + (self.high - self.low) * uniform(world.streams, setup)

    def draw(self, world: Any, played: int) -> Any:
        """The reward of one round."""
        return 1.0 if uniform(world.streams, np.int64(REWARDS)) < world.means[played] else 0.0


class GaussianRewards(NamedTuple):
    """r*_t(a) ~ N(mu_a, s_a^2), means and spreads given or drawn for each run."""

    given: Any
    is_given: Any
    low: Any
    high: Any
    given_spreads: Any
    spreads_are_given: Any
    lowest_spread: Any
    highest_spread: Any

    def begin(self, world: Any) -> None:
        """The means and the spreads of a run."""
        setup = np.int64(SETUP)
        for cell in range(world.cells):
            if self.is_given == 1:
                world.means[cell] = self.given[cell]
            else:
                world.means[cell] = self.low + (self.high - self.low) * uniform(world.streams, setup)
        span = self.highest_spread - self.lowest_spread
        for cell in range(world.cells):
            if self.spreads_are_given == 1:
                world.spreads[cell] = self.given_spreads[cell]
            else:
                world.spreads[cell] = self.lowest_spread + span * uniform(world.streams, setup)

    def draw(self, world: Any, played: int) -> Any:
        """The reward of one round."""
        return world.means[played] + world.spreads[played] * normal(world.streams, np.int64(REWARDS))


class SeenOrElse(NamedTuple):
    """Agent i sees r* with probability p_i, else ``otherwise`` (NaN: nothing, and knows it)."""

    levels: Any
    best_observer: Any
    otherwise: Any

    def see(self, world: Any, agent: int, reward: float) -> Any:
        """What an agent sees of the round's reward."""
        sees = uniform(world.streams, FIRST_OBSERVATION + agent) < self.levels[agent]
        return reward if sees else self.otherwise

    def fuse(self, world: Any) -> Any:
        """What one brain makes of everybody's eyes (`agents.centralised.fused`)."""
        if self.otherwise == 1.0:
            return world.seen[self.best_observer]
        look = self.otherwise
        for j in range(world.agents - 1, -1, -1):
            seen = world.seen[j]
            if seen == seen and (seen != 0.0 or self.otherwise != self.otherwise):
                look = seen
        return look


class SeenWithNoise(NamedTuple):
    """Agent i sees r* + N(0, sigma_i^2)."""

    levels: Any
    best_observer: Any

    def see(self, world: Any, agent: int, reward: float) -> Any:
        """What an agent sees of the round's reward."""
        return reward + self.levels[agent] * normal(world.streams, FIRST_OBSERVATION + agent)

    def fuse(self, world: Any) -> Any:
        """What one brain makes of everybody's eyes."""
        return world.seen[self.best_observer]


class GivenRoles(NamedTuple):
    """Ranks that are the same in every run."""

    unused: Any = 0

    def begin(self, world: Any) -> None:
        """Everything stays as it is."""


@inlined
def write_ranks(world: Any) -> None:
    """The ranks that follow from the order of the agents, and the blocks that follow from the ranks."""
    agents = world.agents
    for rank in range(agents):
        world.ranks[world.order[rank]] = rank
    for i in range(agents):
        count = 0
        for cell in range(world.cells):
            inside = True
            for rank in range(world.ranks[i]):
                if world.own[world.order[rank] * world.cells + cell] != 0:
                    inside = False
            if inside:
                world.block[i * world.cells + count] = cell
                count += 1
        world.block_size[i] = count


class DrawnRoles(NamedTuple):
    """Ranks drawn for each run (unknown observability)."""

    unused: Any = 0

    def begin(self, world: Any) -> None:
        """The ranks of a run, and the blocks that follow from them."""
        agents = world.agents
        for i in range(agents):
            world.order[i] = i
        for last in range(agents - 1, 0, -1):
            pick = np.int64(uniform(world.streams, np.int64(SETUP)) * (last + 1))
            agent = world.order[last]
            world.order[last] = world.order[pick]
            world.order[pick] = agent
        write_ranks(world)


def reward_kind(problem: Problem) -> BernoulliRewards | GaussianRewards:
    """The compiled form of a problem's means and rewards; exact types only."""
    means, reward = problem.means, problem.reward
    if type(means) is FixedMeans:
        about_means: tuple[Any, ...] = np.array(means.values), 1, 0.0, 0.0
    elif type(means) is RandomMeans:
        about_means = np.zeros(1), 0, means.low, means.high
    else:
        raise NotCompiled(f"the means are {type(means).__name__}, which has no compiled form")
    if type(reward) is Bernoulli:
        return BernoulliRewards(*about_means)
    if type(reward) is Gaussian:
        spreads = np.zeros(1) if reward.values is None else np.array(reward.values)
        about_spreads: tuple[Any, ...] = spreads, int(reward.values is not None), reward.low, reward.high
        return GaussianRewards(*about_means, *about_spreads)
    raise NotCompiled(f"the reward is {type(reward).__name__}, which has no compiled form")


def sight_kind(problem: Problem) -> SeenOrElse | SeenWithNoise:
    """The compiled form of a problem's observation; exact types only."""
    observation = problem.observation
    levels = np.array(observation.levels, dtype=np.float64)
    if type(observation) is Noisy:
        return SeenWithNoise(levels, problem.best_observer)
    if type(observation) is Missed or type(observation) is MissedKnown or type(observation) is Flipped:
        otherwise = math.nan if observation.otherwise is None else observation.otherwise
        return SeenOrElse(levels, problem.best_observer, otherwise)
    raise NotCompiled(f"the observation is {type(observation).__name__}, which has no compiled form")


def role_kind(problem: Problem) -> GivenRoles | DrawnRoles:
    """The compiled form of a problem's roles."""
    return DrawnRoles() if problem.draws_roles else GivenRoles()
