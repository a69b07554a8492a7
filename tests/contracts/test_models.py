"""Our own models keep their contracts; models that break one rule each are caught, and the rule is named."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
import pytest

import cobandit as cb
from cobandit.testing import check_means, check_observation, check_reward

SIGHTS = [(1.0, 0.5), (0.0, 1.0), (0.3, 0.0005, 0.9)]


@dataclass(frozen=True)
class Walk:
    """Well-behaved means to break: each walks at random within [0, 1]."""

    arms: tuple[int, ...] = (2, 3)

    changes: ClassVar[bool] = True
    bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def draw(self, t, previous, rng):
        if previous is None:
            return rng.random(self.arms)
        return np.clip(previous + 0.1 * rng.standard_normal(self.arms), 0.0, 1.0)


@dataclass(frozen=True)
class Poisson:
    """A well-behaved reward to break: how many uniform draws' worth of a count, by inversion."""

    name: ClassVar[str] = "poisson"
    binary: ClassVar[bool] = False
    mean_bounds: ClassVar[tuple[float, float]] = (0.0, 100.0)

    def spreads(self, arms, rng):
        return None

    def draw(self, t, mean, spread, rng):
        left, count, chance = rng.random(), 0, math.exp(-mean)
        while left >= chance > 0.0:
            left -= chance
            count += 1
            chance *= mean / count
        return float(count)


@dataclass(frozen=True)
class Glance(cb.Missed):
    """A well-behaved sight to break: it halves every hundred rounds."""

    observability: tuple[float, ...] = (1.0, 0.6)

    def chance(self, t, agent):
        return self.observability[agent] * 0.5 ** (t / 100)

    def slope(self, t, agent):
        return self.chance(t, agent)

    def see(self, t, agent, reward, rng):
        return reward if rng.random() < self.chance(t, agent) else 0.0


@pytest.mark.parametrize(
    "means",
    [
        cb.FixedMeans.of([[0.8, 0.4], [0.2, 0.6]]),
        cb.RandomMeans((2, 3)),
        cb.RandomMeans((2, 2, 2), -3, 5),
        cb.PiecewiseMeans.of([[[0.8, 0.4], [0.2, 0.6]], [[0.1, 0.4], [0.2, 0.9]]], [2]),
        cb.RandomWalkMeans((2, 3), 0.3),
        Walk(),
    ],
    ids=repr,
)
def test_means_that_keep_the_contract(means):
    check_means(means)
    check_means(means, rounds=3, seed=9)


@pytest.mark.parametrize(
    "reward", [cb.Bernoulli(), cb.Gaussian(), cb.Gaussian(0.0, 0.0), cb.StudentT(), Poisson()], ids=repr
)
def test_rewards_that_keep_the_contract(reward):
    check_reward(reward)
    check_reward(reward, means=[0.001, 0.77], draws=1_000, seed=9)


def test_given_spreads_are_checked_with_their_arms():
    check_reward(cb.Gaussian(values=(0.1, 0.2, 0.3, 0.4)), arms=(2, 2))


@pytest.mark.parametrize("kind", [cb.Missed, cb.MissedKnown, cb.Flipped, cb.Noisy, Glance])
@pytest.mark.parametrize("levels", SIGHTS, ids=str)
def test_observation_that_keeps_the_contract(kind, levels):
    check_observation(kind(levels))


class Unbounded(Walk):
    def draw(self, t, previous, rng):
        return rng.random(self.arms) if previous is None else previous + 0.1


class Breaks(Walk):
    def draw(self, t, previous, rng):
        return {1: rng.random(self.arms)}[t]


class GlobalWalk(Walk):
    def draw(self, t, previous, rng):
        return np.random.random(self.arms)


class SecretWalk(Walk):
    def draw(self, t, previous, rng):
        return np.random.default_rng().random(self.arms)


class Diary(Walk):
    """Remembers more than the means before, and forgets it with each new run."""

    past: ClassVar[dict[str, Any]] = {}

    def draw(self, t, previous, rng):
        if previous is None:
            self.past["first"] = rng.random(self.arms)
        return self.past["first"]


