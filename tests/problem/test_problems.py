"""Problems do what the paper says: roles, regret factor, means, one run's instance."""

from __future__ import annotations

import json
import pickle
from collections import Counter

import numpy as np
import pytest

from cobandit import Problem, local_optima, two_corners
from cobandit.problem import FixedMeans, Instance, RandomMeans

FIXED = [[0.8, 0.4], [0.2, 0.6]]


def ranks(problem, seed=0):
    return problem.instance(np.random.default_rng(seed)).ranks


class TestNamedMeans:
    def test_two_local_optima_are_the_papers_fixed_matrix_to_the_last_bit(self):
        assert local_optima(2) == FIXED

    def test_three_local_optima(self):
        assert local_optima(3) == [[0.8, 0.4, 0.4], [0.2, 0.7, 0.4], [0.2, 0.2, 0.6]]

    @pytest.mark.parametrize("size", [2, 3, 4, 5, 30])
    def test_every_diagonal_cell_is_the_best_of_its_row_and_column(self, size):
        means = np.array(local_optima(size))
        assert means.shape == (size, size)
        assert (means.argmax(axis=0) == np.arange(size)).all()
        assert (means.argmax(axis=1) == np.arange(size)).all()
        assert np.allclose(np.diff(np.diag(means)), -0.2 / (size - 1))
        assert set(means[np.triu_indices(size, 1)]) == {0.4}
        assert set(means[np.tril_indices(size, -1)]) == {0.2}

    def test_two_corners_of_two_agents(self):
        # The last agent leads (p_i = i / N): it plays 0 in (1, 0). With agent 0 as leader it is the fixed matrix.
        assert np.allclose(two_corners(2), [[0.8, 0.2], [0.4, 0.6]])
        assert np.allclose(two_corners(2, leader=0), FIXED)

    def test_two_corners_of_three_agents(self):
        # Agent 2 leads. No cell is further than 1 from a corner.
        expected = [[[0.8, 0.2], [0.4, 0.2]], [[0.4, 0.2], [0.4, 0.6]]]
        assert np.allclose(two_corners(3), expected)

    def test_two_corners_of_four_agents(self):
        means = two_corners(4)
        assert means[0, 0, 0, 0] == 0.8
        assert means[1, 1, 1, 1] == 0.6
        assert means[1, 0, 0, 0] == pytest.approx(0.4)  # one step from all-zeros, the leader (agent 3) plays 0
        assert means[0, 0, 0, 1] == pytest.approx(0.2)
        assert means[1, 1, 1, 0] == pytest.approx(0.4)  # one step from all-ones
        assert means[1, 1, 0, 0] == pytest.approx(0.3)  # two steps from both, the leader plays 0
        assert means[0, 0, 1, 1] == pytest.approx(0.1)

    def test_two_corners_of_seven_agents_go_down_to_zero(self):
        # Three steps from both corners, the leader plays 1: .2 - .1 * 2. An eighth agent would take it below 0.
        means = two_corners(7)
        assert means.min() == means[0, 0, 0, 0, 1, 1, 1] == 0.0
        assert Problem.bernoulli(means).agents == 7

    @pytest.mark.parametrize("count", [2, 3, 4, 5, 6, 7])
    def test_both_corners_are_local_optima(self, count):
        means = two_corners(count)
        assert ((means >= 0) & (means <= 1)).all()
        for corner in ((0,) * count, (1,) * count):
            for agent in range(count):
                step = list(corner)
                step[agent] = 1 - step[agent]
                assert means[tuple(step)] < means[corner]


