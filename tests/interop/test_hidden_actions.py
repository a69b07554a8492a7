"""Environments of a problem that hides actions: observations and infos contain the learner's own arms alone."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test

import cobandit as cb
from cobandit.interop import SeatEnv, SeatVectorEnv, TeamEnv, TeamPolicy, play_env

SECRET = cb.Problem.bernoulli([[0.9, 0.1, 0.4], [0.2, 0.6, 0.3]], [1.0, 1.0], actions="hidden")
NAMES = ("agent_0", "agent_1")


@pytest.mark.parametrize("observation", ["statistics", "round"])
def test_they_pass_the_checks(observation):
    check_env(SeatEnv(SECRET, "mucb", 0, 20, observation=observation), skip_render_check=True)
    parallel_api_test(TeamEnv(SECRET, 20, observation=observation), num_cycles=50)


def test_the_latest_round_has_the_own_arm_alone():
    env = TeamEnv(SECRET, 9, observation="round")
    env.reset(seed=3)
    observations, _, _, _, infos = env.step({"agent_0": 1, "agent_1": 2})
    assert observations["agent_0"][:5].tolist() == [0, 1, 0, 0, 0]
    assert observations["agent_1"][:5].tolist() == [0, 0, 0, 0, 1]
    assert infos["agent_0"]["arms"].tolist() == [1, -1]
    assert infos["agent_1"]["arms"].tolist() == [-1, 2]


def test_statistics_are_of_the_own_arms():
    env = TeamEnv(SECRET, 4)
    assert [env.observation_space(name).shape for name in NAMES] == [(2 * 2 + 5 + 3,), (2 * 3 + 5 + 3,)]
    env.reset(seed=3)
    moves = [(1, 2), (0, 2), (1, 0)]
    infos = [env.step(dict(zip(NAMES, move, strict=True)))[4] for move in moves]
    seen = [info["agent_1"]["seen"] for info in infos]
    shares, means = np.split(env._observations()["agent_1"][:6], 2)
    assert shares.tolist() == [0.25, 0.0, 0.5]
    np.testing.assert_allclose(means, [(1 + seen[2]) / 3, 0.5, (1 + seen[0] + seen[1]) / 4], rtol=1e-6)


def test_a_learner_cannot_tell_what_its_partner_played():
    """Two worlds that differ in the partner's arms and not in the rewards look the same."""
    certain = cb.Problem.bernoulli([[1.0, 1.0], [1.0, 1.0]], [1.0, 1.0], actions="hidden")
    played = []
    for other in (0, 1):
        env = TeamEnv(certain, 6)
        env.reset(seed=1)
        steps = [env.step({"agent_0": t % 2, "agent_1": other}) for t in range(6)]
        played.append([(step[0]["agent_0"].tolist(), step[4]["agent_0"]["arms"].tolist()) for step in steps])
    assert played[0] == played[1]


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_many_copies_are_as_single_ones(engine):
    rounds, copies = 12, 3
    envs = SeatVectorEnv(SECRET, "mucb", 1, rounds, copies, engine=engine)
    assert envs.engine == engine
    moves = np.random.default_rng(7).integers(0, 3, (rounds, copies))
    envs.reset(seed=11)
    steps = [envs.step(moves[k]) for k in range(rounds)]
    lone = SeatEnv(SECRET, "mucb", 1, rounds)
    for copy in range(copies):
        lone.reset(seed=11 if copy == 0 else None)
        for k in range(rounds):
            observation, reward, _, _, info = lone.step(int(moves[k, copy]))
            np.testing.assert_array_equal(observation, steps[k][0][copy])
            assert reward == steps[k][1][copy]
            assert info["arms"].tolist() == steps[k][4]["arms"][copy].tolist() == [-1, moves[k, copy]]


def test_partners_that_need_the_arms_are_refused():
    for make in (lambda: SeatEnv(SECRET, "bank", 0, 9), lambda: SeatVectorEnv(SECRET, "bank", 0, 9, 2)):
        with pytest.raises(cb.InvalidInput, match="actions is 'hidden', but bank needs"):
            make()
    env = TeamEnv(SECRET, 9)
    env.reset(seed=0)
    with pytest.raises(cb.InvalidInput, match="actions is 'hidden', but bank needs"):
        TeamPolicy.for_problem(env, dict.fromkeys(NAMES, "bank"), seed=0)
    SeatEnv(SECRET, ["bank", "mucb"], 0, 9)  # the learner takes the seat of the bank


def test_policies_play_the_rounds_of_a_simulation():
    env = TeamEnv(SECRET, 40)
    env.reset(seed=5)
    policy = TeamPolicy.for_problem(env, dict.fromkeys(NAMES, "mucb"), seed=5)
    played = play_env(env, policy, seed=5)
    rounds = cb.simulate(SECRET, "mucb", 40, runs=1, seed=5).trajectory(0)
    np.testing.assert_array_equal(played.actions, rounds.actions)
