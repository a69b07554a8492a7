"""The exponent of a standoff against an independent optimiser, and the predicted share against measured ones."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cobandit import InvalidInput, Problem, Team, simulate
from cobandit.theory import standoff_exponent, standoff_probability
from cobandit.theory.standoff import quadrant_exponent

FIXED = [[0.8, 0.4], [0.2, 0.6]]
HARD = [[1.0, 0.0], [0.9, 0.3]]
MANY = [[1.0] + [0.0] * 30, [0.95] + [0.4] * 30]


def led_by_0(means, p, q):
    return Problem.bernoulli(means, [p, q], roles=(0, 1))


def dual_exponent(high, low, mean, p, q):
    """The same number as a concave maximisation over the two multipliers s, u >= 0, by SciPy."""
    values = np.array([(1, 1), (1, 0), (0, 1), (0, 0)])
    chances = np.array([mean * p * q, mean * p * (1 - q), mean * (1 - p) * q, 0.0])
    chances[3] = 1 - chances.sum()

    def negative(multipliers):
        s, u = multipliers
        weights = chances * np.exp(s * values[:, 0] - u * values[:, 1])
        total = weights.sum()
        gradient = np.array([high, -low]) - np.array([1, -1]) * (weights @ values) / total
        return -(s * high - u * low - math.log(total)), -gradient

    result = minimize(negative, [0.1, 0.1], jac=True, bounds=[(0, 60), (0, 60)], method="L-BFGS-B", tol=1e-14)
    return max(-result.fun, 0.0)


@settings(max_examples=60, deadline=None)
@given(*[st.floats(0.02, 0.98)] * 3, st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_quadrant_exponent_solves_the_convex_problem(high, low, mean, p, q):
    exact = float(quadrant_exponent(np.array(high), np.array(low), np.array(mean), p, q))
    assert exact == pytest.approx(dual_exponent(high, low, mean, p, q), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    ("high", "low", "p", "q", "possible"),
    [
        (0.4, 0.3, 1.0, 0.5, True),
        (0.4, 0.3, 0.5, 1.0, False),
        (0.4, 0.3, 1.0, 1.0, False),
        (0.1, -0.1, 0.5, 0.5, False),
    ],
)
def test_impossible_quadrants(high, low, p, q, possible):
    """Nobody sees more than one who sees everything, and no mean is negative."""
    value = float(quadrant_exponent(np.array(high), np.array(low), np.array(0.3), p, q))
    assert math.isfinite(value) == possible


class TestExponent:
    @pytest.mark.parametrize(
        ("means", "p", "q", "constants", "kappa"),
        [
            (MANY, 0.5, 0.5, (2.0,), 0.0755),
            (MANY, 0.52, 0.5, (2.0,), 0.1588),
            (MANY, 0.5, 0.5, (0.5, 4.5), 11.558),
            (HARD, 0.5, 0.5, (0.5,), 0.0788),
            (HARD, 0.6, 0.5, (0.5,), 0.3748),
            (FIXED, 1.0, 0.5, (2.0,), 25.257),
            ([[1.0, 0.75], [0.67, 0.0]], 0.5, 1.0, (2.0,), 0.0),
        ],
    )
    def test_known_values(self, means, p, q, constants, kappa):
        assert standoff_exponent(led_by_0(means, p, q), *constants) == pytest.approx(kappa, abs=6e-4)

    def test_proportional_to_the_constants(self):
        problem = led_by_0(HARD, 0.6, 0.5)
        assert standoff_exponent(problem, 2.0, 3.0) == pytest.approx(4 * standoff_exponent(problem, 0.5, 0.75))

    def test_small_in_the_family_of_theorem_n(self):
        """Means 1 0 / 1 - h^3, 1 - h - h^3 with p = q = 1/2: kappa is of the order of c h^4, below 54 c h^4."""
        for h in (0.1, 0.05):
            problem = led_by_0([[1.0, 0.0], [1 - h**3, 1 - h - h**3]], 0.5, 0.5)
            assert 2 * h**4 < standoff_exponent(problem, 1.0) < 54 * h**4

    @settings(max_examples=50, deadline=None)
    @given(st.integers(0, 10**6), st.floats(0.05, 1.0), st.floats(0.05, 1.0))
    def test_positive_if_the_leader_sees_at_least_as_well(self, seed, p, q):
        means = np.random.default_rng(seed).random((3, 3))
        assert standoff_exponent(led_by_0(means, max(p, q), min(p, q))) > 0.0

    def test_nothing_to_hope_for(self):
        assert standoff_exponent(led_by_0([[0.8], [0.6]], 0.5, 0.5)) == math.inf  # one column: nothing to decline
        assert standoff_exponent(led_by_0([[0.8, 0.3]], 0.5, 0.5)) == math.inf  # one row
        assert standoff_exponent(led_by_0([[0.8, 0.3], [0.3, 0.8]], 0.5, 0.5)) == math.inf  # both rows are best
        assert standoff_exponent(led_by_0(FIXED, 0.5, 0.0)) == math.inf  # a blind follower declines nothing

    def test_random_roles_take_the_smaller_one(self):
        exponents = [standoff_exponent(Problem.bernoulli(FIXED, [1.0, 0.5], roles=roles)) for roles in ((0, 1), (1, 0))]
        assert standoff_exponent(Problem.bernoulli(FIXED, [1.0, 0.5], roles="random")) == min(exponents)

    def test_refused(self):
        with pytest.raises(InvalidInput, match="exploration"):
            standoff_exponent(led_by_0(HARD, 0.5, 0.5), 0.0)
        with pytest.raises(InvalidInput, match="follower_exploration"):
            standoff_exponent(led_by_0(HARD, 0.5, 0.5), 2.0, -1.0)
        with pytest.raises(InvalidInput, match="random or drifting"):
            standoff_exponent(Problem.bernoulli("random", [1.0, 0.5]))


def held(problem, horizon, runs, exploration):
    """The share of runs that lose more than half of the rounds after T/2."""
    team = Team.of("partner-aware-ucb", window=1, repeat=2, exploration=exploration)
    result = simulate(problem, team, horizon, runs=runs, seed=3, checkpoints=[horizon // 2, horizon])
    lost = result.team_regret[:, 1] - result.team_regret[:, 0]
    return float((lost > 0.5 * problem.team_factor * 0.1 * horizon / 2).mean())


class TestProbability:
    @pytest.mark.parametrize(
        ("means", "p", "horizon", "predicted"),
        [(HARD, 0.5, 30_000, 0.1012), (HARD, 0.5, 10**6, 0.0700), (HARD, 0.6, 10**5, 0.0017)],
    )
    def test_known_predictions(self, means, p, horizon, predicted):
        assert standoff_probability(led_by_0(means, p, 0.5), horizon, 0.5) == pytest.approx(predicted, abs=1e-4)

    def test_thirty_chances(self):
        assert standoff_probability(led_by_0(MANY, 0.5, 0.5), 10**8) == pytest.approx(0.769, abs=1e-3)

    def test_a_standoff_in_the_mean_is_certain(self):
        assert standoff_probability(led_by_0([[1.0, 0.75], [0.67, 0.0]], 0.5, 1.0), 10**5) == 1.0
        # The best row attracts the leader more, .5 + 1 / 2 against .5 * .9: a standoff there costs nothing.
        assert standoff_probability(led_by_0([[1.0, 0.0], [0.5, 0.0]], 0.5, 1.0), 10**5) < 1.0

    def test_random_roles_take_the_mean(self):
        means = [[1.0, 0.67], [0.75, 0.0]]
        shares = [standoff_probability(Problem.bernoulli(means, [1.0, 0.5], roles=r), 1000) for r in ((0, 1), (1, 0))]
        assert standoff_probability(Problem.bernoulli(means, [1.0, 0.5], roles="random"), 1000) == np.mean(shares)

    @pytest.mark.slow
    def test_measured_share(self):
        """1,000 runs have a standard error of .01; measured elsewhere with 4,000 runs: .1105 +- .0050."""
        problem = led_by_0(HARD, 0.5, 0.5)
        assert held(problem, 30_000, 1_000, 0.5) == pytest.approx(standoff_probability(problem, 30_000, 0.5), abs=0.03)

    @pytest.mark.long
    def test_measured_share_of_thirty_columns(self):
        problem = led_by_0([[1.0] + [0.0] * 30, [0.9] + [0.3] * 30], 0.5, 0.5)
        assert held(problem, 100_000, 200, 0.5) == pytest.approx(standoff_probability(problem, 10**5, 0.5), abs=0.06)
