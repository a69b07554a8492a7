"""What nature does in compiled code: rewards, observation and roles, each a kind of its own, mirroring `problem`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from cobandit.base.streams import FIRST_OBSERVATION, REWARDS, SETUP
from cobandit.engine.choice import NotCompiled
from cobandit.engine.fast.arrays import Floats, Ints
from cobandit.engine.fast.labels import begin_labels, place_of
from cobandit.engine.fast.random import gamma, inlined, normal, small_gamma, uniform
from cobandit.engine.fast.world import World, find_best
from cobandit.problem import (
    Bernoulli,
    CorrelatedGaussian,
    FixedMeans,
    Flipped,
    Gaussian,
    Missed,
    MissedKnown,
    Noisy,
    PiecewiseMeans,
    Problem,
    RandomMeans,
    RandomWalkMeans,
    StudentT,
)


def require_class_methods(thing: Any, title: str) -> None:
    """Compiled code has the methods of a class; an object may have been given others."""
    for name in getattr(thing, "__dict__", ()):
        if callable(getattr(type(thing), name, None)):
            raise NotCompiled(f"{title} has a {name} of its own, assigned to the object")


def require_known_problem(problem: Any) -> None:
    """Refuse a problem of another class, or one whose models do not use the methods of their classes."""
    if type(problem) is not Problem:
        raise NotCompiled(f"the problem is a {type(problem).__name__}, which has no compiled form")
    for model in (problem, problem.means, problem.reward, problem.observation):
        require_class_methods(model, type(model).__name__)


def begin_means(self: Any, world: World) -> None:
    """Set the means of a run, in its first round; a method of the kinds that need nothing else."""
    setup = np.int64(SETUP)
    begin_labels(world)
    for cell in range(world.cells):
        if self.is_given == 1:
            world.means[place_of(world, cell)] = self.given[cell]
        else:
            world.means[place_of(world, cell)] = self.low + (self.high - self.low) * uniform(world.streams, setup)


draw_first_means = inlined(begin_means)


class BernoulliRewards(NamedTuple):
    """r*_t(a) ~ Bern(mu_a), the means given or drawn for each run."""

    given: Floats
    is_given: int
    low: float
    high: float

    begin = begin_means  # type: ignore[misc]

    def draw(self, world: World, played: int) -> float:
        """Return the reward of one round."""
        return 1.0 if uniform(world.streams, np.int64(REWARDS)) < world.means[played] else 0.0


class GaussianRewards(NamedTuple):
    """r*_t(a) ~ N(mu_a, s_a^2), means and spreads given or drawn for each run."""

    given: Floats
    is_given: int
    low: float
    high: float
    given_spreads: Floats
    spreads_are_given: int
    lowest_spread: float
    highest_spread: float

    def begin(self, world: World) -> None:
        """Set the means and the spreads of a run."""
        setup = np.int64(SETUP)
        draw_first_means(self, world)
        span = self.highest_spread - self.lowest_spread
        for cell in range(world.cells):
            if self.spreads_are_given == 1:
                world.spreads[place_of(world, cell)] = self.given_spreads[cell]
            else:
                world.spreads[place_of(world, cell)] = self.lowest_spread + span * uniform(world.streams, setup)

    def draw(self, world: World, played: int) -> float:
        """Return the reward of one round."""
        return world.means[played] + world.spreads[played] * normal(world.streams, np.int64(REWARDS))


class StudentRewards(NamedTuple):
    """r*_t(a) = mu_a + scale * Student's t, by NumPy's ``Generator.standard_t``; ``shape`` is half of ``df``."""

    given: Floats
    is_given: int
    low: float
    high: float
    scale: float
    shape: float
    shape_root: float
    gamma_step: float

    begin = begin_means  # type: ignore[misc]

    def draw(self, world: World, played: int) -> float:
        """Return the reward of one round."""
        luck = np.int64(REWARDS)
        numerator = self.shape_root * normal(world.streams, luck)
        if self.shape < 1.0:
            drawn = small_gamma(world.streams, luck, self.shape)
        else:
            drawn = gamma(world.streams, luck, self.shape, self.gamma_step)
        return world.means[played] + self.scale * (numerator / math.sqrt(drawn))


class CorrelatedRewards(NamedTuple):
    """r*_t(a) = mu_a + z_t, with z_t in ``world.spreads[0]``: NaN before the first round."""

    given: Floats
    is_given: int
    low: float
    high: float
    sd: float
    correlation: float
    freshness: float

    def begin(self, world: World) -> None:
        """Set the means of a run, and no shock."""
        draw_first_means(self, world)
        world.spreads[0] = math.nan

    def draw(self, world: World, played: int) -> float:
        """Return the reward of one round."""
        shock = self.sd * normal(world.streams, np.int64(REWARDS))
        before = world.spreads[0]
        if before == before:
            shock = self.correlation * before + self.freshness * shock
        world.spreads[0] = shock
        return world.means[played] + shock


class PhaseMeans(NamedTuple):
    """Means that change abruptly; ``world.phase[0]`` counts the changes so far."""

    phases: Floats
    changes_at: Ints
    changes: int

    def drift(self, world: World, t: int) -> None:
        """Set the means of round t, from those of the previous round."""
        phase = world.phase[0]
        if phase < self.changes and t == self.changes_at[phase]:
            world.phase[0] = phase + 1
            for cell in range(world.cells):
                world.means[place_of(world, cell)] = self.phases[(phase + 1) * world.cells + cell]
            find_best(world)


class WalkingMeans(NamedTuple):
    """Means that walk between two walls."""

    step: float
    low: float
    high: float

    def drift(self, world: World, t: int) -> None:
        """Set the means of round t, from those of the previous round (`RandomWalkMeans.draw`)."""
        span = self.high - self.low
        for cell in range(world.cells):
            place = place_of(world, cell)
            mean = world.means[place] + self.step * normal(world.streams, np.int64(SETUP))
            folded = 0.0
            if span > 0.0:
                folded = span - abs((mean - self.low) % (2.0 * span) - span)
            mean = self.low + folded
            mean = self.low if mean < self.low else mean
            world.means[place] = self.high if mean > self.high else mean
        find_best(world)


class SeenOrElse(NamedTuple):
    """Agent i sees r* with probability p_i, else ``otherwise`` (NaN: nothing, and knows it)."""

    levels: Floats
    best_observer: int
    otherwise: float

    def see(self, world: World, agent: int, reward: float) -> float:
        """Return an agent's observation of the round's reward."""
        sees = uniform(world.streams, FIRST_OBSERVATION + agent) < self.levels[agent]
        return reward if sees else self.otherwise

    def fuse(self, world: World) -> float:
        """Combine the observations of all agents (`agents.centralised.fused`)."""
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

    levels: Floats
    best_observer: int

    def see(self, world: World, agent: int, reward: float) -> float:
        """Return an agent's observation of the round's reward."""
        return reward + self.levels[agent] * normal(world.streams, FIRST_OBSERVATION + agent)

    def fuse(self, world: World) -> float:
        """Combine the observations of all agents."""
        return world.seen[self.best_observer]


class HeardOrElse(SeenOrElse):
    """The same with feedback delay: the observed rewards are in the world already (`late.swap_with_known`)."""

    def see(self, world: World, agent: int, reward: float) -> float:
        """Return an agent's observation of the delayed round."""
        return world.seen[agent]


