"""Theorems A and B: condition (C), constants and bounds worked out by hand, and what simulation says about them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobandit import InvalidInput, PartnerAwareUCB, Problem, Team, simulate
from cobandit.theory import (
    bound,
    curious_bound,
    curious_constants,
    curious_enough,
    heeding_bound,
    heeding_threshold,
)
from cobandit.theory.corrected import noise_width

FIXED = [[0.8, 0.4], [0.2, 0.6]]
SIGHT = st.floats(0.01, 1.0)


class TestConstants:
    @pytest.mark.parametrize(
        ("p", "q", "follower"),
        [
            (1.0, 0.5, 9 / 8),  # w = 1: (1 + .5)^2 / 2 (Corollary A4)
            (0.5, 0.5, 9 / 2),  # w = 2: (2 + 1)^2 / 2 (A1)
            (0.8, 0.4, 2.0),  # w = 1.5: (1.5 + .5)^2 / 2
            (0.5, 1.0, 8.0),  # w = 2: (2 + 2)^2 / 2
            (1.0, 1.0, 0.5),  # w = 0: both see the same
        ],
    )
    def test_by_hand(self, p, q, follower):
        assert tuple(curious_constants(p, q)) == pytest.approx((0.5, follower))
        assert curious_enough(p, q, *curious_constants(p, q))
        assert not curious_enough(p, q, 0.5, 0.999 * follower)

    def test_the_papers_constants_hold_for_its_observability_with_equality(self):
        assert curious_enough(1.0, 0.5, 2.0)
        assert not curious_enough(1.0, 0.51, 2.0)
        assert curious_constants(1.0, 0.5, exploration=2.0) == (2.0, 2.0)

    @given(SIGHT, SIGHT, st.floats(0.5, 20.0))
    def test_they_satisfy_the_condition(self, p, q, exploration):
        leader, follower = curious_constants(p, q, exploration)
        assert curious_enough(p, q, leader, follower)
        assert curious_enough(p, q, leader, 2 * follower)
        assert not curious_enough(p, q, leader, 0.99 * follower)

    @given(SIGHT, SIGHT)
    def test_equal_constants(self, p, q):
        """Corollary A3: for q < p < 1 enough is c = ((p + q) / (p - q))^2 / 2; for q >= p nothing is."""
        if q < p < 1.0 and p - q > 1e-6:
            c = ((p + q) / (p - q)) ** 2 / 2
            assert curious_enough(p, q, 1.001 * c)
            assert not curious_enough(p, q, 0.999 * c)
        elif p <= q < 1.0:
            assert not curious_enough(p, q, 1e9)

    @given(st.floats(0.05, 1.0), st.floats(0.05, 1.0))
    def test_noise_width_is_the_range_of_what_the_follower_sees_beyond_the_leader(self, p, q):
        chances = {(1, 1): p * q, (1, 0): p * (1 - q), (0, 1): (1 - p) * q, (0, 0): 1.0}
        values = [x_f - q / p * x_l for (x_l, x_f), chance in chances.items() if chance > 0]
        assert noise_width(p, q) == pytest.approx(max(values) - min(values))

    def test_a_leader_below_one_half_is_outside_of_the_theorem(self):
        assert not curious_enough(1.0, 0.5, 0.4, 100.0)
        with pytest.raises(InvalidInput, match="exploration"):
            curious_constants(1.0, 0.5, exploration=0.4)

    @pytest.mark.parametrize("bad", [0.0, -0.1, 1.1, math.nan, "1", None])
    def test_refused_observability(self, bad):
        with pytest.raises(InvalidInput, match="p must be"):
            curious_constants(bad, 0.5)
        with pytest.raises(InvalidInput, match="q must be"):
            curious_enough(0.5, bad, 2.0)

    def test_threshold(self):
        assert heeding_threshold(2.0) == pytest.approx(9.0)  # ((2 + 1) / (2 - 1))^2
        with pytest.raises(InvalidInput, match=r"above 0\.5 .* got 0\.5"):
            heeding_threshold(0.5)


class TestTheoremA:
    """Means 1 0 / .9 .3, p = q = .5, c_L = 1/2, c_F = 9/2: alpha = 1, beta = 3, w = 2, g = 0."""

    PROBLEM = Problem.bernoulli([[1.0, 0.0], [0.9, 0.3]], [0.5, 0.5])

    # N = 16 l / (.5 Delta)^2: 64 l / .01 = 6400 l for (1, 0), 64 l / .49 for (1, 1), 64 l for (0, 1).
    OTHERS = 6400 + 64 / 0.49

    def rounds(self, **options):
        return curious_bound(self.PROBLEM, 1000, 0.5, 4.5, **options) / 0.5  # (p + q) / 2 * Delta_max = .5

    @pytest.mark.parametrize(
        ("options", "factor", "rest"),
        [
            ({}, 3, 12 + 2),
            ({"repeat": 1}, 3, 12 + 2),
            ({"repeat": 4}, 5, 12 + 4),
            ({"index": "anytime"}, 3, 14 + 36 * (1 + math.log(1000))),
            ({"repeat": 1, "window": 25}, 100, 100 * 12 + 12 + 27),
        ],
    )
    def test_by_hand(self, options, factor, rest):
        log = math.log(1000)
        assert self.rounds(**options) == pytest.approx(factor * (self.OTHERS * log + 2) + 64 * log + 1 + rest)

    def test_not_covered(self):
        assert self.rounds(repeat=2, window=2) == math.inf
        assert self.rounds(repeat=3, index="anytime") == math.inf
        assert curious_bound(self.PROBLEM, 1000, 2.0) == math.inf

    def test_surplus(self):
        # p = (1, .5) with (1/2, 9/2): g = 3 - 1 - .5 = 1.5, so g p Delta_i / 2 = .15 for Delta_i = .2.
        # N = 16 l / (.5 Delta + .15)^2: .45^2 for (1, 0), .25^2 for (1, 1); .2^2 for (0, 1) of the best row.
        log = 16 * math.log(1000)
        rounds = 3 * (log / 0.45**2 + log / 0.25**2 + 2) + log / 0.2**2 + 1 + 14
        assert curious_bound(Problem.bernoulli(FIXED, [1.0, 0.5]), 1000, 0.5, 4.5) == pytest.approx(0.45 * rounds)

    def test_least_constants_by_default(self):
        assert curious_bound(self.PROBLEM, 1000) == curious_bound(self.PROBLEM, 1000, 0.5, 4.5)
        assert curious_bound(self.PROBLEM, 1000, follower_exploration=5.0) == curious_bound(
            self.PROBLEM, 1000, 0.5, 5.0
        )

    @pytest.mark.parametrize("options", [{"window": 0}, {"repeat": 0}, {"index": "companion"}])
    def test_refused(self, options):
        with pytest.raises(InvalidInput):
            self.rounds(**options)


class TestTheoremB:
    """Means 1 0 / .9 .3 with c = 2: alpha = beta = 2, theta = 9."""

    PROBLEM = Problem.bernoulli([[1.0, 0.0], [0.9, 0.3]], [0.5, 0.5])

    def test_by_hand(self):
        # v = 9 l / (.5 D~)^2: 100 l for (1, 1), D~ = .6; 36 l for (0, 1). w = 9 l / (.5 Delta)^2: 3600 l for (1, 0),
        # 36 l / .49 for (1, 1). x(1, 0) = max(3600 l, 9 w(1, 1)) = 3600 l; min(v, x)(1, 1) = v = 100 l.
        log = math.log(10**6)
        rounds = 3 * (1 + 3600 * log + 1 + 100 * log + 1) + 36 * log + 1 + 8 + 2
        assert heeding_bound(self.PROBLEM, 10**6) == pytest.approx(0.5 * rounds)
        assert bound(self.PROBLEM, 10**6).heeding == heeding_bound(self.PROBLEM, 10**6)

    def test_one_round_at_a_time(self):
        log = math.log(10**6)
        trusted = 3 + 3700 * log
        visits = trusted + 3600 * log + 36 * log / 0.49 + 2 + 1
        rounds = 2 * (trusted + 5 * visits + 8) + 5 + 36 * log + 1 + 8
        assert heeding_bound(self.PROBLEM, 10**6, window=5, repeat=1) == pytest.approx(0.5 * rounds)

    @pytest.mark.parametrize("options", [{"exploration": 0.5}, {"repeat": 3}, {"window": 2}])
    def test_not_covered(self, options):
        assert heeding_bound(self.PROBLEM, 1000, **options) == math.inf

    @given(SIGHT, SIGHT)
    def test_it_is_finite_whoever_sees_better(self, p, q):
        assert heeding_bound(Problem.bernoulli(FIXED, [p, q], roles=(1, 0)), 1000) < math.inf


@given(SIGHT, SIGHT)
def test_corollary_a1(p, q):
    """For p >= q the constants 1/2 and 9/2 suffice, and N <= 16 l / (p Delta_i + q D~)^2."""
    p, q = max(p, q), min(p, q)
    log = 16 * math.log(1000)
    # Row 1 is .2 .6: Delta_i = .2, D~ = .4 and 0; in the best row D~ = .4.
    rounds = 3 * (log / (0.2 * p + 0.4 * q) ** 2 + log / (0.2 * p) ** 2 + 2) + log / (0.4 * q) ** 2 + 1 + 14
    problem = Problem.bernoulli(FIXED, [p, q], roles=(0, 1))
    assert curious_bound(problem, 1000, 0.5, 4.5) <= 0.3 * (p + q) * rounds * (1 + 1e-9)


@pytest.mark.slow
def test_measured_regret_stays_below():
    problem = Problem.bernoulli([[1.0, 0.0], [0.5, 0.3]], [0.5, 0.5])
    leader, follower = curious_constants(0.5, 0.5)
    team = Team([PartnerAwareUCB(window=1, repeat=2, exploration=c) for c in (leader, follower)])
    result = simulate(problem, team, 200_000, runs=20, seed=7, checkpoints=[200_000])
    limits = bound(problem, 200_000)
    assert np.all(result.team_regret[:, -1] < limits.curious)
    assert limits.curious < limits.linear
