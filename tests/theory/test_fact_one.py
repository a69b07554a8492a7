"""Fact 1: with full sight and first-index ties the naive UCB team is the single UCB agent, to the last bit."""

import numpy as np
import pytest

from cobandit import InvalidInput, Problem, Team, simulate
from cobandit.base.streams import Streams
from cobandit.theory import fact_one, single_agent_ucb

HORIZON = 150
SHAPES = [(2, 2), (3, 2), (1, 4), (5, 5), (2, 2, 2), (2, 3, 4), (1, 1)]


def drawn(means, seed, run):
    """r*_t(a) of every cell, from the run's own reward stream: one uniform draw a round."""
    uniform = Streams.of(seed, run, means.ndim).rewards.random(HORIZON)
    return (uniform[:, np.newaxis] < means.ravel()).astype(float)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2**40])
@pytest.mark.parametrize("exploration", [0.0, 0.025, 2.0])
def test_naive_team_is_the_single_agent(shape, seed, exploration):
    means = np.random.default_rng([seed, *shape]).random(shape).round(2)
    problem = Problem.bernoulli(means)
    result = simulate(problem, Team.of("naive-ucb", exploration=exploration), HORIZON, runs=2, seed=seed)
    for run in range(2):
        assert fact_one(problem, result.trajectory(run).actions, drawn(means, seed, run), exploration)


@pytest.mark.parametrize("means", [[[0.5, 0.5], [0.5, 0.5]], [[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]])
def test_ties_fall_alike(means):
    problem = Problem.bernoulli(means)
    result = simulate(problem, Team.of("naive-ucb"), HORIZON, runs=1, seed=3)
    assert fact_one(problem, result.trajectory(0).actions, drawn(np.array(means), 3, 0))


@pytest.mark.parametrize("shape", [(3, 2), (2, 2, 2)], ids=str)
def test_the_joint_controller_is_the_single_agent_too(shape):
    means = np.random.default_rng(5).random(shape)
    problem = Problem.bernoulli(means)
    result = simulate(problem, Team.of("centralised-ucb"), HORIZON, runs=1, seed=5)
    assert fact_one(problem, result.trajectory(0).actions, drawn(means, 5, 0))


def test_a_team_that_sees_less_is_not():
    """So the agreement above says something: with p = (1, .5) the two agents soon want different cells."""
    means = np.array([[0.8, 0.4], [0.2, 0.6]])
    partial = Problem.bernoulli(means, [1.0, 0.5])
    result = simulate(partial, Team.of("naive-ucb"), HORIZON, runs=1, seed=0)
    assert not fact_one(Problem.bernoulli(means), result.trajectory(0).actions, drawn(means, 0, 0))


def test_single_agent_by_hand():
    # c = 0: no bonus. Each cell once, in order; means 0, 1, 0, then the first of the best for good.
    rewards = np.tile([0.0, 1.0, 0.0], (6, 1))
    assert single_agent_ucb(rewards, 0.0).tolist() == [0, 1, 2, 1, 1, 1]
    # T = 4, c = 2: the bonus 2 sqrt(log 4) = 2.35 is the same for all three after one play each: the best mean wins.
    assert single_agent_ucb(rewards[:4], 2.0).tolist() == [0, 1, 2, 1]
    # T = 6, c = 2: sqrt(4 log 6) = 2.677. Cell 1 has 1 + 1.893 = 2.893 after two plays, 1 + 1.546 = 2.546 after three;
    # the others have 2.677 after one.
    assert single_agent_ucb(rewards, 2.0).tolist() == [0, 1, 2, 1, 1, 0]


def test_rewards_may_keep_the_shape_of_the_means():
    rewards = np.random.default_rng(0).random((20, 2, 3))
    assert np.array_equal(single_agent_ucb(rewards), single_agent_ucb(rewards.reshape(20, 6)))


def test_refusals():
    problem, rewards = Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]]), np.ones((3, 4))
    actions = np.zeros((3, 2), dtype=int)
    for sees in (
        Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5]),
        Problem.gaussian([[0.8, 0.4], [0.2, 0.6]], [0.0, 0.5]),
    ):
        with pytest.raises(InvalidInput, match="full sight"):
            fact_one(sees, actions, rewards)
    with pytest.raises(InvalidInput, match="must be a Problem"):
        fact_one("fixed", actions, rewards)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="3 cells a round"):
        fact_one(problem, actions, rewards[:, :3])
    for wrong in (actions[:2], actions[:, :1], actions.astype(float)):
        with pytest.raises(InvalidInput, match="an arm per round and agent"):
            fact_one(problem, wrong, rewards)
    for wrong in ([1.0, 0.0], [], "no", [[np.nan]], [[1.0], [1.0, 0.0]]):  # type: ignore[assignment]
        with pytest.raises(InvalidInput, match="rewards is"):
            single_agent_ucb(wrong)
    with pytest.raises(InvalidInput, match="exploration"):
        single_agent_ucb(rewards, -1.0)


def test_potential_rewards_are_those_of_the_engine():
    from cobandit import InvalidInput, Problem, Team, simulate
    from cobandit.theory import potential_rewards

    problem = Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    played = simulate(problem, Team.of("naive-ucb"), 60, runs=2, seed=4, engine="reference").trajectory(1)
    rewards = potential_rewards(problem, 60, seed=4, run=1)
    assert rewards.shape == (60, 2, 2)
    assert [rewards[t, *action] for t, action in enumerate(played.actions.tolist())] == played.rewards.tolist()
    with pytest.raises(InvalidInput, match="given means and Bernoulli rewards"):
        potential_rewards(Problem.gaussian([[0.8, 0.4], [0.2, 0.6]], sd=0.1, noise=[0.1, 0.5]), 60, seed=4)
