"""The optimistic Gittins index against its own equation, and what it is used for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

import cobandit as cb
from cobandit.agents.gittins import beta_prior, beta_tail, gittins_beta, gittins_factor, log_gamma, remaining_rounds
from cobandit.agents.steered import Steering


@pytest.mark.parametrize("x", [0.01, 0.5, 1.0, 3.7, 8.0, 123.4, 1e6])
def test_log_gamma(x):
    assert log_gamma(x) == pytest.approx(math.lgamma(x), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (0.3, 2.2), (40, 3), (700, 1300)])
@pytest.mark.parametrize("x", [0.02, 0.4, 0.9])
def test_beta_tail(a, b, x):
    above, density = beta_tail(a, b, x)
    assert above == pytest.approx(stats.beta(a, b).sf(x), rel=1e-6, abs=1e-14)
    assert density == pytest.approx(x**a * (1 - x) ** b / special.beta(a, b) if a < 100 else density, rel=1e-9)


def test_uniform_by_hand():
    # l - 1/2 = H (1 - l)^2 / 2 with H = 1: l^2 - 4 l + 2 = 0.
    assert gittins_beta(1, 1, 1.0, 0.0) == pytest.approx(2 - math.sqrt(2), abs=1e-5)
    assert gittins_beta(1, 1, 0.0, 0.9) == 0.5


@pytest.mark.parametrize(("a", "b", "rounds"), [(2, 1, 10), (1, 6, 500), (30, 11, 100), (0.4, 3.1, 2000)])
def test_beta_index_solves_its_equation(a, b, rounds):
    posterior = stats.beta(a, b)
    for start in (0.0, 0.999):
        level = gittins_beta(a, b, rounds, start)
        excess = integrate.quad(posterior.sf, level, 1)[0]
        assert level - posterior.mean() == pytest.approx(rounds * excess, rel=2e-2)


def test_normal_index_solves_its_equation():
    for rounds in (1, 50, 4000):
        level = gittins_factor(rounds)
        assert level == pytest.approx(rounds * integrate.quad(stats.norm.sf, level, 40)[0], rel=2e-2)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 0.6), (0.5, 1.0), (0, 0), (1, 1)])
def test_prior_has_the_moments_of_the_range(low, high):
    a, b = beta_prior(low, high)
    assert min(a, b) > 0
    if high > low:
        assert stats.beta(a, b).mean() == pytest.approx((low + high) / 2, abs=1e-3)
        assert stats.beta(a, b).var() == pytest.approx((high - low) ** 2 / 12, rel=1e-6)


def test_four_digits_of_the_remaining_rounds():
    agent = cb.Steered()
    agent.reset(cb.Briefing(0, (2, 2), (0, 1), 1000), np.random.default_rng(0))
    assert [remaining_rounds(agent._steering, t) for t in (1, 10, 489, 984, 985, 1000)] == [960, 960, 480, 16, 15, 0]


@pytest.mark.parametrize("index", ["gittins", "gittins-horizon"])
def test_a_leader_that_rests_without_reckoning_rests_on_the_best(index):
    """What `is_still_best` spares is nothing but work: the index of every cell, reckoned anew, says the same."""
    rng = np.random.default_rng(5)
    means = rng.random(4)
    agent = cb.Steered(index=index)
    agent.reset(cb.Briefing(0, (2, 2), (0, 1), 400), np.random.default_rng(0))
    rested = 0
    for t in range(1, 401):
        me = agent._steering
        assert isinstance(me, Steering)
        rounds = remaining_rounds(me, t)
        at, before = me.notes[4], list(me.kept)
        own = agent.choose()
        if list(me.kept) == before and me.notes[5] == at:
            rested += 1
            values = [gittins_beta(1 + s, 1 + n - s, rounds, 0.0) for n, s in zip(me.counts, me.sums, strict=True)]
            assert values[at] > max(values) - 1e-3
        cell = 2 * own + agent.predictions[1]
        agent.observe((own, agent.predictions[1]), float(rng.random() < means[cell]))
    assert rested > 200
