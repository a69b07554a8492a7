"""A problem as a PettingZoo environment: PettingZoo's own tests, the luck of a simulation, and clear refusals."""

from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import cobandit as cb
from cobandit.interop import TeamEnv, TeamPolicy, play_env

PROBLEMS = {
    "paper": cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5]),
    "missed, known": cb.Problem.bernoulli("random", [0.9, 0.3, 0.6], arms=(2, 3, 2), observation="missed-known"),
    "real rewards": cb.Problem.gaussian("random", [0.1, 0.5], arms=(3, 2)),
    "drawn roles": cb.Problem.bernoulli("random", [0.5, 0.9], arms=(3, 4), roles="random", weights=[2.0, 1.0]),
    "relabelled": cb.Problem.bernoulli([[0.8, 0.4, 0.1], [0.2, 0.6, 0.3]], [1.0, 0.5]).relabelled(),
}


@pytest.mark.parametrize("observation", ["statistics", "round"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_it_passes_the_tests_of_pettingzoo(name, observation):
    def make():
        return TeamEnv(PROBLEMS[name], 30, observation=observation, reward="team")

    parallel_api_test(make(), num_cycles=40)
    parallel_seed_test(make, num_cycles=25)


@pytest.mark.parametrize("name", PROBLEMS)
def test_our_agents_play_the_rounds_of_a_simulation(name):
    """Run 0 of a seed, then, by another reset without one, run 1 has its own luck."""
    problem = PROBLEMS[name]
    env = TeamEnv(problem, 60)
    env.reset(seed=5)
    players = {agent: cb.PartnerAwareUCB(window=3, ties="random") for agent in env.possible_agents}
    play = play_env(env, TeamPolicy.for_problem(env, players, seed=5), seed=5)
    team = cb.Team(list(players.values()))
    expected = cb.simulate(problem, team, 60, runs=1, seed=5, engine="reference").trajectory(0)
    np.testing.assert_array_equal(play.actions, expected.actions)
    np.testing.assert_array_equal(play.rewards, np.nan_to_num(expected.seen))
    assert play.rounds == 60
    first = env.means
    env.reset()
    assert (env.means == first).all() == (isinstance(problem.means, cb.FixedMeans) and not problem.relabel)


def test_observations_and_infos_tell_what_an_agent_may_know():
    env = TeamEnv(cb.Problem.bernoulli([[1.0, 1.0], [0.0, 1.0]], [1.0, 0.0]), 4)
    env.reset(seed=0)
    env.step({"agent_0": 0, "agent_1": 1})
    observations, rewards, _, _, infos = env.step({"agent_0": 1, "agent_1": 0})
    # Shares of the four cells, means by Beta(1, 1), arms of both, what was seen, that it was, t / T.
    leader = [0, 0.25, 0.25, 0, 0.5, 2 / 3, 1 / 3, 0.5, 0, 1, 1, 0, 0, 1, 0.5]
    blind = [0, 0.25, 0.25, 0, 0.5, 1 / 3, 1 / 3, 0.5, 0, 1, 1, 0, 0, 1, 0.5]
    np.testing.assert_allclose(observations["agent_0"], leader, rtol=1e-6)
    np.testing.assert_allclose(observations["agent_1"], blind, rtol=1e-6)
    assert rewards == {"agent_0": 0.0, "agent_1": 0.0}
    assert infos["agent_1"]["arms"].tolist() == [1, 0]
    assert infos["agent_0"]["round_regret"] == 1.0
    np.testing.assert_array_equal(env.state(), np.concatenate(list(observations.values())))


@pytest.mark.parametrize(("reward", "expected"), [("seen", [1.0, 0.0]), ("team", [0.75, 0.75]), ("task", [1.0, 1.0])])
def test_what_agents_are_paid(reward, expected):
    problem = cb.Problem.bernoulli([[1.0, 1.0], [1.0, 1.0]], [1.0, 0.0], weights=[0.75, 0.25])
    env = TeamEnv(problem, 3, reward=reward)
    env.reset(seed=1)
    _, rewards, _, _, _ = env.step({"agent_0": 0, "agent_1": 0})
    assert list(rewards.values()) == expected


def test_runs_end_and_refusals_are_clear():
    env = TeamEnv(PROBLEMS["paper"], 1)
    with pytest.raises(cb.InvalidInput, match="never reset"):
        env.step({"agent_0": 0, "agent_1": 0})
    env.reset(seed=0)
    with pytest.raises(cb.InvalidInput, match="an arm for each of agent_0, agent_1"):
        env.step({"agent_0": 0})
    with pytest.raises(cb.InvalidInput, match=r"actions\['agent_1'\] must be an integer from 0 to 1"):
        env.step({"agent_0": 0, "agent_1": 2})
    _, _, terminated, truncated, _ = env.step({"agent_0": 0, "agent_1": 1})
    assert not any(terminated.values())
    assert all(truncated.values())
    assert env.agents == []
    with pytest.raises(cb.InvalidInput, match="ended after its 1 rounds"):
        env.step({"agent_0": 0, "agent_1": 1})
    wrongs: dict[str, dict[str, Any]] = {
        "pixels": {"observation": "pixels"},
        "money": {"reward": "money"},
        "horizon must be .*got 0": {"horizon": 0},
        "must be a Problem": {"problem": "burger"},
    }
    setting: dict[str, Any] = {"problem": PROBLEMS["paper"], "horizon": 5}
    for words, wrong in wrongs.items():
        with pytest.raises(cb.InvalidInput, match=words):
            TeamEnv(**setting | wrong)
    with pytest.raises(cb.InvalidInput, match=r"seed must be .*got -1"):
        env.reset(seed=-1)
