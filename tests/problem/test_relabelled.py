"""Relabelled problems: their labels, their description, and what is refused."""

import itertools
import json
from collections import Counter

import numpy as np
import pytest

import cobandit as cb
from cobandit.base.streams import Streams
from cobandit.engine import Environment
from cobandit.problem.labels import draw_labels, original_action, to_agents, to_problem

FIXED = [[0.8, 0.4, 0.1], [0.2, 0.6, 0.3]]


def test_every_pair_of_orders_is_equally_likely():
    runs = 6_000
    streams = (Streams.of(5, run, 2, relabel=True).labels for run in range(runs))
    drawn = Counter(draw_labels((2, 3), rng) for rng in streams if rng is not None)
    every = set(itertools.product(itertools.permutations(range(2)), itertools.permutations(range(3))))
    assert set(drawn) == every
    expected = runs / len(every)
    assert sum((count - expected) ** 2 / expected for count in drawn.values()) < 31.3  # chi-square, 11 df, p = .001


def test_tensors_go_to_the_agents_labels_and_back():
    labels = ((1, 0), (2, 0, 1))
    means = np.array(FIXED)
    theirs = to_agents(means, labels)
    for action in itertools.product(range(2), range(3)):
        assert theirs[action] == means[original_action(action, labels)]
    np.testing.assert_array_equal(to_problem(theirs, labels), means)


def test_the_labels_have_a_stream_of_their_own():
    """All other streams of a run are what they are without labels."""
    plain, relabelled = Streams.of(3, 8, 2), Streams.of(3, 8, 2, relabel=True)
    assert plain.labels is None
    for name in ("setup", "rewards"):
        assert getattr(plain, name).random() == getattr(relabelled, name).random()
    for name in ("observations", "choices"):
        for one, other in zip(getattr(plain, name), getattr(relabelled, name), strict=True):
            assert one.random() == other.random()
    expected = np.random.Generator(np.random.SFC64(np.random.SeedSequence(3, spawn_key=(8, 7))))
    assert relabelled.labels is not None
    assert relabelled.labels.random() == expected.random()


def test_a_description_mentions_the_labels_only_where_they_are_permuted():
    problem = cb.Problem.bernoulli(FIXED, [1.0, 0.5])
    assert "relabel" not in problem.describe()
    relabelled = problem.relabelled()
    assert relabelled != problem
    assert relabelled.relabelled() == relabelled
    assert relabelled.describe()["relabel"] is True
    assert cb.Problem.from_dict(json.loads(json.dumps(relabelled.describe()))) == relabelled
    assert cb.Problem.from_dict(problem.describe()) == problem


def test_refusals_are_clear():
    problem = cb.Problem.bernoulli(FIXED, [1.0, 0.5]).relabelled()
    with pytest.raises(cb.InvalidInput, match=r"relabel must be True or False, got 'yes'\."):
        cb.Problem.from_dict(problem.describe() | {"relabel": "yes"})
    with pytest.raises(cb.InvalidInput, match="streams must have labels for a relabelled problem"):
        Environment(problem, Streams.of(0, 0, 2))
    with pytest.raises(cb.InvalidInput, match=r"means=\.\.\., an array of shape"):
        cb.Partner.for_problem("optimal", problem, 0, 10, seed=1)
    told = cb.Partner.for_problem("optimal", problem, 0, 10, seed=1, means=np.array(FIXED)[::-1])
    assert told.choose() == 1


def test_partners_do_not_depend_on_the_labels():
    problem = cb.Problem.bernoulli(FIXED, [1.0, 0.5])
    one, other = (cb.Partner.for_problem("naive-ts", each, 1, 50, seed=4) for each in (problem, problem.relabelled()))
    for k in range(50):
        arms = one.choose(), other.choose()
        assert arms[0] == arms[1]
        for partner in (one, other):
            partner.observe((k % 2, arms[0]), float(k % 3 == 0))


@pytest.mark.parametrize("changes", [False, True])
def test_models_of_others_see_their_own_labels(changes):
    """Means and spreads are drawn as without labels, and a drifting model gets back what it gave."""

    class Ordered:
        arms = (2, 3)

        def __init__(self):
            self.changes = changes

        def draw(self, t, previous, rng):
            expected = None if t == 1 else np.arange(6.0).reshape(2, 3) + t - 1
            assert (previous is None) == (expected is None)
            if expected is not None:
                np.testing.assert_array_equal(previous, expected)
            return np.arange(6.0).reshape(2, 3) + t

    class Spread:
        name = "spread"
        binary = False

        def spreads(self, arms, rng):
            return 10.0 * np.arange(6.0).reshape(arms)

        def draw(self, t, mean, spread, rng):
            assert spread == 10.0 * (mean - (t if changes else 1))
            return mean

    problem = cb.Problem.of(Ordered(), Spread(), observability=[1.0, 1.0]).relabelled()
    result = cb.simulate(problem, cb.Team.of("optimal"), 9, runs=4, seed=2)
    assert (result.task_regret == 0.0).all()
    for run in range(4):
        trajectory = result.trajectory(run)
        assert trajectory.labels is not None
        cells = [original_action(tuple(action), trajectory.labels) for action in trajectory.actions.tolist()]
        assert set(cells) == {(1, 2)}
        np.testing.assert_array_equal(trajectory.means, to_agents(np.arange(6.0).reshape(2, 3) + 1, trajectory.labels))
