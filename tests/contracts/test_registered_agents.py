"""Every registered agent, with its defaults and with other options, keeps the contract."""

from __future__ import annotations

from typing import Any

import pytest

from cobandit import AGENTS
from cobandit.agents import make_agent
from cobandit.testing import RULES, AgentContract

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "partner-aware-ucb": [
        {},
        {"index": "anytime", "window": 1},
        {"index": "companion", "repeat": 2},
        {"ties": "random", "window": 3, "repeat": 3},
        {"index": "companion", "ties": "random", "exploration": 0.0},
    ],
    "partner-aware-ts": [{}, {"window": 1, "repeat": 2}, {"ties": "random", "prior_mean": 0.0, "noise_sd": 0.1}],
    "naive-ucb": [{}, {"index": "anytime", "ties": "random"}, {"index": "companion"}],
    "naive-ts": [{}, {"ties": "random", "prior_sd": 2.0}],
    "very-naive-ucb": [{}, {"index": "anytime"}, {"index": "companion", "ties": "random"}],
    "knowledge-gradient": [{}, {"discount": 0.9}, {"discount": 0.0, "ties": "random"}],
    "centralised-ucb": [{}, {"index": "anytime", "ties": "random"}, {"index": "companion"}],
    "centralised-ts": [{}, {"ties": "random"}],
    "optimal": [{}],
    "mucb-intervals": [{}, {"exploration": 0.02}, {"exploration": 0.0}],
    "mdsee": [{}, {"sweeps": 2, "ties": "random"}],
    "softmax": [{}, {"memory": 1, "temperature": 0.01}],
    "win-stay-lose-shift": [{}, {"slip": 0.0}],
    "epsilon-greedy": [{}, {"epsilon": 0.0}],
}


def cases() -> list[Any]:
    made = []
    for name, settings in SETTINGS.items():
        for options in settings:
            label = "-".join([name, *(f"{key}={value}" for key, value in options.items())])
            made.append(pytest.param((name, options), id=label))
    return made


class TestRegistered(AgentContract):
    horizon = 20

    @pytest.fixture(autouse=True, params=cases())
    def _setting(self, request: pytest.FixtureRequest) -> None:
        self.kind, self.options = request.param

    def make(self):
        return make_agent(self.kind, **self.options)


def test_every_registered_agent_is_checked():
    assert list(SETTINGS) == list(AGENTS)


def test_every_rule_is_a_test_of_the_mixin():
    tests = [name for name in dir(AgentContract) if name.startswith("test_")]
    assert len(tests) == len(RULES)
