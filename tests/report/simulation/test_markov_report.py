"""What the page of a Markov problem shows: visits of states, and where runs stick."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit import InvalidInput, Problem, Team, mdp, simulate
from cobandit.report import write_markov_report
from cobandit.report.markov.graph import distances
from cobandit.report.markov.sticking import stuck_runs, visits_over_time


@pytest.fixture(scope="module")
def result():
    team = mdp.Team.of("naive-ucbvi")
    return mdp.simulate(mdp.make_problem("burger-line"), team, 30, 3, 1, engine="reference")


def test_visits_are_shares_of_whole_episodes(result):
    shares = visits_over_time(result, parts=7)
    assert shares.shape == (5, 7)
    assert np.allclose(shares.sum(axis=0), 1.0)
    assert np.allclose(shares[0], 0.5), "every other step is made at the bun"


def test_the_run_that_lost_most_stands_first(result):
    losses = result.task_regret[:, -1] - result.task_regret[:, 29]
    first = stuck_runs(result)[0]
    assert first.run == int(losses.argmax())
    assert first.lost == pytest.approx(losses.max())
    assert 0.0 < first.share <= 1.0


def test_distances_are_those_of_the_line():
    world = mdp.make_problem("burger-line", steps=3).instance(np.random.default_rng(0)).world
    assert distances(world) == [0] + [1] * 4 + [2] * 16


def test_refusals(result, tmp_path):
    with pytest.raises(InvalidInput, match="empty"):
        write_markov_report([], tmp_path)
    bandit = simulate(Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]]), Team.of("naive-ucb"), 10, 2, 0)
    with pytest.raises(InvalidInput, match="Markov"):
        write_markov_report([result, bandit], tmp_path)