class HeardWithNoise(SeenWithNoise):
    """Delayed observations with noise."""

    def see(self, world: World, agent: int, reward: float) -> float:
        """Return an agent's observation of the delayed round."""
        return world.seen[agent]


class GivenRoles(NamedTuple):
    """Ranks that are the same in every run."""

    unused: int = 0

    def begin(self, world: World) -> None:
        """Do nothing: roles are fixed."""


@inlined
def write_block(world: Any, row: int, rank: int) -> None:
    """Compute a row of blocks: the cells in which every agent above a rank plays its first arm."""
    count = 0
    for cell in range(world.cells):
        inside = True
        for above in range(rank):
            if world.own[world.order[above] * world.cells + cell] != 0:
                inside = False
        if inside:
            world.block[row * world.cells + count] = cell
            count += 1
    world.block_size[row] = count


@inlined
def write_ranks(world: World) -> None:
    """Compute the ranks from the order of the agents, and the blocks from the ranks."""
    agents = world.agents
    for rank in range(agents):
        world.ranks[world.order[rank]] = rank
    for i in range(agents):
        write_block(world, i, world.ranks[i])


class DrawnRoles(NamedTuple):
    """Ranks drawn for each run (unknown observability)."""

    unused: int = 0

    def begin(self, world: World) -> None:
        """Set the ranks of a run, and the blocks that follow from them."""
        agents = world.agents
        for i in range(agents):
            world.order[i] = i
        for last in range(agents - 1, 0, -1):
            pick = np.int64(uniform(world.streams, np.int64(SETUP)) * (last + 1))
            agent = world.order[last]
            world.order[last] = world.order[pick]
            world.order[pick] = agent
        write_ranks(world)


