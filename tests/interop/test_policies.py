"""Our agents in PettingZoo environments of anybody's make."""

from typing import ClassVar

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

import cobandit as cb
from cobandit.interop import TeamEnv, TeamPolicy, play_env


class Coordination(ParallelEnv):  # type: ignore[misc]  # PettingZoo carries no types
    """Somebody else's bandit: who match are paid, best for 6, and actions are counted from 5."""

    metadata: ClassVar = {"name": "coordination"}
    possible_agents: ClassVar = ["left", "right"]

    def action_space(self, agent):
        return spaces.Discrete(3, start=5)

    def observation_space(self, agent):
        return spaces.Discrete(1)

    def reset(self, seed=None, options=None):
        self.agents, self._rounds = list(self.possible_agents), 0
        return dict.fromkeys(self.agents, 0), {name: {} for name in self.agents}

    def step(self, actions):
        self._rounds += 1
        matched = actions["left"] == actions["right"]
        paid = dict.fromkeys(self.agents, matched * (0.9 if actions["left"] == 6 else 0.3))
        names, ended = self.agents, self._rounds == 80
        self.agents = [] if ended else names
        return dict.fromkeys(names, 0), paid, dict.fromkeys(names, False), dict.fromkeys(names, ended), {}


class Pixels(Coordination):
    def action_space(self, agent):
        return spaces.Box(0, 1, (2,))


def test_a_partner_aware_team_learns_to_match():
    env = Coordination()
    players: dict = {"left": "partner-aware-ucb", "right": cb.PartnerAwareUCB(window=1)}
    policy = TeamPolicy(env, players, horizon=80, seed=1)
    play = play_env(env, policy)
    assert play.agents == ("left", "right")
    assert play.actions.min() >= 5
    assert (play.rewards[-30:] == 0.9).all()
    policy.reset()
    np.testing.assert_array_equal(play_env(env, policy).actions, play.actions)


def test_ours_beside_a_stranger():
    env = Coordination()
    play = play_env(env, TeamPolicy(env, {"right": "partner-aware-ucb"}, horizon=80, seed=0), {"left": lambda _: 6})
    assert (play.actions[:, 0] == 6).all()
    assert (play.actions[-20:, 1] == 6).all()
    shorter = play_env(env, TeamPolicy(env, {"right": "softmax"}, horizon=80), {"left": lambda _: 7}, rounds=9)
    assert shorter.rounds == 9


def test_who_leads_can_be_said():
    env = Coordination()
    policy = TeamPolicy(env, {"left": "partner-aware-ucb", "right": "partner-aware-ucb"}, horizon=9, ranks=(1, 0))
    play_env(env, policy, rounds=3)
    assert policy._partners["left"].predictions.keys() == {1}
    assert not policy._partners["right"].predictions


def test_refusals_are_clear():
    env = Coordination()
    with pytest.raises(cb.InvalidInput, match="one or more of left, right"):
        TeamPolicy(env, {"middle": "softmax"}, horizon=5)
    with pytest.raises(cb.InvalidInput, match="one or more of left, right"):
        TeamPolicy(env, {}, horizon=5)
    with pytest.raises(cb.UnknownName, match="partner-aware-ucb"):
        TeamPolicy(env, {"left": "partner-aware-ucp"}, horizon=5)
    with pytest.raises(cb.InvalidInput, match="one brain"):
        TeamPolicy(env, {"left": "centralised-ucb"}, horizon=5)
    with pytest.raises(cb.InvalidInput, match="a Discrete space"):
        TeamPolicy(Pixels(), {"left": "softmax"}, horizon=5)
    policy = TeamPolicy(env, {"left": "softmax"}, horizon=5)
    with pytest.raises(cb.InvalidInput, match=r"No policy plays right; give others=\{'right'"):
        play_env(env, policy)
    with pytest.raises(cb.InvalidInput, match="no arm of right"):
        policy.observe({"left": 5}, {"left": 1.0})
    fresh = TeamEnv(cb.Problem.bernoulli("random"), 5)
    with pytest.raises(cb.InvalidInput, match="never reset"):
        TeamPolicy.for_problem(fresh, {"agent_0": "softmax"})