class TestRoles:
    def test_the_better_observer_leads(self):
        assert ranks(Problem.bernoulli(FIXED, [1.0, 0.5])) == (0, 1)
        assert ranks(Problem.bernoulli(FIXED, [0.5, 1.0])) == (1, 0)

    def test_equals_the_lower_index_leads(self):
        assert ranks(Problem.bernoulli(FIXED, [0.5, 0.5])) == (0, 1)
        assert ranks(Problem.bernoulli(arms=(2, 2, 2, 2), observability=[0.3, 0.7, 0.3, 0.7])) == (2, 0, 3, 1)

    def test_less_flipping_leads(self):
        # q = (0, 0.5) is an observability of (1, 0.5).
        assert ranks(Problem.bernoulli(FIXED, [1.0, 0.5], observation="flipped")) == (0, 1)

    def test_less_noise_leads(self):
        assert ranks(Problem.gaussian(FIXED, [0.1, 0.5])) == (0, 1)
        assert ranks(Problem.gaussian(FIXED, [0.5, 0.1])) == (1, 0)
        assert ranks(Problem.gaussian(FIXED, [0.2, 0.2])) == (0, 1)

    def test_the_figure_with_many_agents(self):
        # p_i = i / N: the last one leads.
        assert ranks(Problem.bernoulli(two_corners(3), [1 / 3, 2 / 3, 1.0])) == (2, 1, 0)

    def test_given_roles_are_taken_whatever_the_observability(self):
        assert ranks(Problem.bernoulli(FIXED, [1.0, 0.5], roles=[1, 0])) == (1, 0)

    @pytest.mark.parametrize("count", [2, 3])
    def test_random_roles_meet_every_order_alike(self, count):
        problem = Problem.bernoulli(arms=(2,) * count, roles="random")
        draws = 600
        rng = np.random.default_rng(20220222)
        seen = Counter(problem.instance(rng).ranks for _ in range(draws))
        orders = {2: 2, 3: 6}[count]
        assert len(seen) == orders
        share = 1 / orders
        spread = (draws * share * (1 - share)) ** 0.5
        assert all(abs(times - draws * share) < 5 * spread for times in seen.values())

    @pytest.mark.parametrize("roles", ["observability", "random", (0, 1, 2, 3), (3, 2, 1, 0)])
    def test_the_best_observer_is_the_same_whatever_the_roles(self, roles):
        by_sight = Problem.bernoulli(arms=(2, 2, 2, 2), observability=[0.3, 0.7, 0.3, 0.7], roles=roles)
        by_noise = Problem.gaussian(arms=(2, 2, 2, 2), noise=[0.3, 0.3, 0.1, 0.1], roles=roles)
        assert by_sight.best_observer == 1  # of equals the first
        assert by_noise.best_observer == 2
        assert Problem.gaussian(arms=(2, 2, 2, 2), roles=roles).best_observer == 0

    def test_random_roles_leave_the_means_alone(self):
        # Roles are drawn after the means, so the same seed gives the same means with and without them.
        with_roles = Problem.bernoulli(arms=(2, 3), roles="random").instance(np.random.default_rng(1))
        without = Problem.bernoulli(arms=(2, 3)).instance(np.random.default_rng(1))
        assert np.array_equal(with_roles.means, without.means)


class TestTeamFactor:
    def test_missed(self):
        assert Problem.bernoulli(FIXED, [1.0, 0.5]).team_factor == pytest.approx(0.75)

    def test_missed_and_known(self):
        assert Problem.bernoulli(FIXED, [1.0, 0.4], observation="missed-known").team_factor == pytest.approx(0.7)

    def test_flipped(self):
        # E[seen] = p mu + (1 - p): a unit of mu reaches the agent by p.
        assert Problem.bernoulli(FIXED, [1.0, 0.5], observation="flipped").team_factor == pytest.approx(0.75)

    def test_noise_takes_nothing_away_on_average(self):
        assert Problem.gaussian(FIXED, [0.1, 0.5]).team_factor == pytest.approx(1.0)

    def test_weights(self):
        assert Problem.bernoulli(FIXED, [1.0, 0.5], weights=[0.0, 2.0]).team_factor == pytest.approx(1.0)
        assert Problem.bernoulli(FIXED, [1.0, 0.5], weights=[3.0, 1.0]).team_factor == pytest.approx(3.5)

    @pytest.mark.parametrize("observation", ["missed", "missed-known", "flipped"])
    def test_it_is_the_slope_of_what_is_seen(self, observation):
        # Exactly: E[seen] over the two outcomes of sight, at mu = 0 and mu = 1; nothing seen counts as 0.
        problem = Problem.bernoulli(FIXED, [0.9, 0.3], observation=observation)
        otherwise = {"missed": 0.0, "missed-known": 0.0, "flipped": 1.0}[observation]
        slopes = [(p * 1 + (1 - p) * otherwise) - (p * 0 + (1 - p) * otherwise) for p in (0.9, 0.3)]
        assert problem.team_factor == pytest.approx(sum(slopes) / 2)