def reward_kind(problem: Problem) -> BernoulliRewards | GaussianRewards | StudentRewards | CorrelatedRewards:
    """Return the compiled form of a problem's first means and of its rewards; exact types only."""
    means, reward = problem.means, problem.reward
    if type(means) is FixedMeans:
        about_means: tuple[Any, ...] = np.array(means.values), 1, 0.0, 0.0
    elif type(means) is RandomMeans:
        about_means = np.zeros(1), 0, means.low, means.high
    elif type(means) is PiecewiseMeans:
        about_means = np.array(means.values[0]), 1, 0.0, 0.0
    elif type(means) is RandomWalkMeans:
        about_means = np.zeros(1) if means.values is None else np.array(means.values), int(means.values is not None)
        about_means = *about_means, means.low, means.high
    else:
        raise NotCompiled(f"the means are {type(means).__name__}, which has no compiled form")
    if type(reward) is Bernoulli:
        return BernoulliRewards(*about_means)
    if type(reward) is Gaussian:
        spreads = np.zeros(1) if reward.values is None else np.array(reward.values)
        about_spreads: tuple[Any, ...] = spreads, int(reward.values is not None), reward.low, reward.high
        return GaussianRewards(*about_means, *about_spreads)
    if type(reward) is StudentT:
        shape = reward.df / 2.0
        step = 1.0 / math.sqrt(9.0 * (shape - 1.0 / 3.0))
        about_tails: tuple[Any, ...] = reward.scale, shape, math.sqrt(shape), step
        return StudentRewards(*about_means, *about_tails)
    if type(reward) is CorrelatedGaussian:
        rho = reward.correlation
        about_shocks: tuple[Any, ...] = reward.sd, rho, math.sqrt(1.0 - rho * rho)
        return CorrelatedRewards(*about_means, *about_shocks)
    raise NotCompiled(f"the reward is {type(reward).__name__}, which has no compiled form")


def drift_kinds(problem: Problem) -> tuple[PhaseMeans | WalkingMeans, ...]:
    """Return how the means of a problem change, in compiled form; nothing where they stay."""
    means = problem.means
    if type(means) is PiecewiseMeans:
        rounds = np.array([*means.changes_at, 0], dtype=np.int64)
        return (PhaseMeans(np.array(means.values).ravel(), rounds, len(means.changes_at)),)
    if type(means) is RandomWalkMeans:
        return (WalkingMeans(means.step, means.low, means.high),)
    return ()


def sight_kind(problem: Problem) -> SeenOrElse | SeenWithNoise:
    """Return the compiled form of a problem's observation; exact types only."""
    observation = problem.observation
    levels = np.array(observation.levels, dtype=np.float64)
    if type(observation) is Noisy:
        return SeenWithNoise(levels, problem.best_observer)
    if type(observation) is Missed or type(observation) is MissedKnown or type(observation) is Flipped:
        otherwise = math.nan if observation.otherwise is None else observation.otherwise
        return SeenOrElse(levels, problem.best_observer, otherwise)
    raise NotCompiled(f"the observation is {type(observation).__name__}, which has no compiled form")


def heard_kind(problem: Problem) -> HeardOrElse | HeardWithNoise:
    """Return the compiled form of a problem's observation with feedback delay."""
    sight = sight_kind(problem)
    return HeardOrElse(*sight) if isinstance(sight, SeenOrElse) else HeardWithNoise(*sight)


def role_kind(problem: Problem) -> GivenRoles | DrawnRoles:
    """Return the compiled form of a problem's roles."""
    return DrawnRoles() if problem.draws_roles else GivenRoles()
