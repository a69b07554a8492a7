"""What is drawn: rewards around their means, and what each agent sees of them. Seeded; the bar is five sigma."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cobandit.problem import Bernoulli, Flipped, Gaussian, Missed, MissedKnown, Noisy

DRAWS = 20_000


class CountedDraws:
    """A generator that counts its draws."""

    def __init__(self, seed=0):
        self.rng, self.draws = np.random.default_rng(seed), 0

    def random(self):
        self.draws += 1
        return self.rng.random()

    def standard_normal(self):
        self.draws += 1
        return self.rng.standard_normal()


class FixedDraws:
    """A generator that always draws one number."""

    def __init__(self, value):
        self.value = value

    def random(self):
        return self.value

    def standard_normal(self):
        return self.value


Fixed: Any = FixedDraws
Counting: Any = CountedDraws
"""In place of generators, which they are not."""


def within(share, expected, draws=DRAWS):
    return abs(share - expected) <= 5 * math.sqrt(max(expected * (1 - expected), 1e-12) / draws)


@pytest.mark.parametrize("mean", [0.0, 0.03, 0.5, 0.8, 1.0])
def test_bernoulli_rewards_fall_as_often_as_their_mean(mean):
    rng = np.random.default_rng(11)
    rewards = [Bernoulli().draw(1, mean, 0.0, rng) for _ in range(DRAWS)]
    assert set(rewards) <= {0.0, 1.0}
    assert within(np.mean(rewards), mean)


def test_a_bernoulli_reward_is_one_draw_below_the_mean():
    assert Bernoulli().draw(1, 0.5, 0.0, Fixed(0.499)) == 1.0
    assert Bernoulli().draw(1, 0.5, 0.0, Fixed(0.5)) == 0.0
    assert Bernoulli().draw(1, 0.0, 0.0, Fixed(0.0)) == 0.0
    assert Bernoulli().draw(1, 1.0, 0.0, Fixed(math.nextafter(1.0, 0.0))) == 1.0


def test_gaussian_rewards_have_their_mean_and_spread():
    rng = np.random.default_rng(12)
    rewards = np.array([Gaussian().draw(1, 0.3, 0.4, rng) for _ in range(DRAWS)])
    assert abs(rewards.mean() - 0.3) < 5 * 0.4 / math.sqrt(DRAWS)
    assert abs(rewards.var() - 0.16) < 5 * 0.16 * math.sqrt(2 / DRAWS)
    assert Gaussian().draw(1, 0.3, 0.4, Fixed(-2.0)) == pytest.approx(-0.5)


@pytest.mark.parametrize(("model", "otherwise"), [(Missed, 0.0), (MissedKnown, None), (Flipped, 1.0)])
class TestBySight:
    @pytest.mark.parametrize("observability", [0.0, 0.2, 0.5, 1.0])
    @pytest.mark.parametrize("reward", [0.0, 1.0])
    def test_the_reward_is_seen_as_often_as_the_observability_says(self, model, otherwise, observability, reward):
        rng = np.random.default_rng(13)
        seen = [model((1.0, observability)).see(1, 1, reward, rng) for _ in range(4000)]
        expected = observability if reward != otherwise else 1.0
        assert set(seen) <= {reward, otherwise}
        assert within(np.mean([value == reward for value in seen]), expected, 4000)

    def test_what_is_seen_is_one_draw_below_the_observability(self, model, otherwise):
        assert model((0.5, 0.25)).see(1, 1, 0.7, Fixed(0.249)) == 0.7
        assert model((0.5, 0.25)).see(1, 1, 0.7, Fixed(0.25)) == otherwise
        assert model((0.5, 0.25)).see(1, 0, 0.7, Fixed(0.25)) == 0.7

    def test_one_draw_whatever_is_seen(self, model, otherwise):
        rng = Counting()
        for turn in range(1, 50):
            model((1.0, 0.5)).see(1, turn % 2, 1.0, rng)
            assert rng.draws == turn

    def test_quality_and_slope_are_the_observability(self, model, otherwise):
        sight = model([1.0, 0.25])
        assert (sight.quality(0), sight.quality(1)) == (1.0, 0.25)
        assert (sight.slope(1, 0), sight.slope(1, 1)) == (1.0, 0.25)
        assert sight.levels == (1.0, 0.25)


def test_noise_is_added_to_the_reward():
    rng = np.random.default_rng(14)
    model = Noisy((0.1, 0.5))
    seen = np.array([model.see(1, 1, 0.8, rng) for _ in range(DRAWS)])
    assert abs(seen.mean() - 0.8) < 5 * 0.5 / math.sqrt(DRAWS)
    assert abs(seen.var() - 0.25) < 5 * 0.25 * math.sqrt(2 / DRAWS)
    assert model.see(1, 0, 0.8, Fixed(2.0)) == pytest.approx(1.0)
    assert model.see(1, 1, 0.8, Fixed(2.0)) == pytest.approx(1.8)
    assert model.quality(0) > model.quality(1)
    assert model.slope(1, 1) == 1.0


@pytest.mark.parametrize("reward", [Bernoulli(), Gaussian()])
def test_a_reward_is_one_draw_whatever_its_mean(reward):
    rng = Counting()
    for turn, mean in enumerate([0.0, 0.5, 1.0, 0.3], start=1):
        reward.draw(1, mean, 0.2, rng)
        assert rng.draws == turn


def test_noise_is_one_draw_also_where_there_is_none():
    rng = Counting()
    assert Noisy((0.0, 1.0)).see(1, 0, 0.5, rng) == 0.5
    assert rng.draws == 1