class TestInstance:
    def test_gaps_and_best(self):
        instance = Instance(np.array(FIXED), None, (0, 1))
        assert np.allclose(instance.gaps, [[0.0, 0.4], [0.6, 0.2]])
        assert instance.best == (0, 0)

    def test_the_first_of_equal_bests(self):
        assert Instance(np.array([[0.1, 0.7], [0.7, 0.7]]), None, (0, 1)).best == (0, 1)
        means = np.zeros((2, 3, 2))
        means[1, 0, 1] = means[1, 2, 0] = 0.5
        assert Instance(means, None, (0, 1, 2)).best == (1, 0, 1)

    def test_fixed_means_are_the_same_in_every_run_and_safe_to_change(self):
        problem = Problem.bernoulli(FIXED)
        first = problem.instance(np.random.default_rng(0))
        first.means[0, 0] = 0.0
        second = problem.instance(np.random.default_rng(1))
        assert second.means.tolist() == FIXED
        assert second.spreads is None

    def test_random_means_are_uniform_draws_in_row_major_order(self):
        instance = Problem.bernoulli(arms=(2, 3)).instance(np.random.default_rng(7))
        assert np.array_equal(instance.means.ravel(), np.random.default_rng(7).random(6))

    def test_random_means_between_given_ends(self):
        means = RandomMeans((2, 2), -1.0, 3.0).draw(1, None, np.random.default_rng(7))
        assert np.allclose(means.ravel(), -1 + 4 * np.random.default_rng(7).random(4))

    def test_spreads_come_after_the_means(self):
        instance = Problem.gaussian(arms=(2, 2), sd=(0.1, 0.5)).instance(np.random.default_rng(3))
        drawn = np.random.default_rng(3).random(8)
        assert np.allclose(instance.means.ravel(), drawn[:4])
        assert np.allclose(instance.spreads.ravel(), 0.1 + 0.4 * drawn[4:])

    @pytest.mark.parametrize("kind", [list, tuple, np.array])
    @pytest.mark.parametrize("arms", [(2, 2), (2, 3), (1, 2, 2)])
    def test_a_pair_of_spreads_is_one_however_it_is_written(self, kind, arms):
        problem = Problem.gaussian(arms=arms, sd=kind([0.1, 0.5]))
        assert problem == Problem.gaussian(arms=arms)  # the default
        assert (problem.reward.low, problem.reward.high, problem.reward.values) == (0.1, 0.5, None)
        assert [type(end) for end in (problem.reward.low, problem.reward.high)] == [float, float]

    def test_one_spread_for_all_and_given_spreads(self):
        one = Problem.gaussian(FIXED, sd=0.3).instance(np.random.default_rng(0))
        assert one.spreads.tolist() == [[0.3, 0.3], [0.3, 0.3]]
        given = [[0.1, 0.2], [0.3, 0.0]]
        assert Problem.gaussian(FIXED, sd=given).instance(np.random.default_rng(0)).spreads.tolist() == given
        array = np.array(given)
        assert Problem.gaussian(FIXED, sd=array).instance(np.random.default_rng(0)).spreads.tolist() == given
        pair_of_rows = tuple(tuple(row) for row in given)
        assert Problem.gaussian(FIXED, sd=pair_of_rows).instance(np.random.default_rng(0)).spreads.tolist() == given


class TestTheNounItself:
    def test_defaults(self):
        problem = Problem.bernoulli()
        assert problem.arms == (2, 2)
        assert problem.observation.observability == (1.0, 1.0)
        assert problem.weights == (0.5, 0.5)
        assert Problem.gaussian().observation.noise == (0.0, 0.0)

    def test_sizes(self):
        problem = Problem.bernoulli(arms=(2, 3, 4))
        assert (problem.agents, problem.cells, problem.arms) == (3, 24, (2, 3, 4))

    def test_binary_means_that_zeros_and_ones_are_all_that_is_seen(self):
        assert Problem.bernoulli(FIXED).binary
        assert Problem.bernoulli(FIXED, observation="flipped").binary
        assert not Problem.bernoulli(FIXED, observation="noisy", noise=[0.1, 0.2]).binary
        assert not Problem.gaussian(FIXED).binary
        assert not Problem.gaussian(FIXED, observation="missed", observability=[1.0, 0.5]).binary

    @pytest.mark.parametrize("kind", [list, tuple, np.array])
    def test_lists_tuples_and_arrays_are_the_same(self, kind):
        problem = Problem.bernoulli(np.array(FIXED), kind([1.0, 0.5]), weights=kind([1, 1]), roles=kind([0, 1]))
        assert problem == Problem.bernoulli(FIXED, [1.0, 0.5], weights=[1.0, 1.0], roles=(0, 1))
        assert hash(problem) == hash(Problem.bernoulli(FIXED, [1.0, 0.5], weights=[1.0, 1.0], roles=(0, 1)))

    def test_it_cannot_be_changed(self):
        problem = Problem.bernoulli(FIXED)
        with pytest.raises(AttributeError):
            problem.roles = "random"

    def test_ready_made_means_are_taken_as_they_are(self):
        assert Problem.bernoulli(FixedMeans.of(FIXED)) == Problem.bernoulli(FIXED)

    @pytest.mark.parametrize(
        "problem",
        [
            Problem.bernoulli(FIXED, [1.0, 0.5], roles=(1, 0)),
            Problem.bernoulli(arms=(2, 3), observation="flipped"),
            Problem.gaussian(noise=[0.1, 0.5], sd=[[0.1, 0.2], [0.3, 0.4]]),
        ],
    )
    def test_it_travels(self, problem):
        assert pickle.loads(pickle.dumps(problem)) == problem
        assert json.loads(json.dumps(problem.describe()))["arms"] == list(problem.arms)