class Loner:
    """Is equal to nothing but itself."""

    arms, changes = (2, 2), False

    def draw(self, t, previous, rng):
        return rng.random(self.arms)


class Locked(Loner):
    def __init__(self):
        self.rule = lambda: 0.5


BROKEN_MEANS = [
    (Unbounded, "finite numbers from 0 to 1 are needed"),
    (Breaks, "draw raised KeyError (2) in round 2"),
    (GlobalWalk, "draw draws from the global random or numpy.random"),
    (SecretWalk, "draw does not give the same twice from the same generator state"),
    (Diary, "draw gives other means while another run is under way; all it may remember is previous"),
    (Loner, "is not equal to its own copy; a frozen dataclass is"),
    (Locked, "cannot be pickled"),
]


class OffTheMark(Poisson):
    def draw(self, t, mean, spread, rng):
        return super().draw(t, mean, spread, rng) + 0.1


class Growing(Poisson):
    """Right in the first round, wrong in later ones."""

    def draw(self, t, mean, spread, rng):
        return super().draw(t, mean, spread, rng) * (1.0 + t / 1000)


class Greedy(Poisson):
    """NumPy's own Poisson draws more for larger means."""

    def draw(self, t, mean, spread, rng):
        return float(rng.poisson(mean))


class Shortcut(cb.Bernoulli):
    """Draws nothing where the outcome is certain."""

    def draw(self, t, mean, spread, rng):
        return mean if mean in (0.0, 1.0) else super().draw(t, mean, spread, rng)


class ByHalves(cb.Bernoulli):
    def draw(self, t, mean, spread, rng):
        return 0.5 * super().draw(t, mean, spread, rng)


class Divides(Poisson):
    def draw(self, t, mean, spread, rng):
        return 1.0 / mean


class SpreadsBreak(Poisson):
    def spreads(self, arms, rng):
        raise RuntimeError("no idea")


class SecretSpreads(Poisson):
    def spreads(self, arms, rng):
        return np.random.default_rng().random(arms)


class GlobalReward(Poisson):
    def draw(self, t, mean, spread, rng):
        return random.expovariate(1.0) * mean


class Counting(Poisson):
    """Remembers how often it was asked."""

    past: ClassVar[list[float]] = []

    def draw(self, t, mean, spread, rng):
        self.past.append(mean)
        return super().draw(t, mean, spread, rng) if len(self.past) % 7 else 0.0


BROKEN_REWARDS = [
    (OffTheMark, "on average over 4,000 draws in round 1 where mean is 0; rewards that have this mean"),
    (Growing, "on average over 4,000 draws in round 1000 where mean is"),
    (Greedy, "does not draw as much from rng in round 1 for mean 20 and spread 0 as for mean 0 and spread 0"),
    (Shortcut, "the same draws whatever the team does are needed"),
    (ByHalves, "draw gave 0.5 in round 1, but ByHalves.binary is True"),
    (Divides, "draw raised ZeroDivisionError (float division by zero) in round 1 with mean 0"),
    (SpreadsBreak, "spreads raised RuntimeError (no idea)"),
    (SecretSpreads, "does not give the same twice"),
    (GlobalReward, "draws from the global random or numpy.random"),
    (Counting, "nothing may be remembered"),
]


class Boaster(Glance):
    """Says that it sees more than it does."""

    def slope(self, t, agent):
        return 1.0


class Fresh(Glance):
    """Says that it never tires."""

    def slope(self, t, agent):
        return self.chance(1, agent)


class Lazy(Glance):
    """Looks only where there is something to see."""

    def see(self, t, agent, reward, rng):
        return reward if reward != 0.0 and rng.random() < self.chance(t, agent) else 0.0


class Blind(Glance):
    def see(self, t, agent, reward, rng):
        return [][agent]


class SlopeBreaks(Glance):
    def slope(self, t, agent):
        return {1: self.chance(1, agent)}[t]


class GlobalGlance(Glance):
    def see(self, t, agent, reward, rng):
        return reward if np.random.random() < self.chance(t, agent) else 0.0


