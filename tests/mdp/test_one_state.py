"""One state, one step is the bandit: the same arms, predictions, rewards and regret, to the last choice."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cobandit import Gaussian, Problem, RandomMeans, Team, mdp
from cobandit.engine import reference
from tests.mdp.agent_table import BANDIT, OPTIMISTIC

ROUNDS = 50
SIGHT = (0.9, 0.5, 0.7)


def teams():
    for name, bandit in BANDIT.items():
        rows: list[dict]
        if name in ("partner-aware-ucbvi", "joint-max-ucbvi"):
            rows = [
                row | {"window": window, "repeat": repeat}
                for row in OPTIMISTIC
                for window, repeat in itertools.product((1, 5, 25), (1, 3))
            ]
        elif name in ("naive-ucbvi", "very-naive-ucbvi", "centralised-ucbvi"):
            rows = OPTIMISTIC
        else:
            rows = [{"ties": "random"}, {}] if "psrl" in name else [{}]
        for row in rows:
            own = {"patience": 0.0} if name == "steered-ucbvi" else {}
            theirs = {"index": "ucb"} if name == "steered-ucbvi" else {}
            yield mdp.Team.of(name, **row, **own), Team.of(bandit, **row, **theirs)


def pairs(arms, **kinds):
    bandit = Problem(RandomMeans(arms), **kinds)
    markov = mdp.MarkovProblem(mdp.RandomDynamics(states=1, steps=1, arms=arms), **kinds)
    return bandit, markov


def bernoulli(arms, observation, roles):
    template = Problem.bernoulli("random", SIGHT[: len(arms)], arms=arms, observation=observation, roles=roles)
    return pairs(arms, reward=template.reward, observation=template.observation, roles=roles)


def gaussian(arms):
    template = Problem.gaussian("random", [0.2, 0.5], arms=arms)
    return pairs(arms, reward=Gaussian(0.1, 0.5), observation=template.observation)


@pytest.mark.parametrize(
    ("problems", "seed"),
    [
        (bernoulli((2, 2), "missed", "observability"), 1),
        (bernoulli((3, 2), "missed-known", (1, 0)), 2),
        (bernoulli((2, 3, 2), "missed", "random"), 3),
        (bernoulli((2, 2, 2), "flipped", "observability"), 4),
        (gaussian((2, 3)), 5),
    ],
    ids=["2x2", "3x2 missed-known", "2x3x2 random roles", "2x2x2 flipped", "2x3 gaussian"],
)
def test_the_bandit_to_the_last_choice(problems, seed):
    bandit, markov = problems
    compared = 0
    for markov_team, team in teams():
        theirs = reference.run_trajectory(bandit, team, ROUNDS, seed, 0)
        ours = mdp.run_trajectory(markov, markov_team, ROUNDS, seed, 0)
        assert np.array_equal(ours.actions, theirs.actions), (str(markov_team), ours.actions, theirs.actions)
        assert np.array_equal(ours.seen, theirs.seen, equal_nan=True)
        assert np.array_equal(ours.predictions, theirs.predictions)
        assert np.array_equal(ours.task_regret, theirs.task_regret)
        compared += 1
    assert compared == 36 * 2 + 6 * 3 + 2 * 2 + 2


def test_the_plain_regrets_are_the_same_numbers():
    bandit, markov = bernoulli((2, 2), "missed", "observability")
    points = np.array([7, 50])
    theirs, _ = reference.play_runs(bandit, Team.of("naive-ucb"), 50, 3, range(4), points, lambda done: None)
    ours = mdp.simulate(markov, mdp.Team.of("naive-ucbvi", index="paper"), 50, 4, 3, checkpoints=[7, 50])
    assert np.array_equal(ours.task_regret, theirs)
