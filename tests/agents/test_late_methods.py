"""Methods that are assigned after a class was made, as in a notebook: they are checked like the others."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit import Agent, AgentError, Briefing, InvalidInput, Partner


class Counting(Agent):
    def reset(self, briefing, rng):
        self.got = []

    def choose(self):
        return 0

    def observe(self, team_action, reward):
        self.got.append(reward)


def ready(agent):
    agent.reset(Briefing(0, (2, 2), (0, 1), 10), np.random.default_rng(0))
    return agent


def test_on_the_class():
    class Late(Counting):
        pass

    agent = Late()
    Late.observe = lambda self, team_action, reward: self.got.append((self.round, reward))  # type: ignore[method-assign]
    ready(agent)
    for _ in range(3):
        agent.observe((agent.choose(), 0), 1)
    assert agent.got == [(1, 1.0), (2, 1.0), (3, 1.0)]
    with pytest.raises(InvalidInput, match="reward is nan"):
        agent.observe((0, 1), np.nan)


def test_on_the_class_above_and_once_more():
    class Above(Counting):
        pass

    class Below(Above):
        pass

    for word in ("first", "second"):
        Above.observe = lambda self, team_action, reward, word=word: self.got.append(word)  # type: ignore[method-assign, misc]
        partner = Partner(Below(), (2, 2), seat=0, horizon=10, seed=0)
        partner.observe((0, 1), 1.0)
        assert (partner.round, partner.agent.got) == (2, [word])  # type: ignore[attr-defined]


def test_on_an_object():
    agent = Counting()
    agent.observe = lambda team_action, reward: None  # type: ignore[method-assign]
    with pytest.raises(AgentError, match=r"^Counting.* has an observe of its own, .* write a subclass"):
        ready(agent)