class Learning(Glance):
    """Sees better the more it has seen."""

    past: ClassVar[list[float]] = []

    def see(self, t, agent, reward, rng):
        self.past.append(reward)
        return reward if rng.random() < 0.01 * len(self.past) else 0.0


BROKEN_SIGHT = [
    (Boaster, "slope gave 1 for agent 1 in round 1, but a reward of 1 looks 0.58"),
    (Fresh, "d E[seen] / d mu is needed, up to chance"),
    (Lazy, "see does not draw as much from rng in round 1 for a reward of 1 as for a reward of 0"),
    (Blind, "see raised IndexError (list index out of range) in round 1 for agent 0"),
    (SlopeBreaks, "slope raised KeyError (30) in round 30 for agent 0"),
    (GlobalGlance, "draws from the global random or numpy.random"),
    (Learning, "nothing may be remembered"),
]


@pytest.mark.parametrize(
    ("check", "kind", "sentence"),
    [(check_means, *case) for case in BROKEN_MEANS]
    + [(check_reward, *case) for case in BROKEN_REWARDS]
    + [(check_observation, *case) for case in BROKEN_SIGHT],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_a_broken_rule_is_named(check, kind, sentence):
    getattr(kind, "past", []).clear()
    with np.errstate(divide="ignore"), pytest.raises(cb.ModelError) as caught:
        check(kind())
    message = str(caught.value)
    assert sentence in message
    assert message.startswith(kind.__name__)
    assert message.endswith(".")
    assert "\n" not in message


def test_what_cannot_be_hashed():
    with pytest.raises(cb.ModelError, match=r"Mutable cannot be compared and hashed: TypeError .* frozen dataclass"):
        check_means(Mutable())


@dataclass
class Mutable:
    arms: tuple[int, ...] = (2, 2)
    changes: bool = False

    def draw(self, t, previous, rng):
        return rng.random(self.arms)


@pytest.mark.parametrize(
    ("check", "thing", "message"),
    [
        (check_means, Walk, r"means is the class Walk; an object is needed. Call it: Walk\(\.\.\.\)"),
        (check_reward, "bernoulli", r"reward must be an object with name, binary"),
        (check_observation, Walk(), r"observation must be an object with name, binary, levels"),
    ],
)
def test_what_a_problem_would_refuse_is_refused_alike(check, thing, message):
    with pytest.raises(cb.InvalidInput, match=message):
        check(thing)


def test_settings_of_the_checks():
    with pytest.raises(cb.InvalidInput, match="rounds must be an integer of at least 2"):
        check_means(Walk(), rounds=1)
    with pytest.raises(cb.InvalidInput, match="draws must be an integer of at least 100"):
        check_reward(Poisson(), draws=5)
    with pytest.raises(cb.InvalidInput, match=r"means must be at least one number, got \[\]"):
        check_reward(Poisson(), means=[])
    with pytest.raises(cb.InvalidInput, match=r"means\[0\] must be a finite number, got 'low'"):
        check_reward(Poisson(), means=cast("Any", ["low"]))


@pytest.mark.parametrize("bounds", [(-math.inf, math.inf), (0.0, math.inf), (-math.inf, 2.0), (-1.0, 1.0)])
def test_means_are_tried_within_the_bounds_of_the_rewards(bounds: tuple[float, float]) -> None:
    tried: set[float] = set()

    @dataclass(frozen=True)
    class Exact(Poisson):
        mean_bounds: ClassVar[tuple[float, float]] = bounds

        def draw(self, t, mean, spread, rng):
            tried.add(mean)
            return mean

    Exact.__qualname__ = "Exact"
    globals()["Exact"] = Exact  # so that it pickles
    check_reward(Exact())
    assert len(tried) >= 4
    assert all(bounds[0] <= mean <= bounds[1] for mean in tried)


def test_the_global_random_state_is_left_as_it_is():
    random.seed(5)
    np.random.seed(5)
    with pytest.raises(cb.ModelError):
        check_means(GlobalWalk())
    drawn = random.random(), np.random.random()
    random.seed(5)
    np.random.seed(5)
    assert drawn == (random.random(), np.random.random())
