"""Every registered agent, with its defaults and with other options, keeps the contract."""

from __future__ import annotations

import pytest

from cobandit import AGENTS
from cobandit.agents import make_agent
from cobandit.testing import RULES, AgentContract
from tests.agent_table import CASES, OPTIONS, label


class TestRegistered(AgentContract):
    horizon = 20

    @pytest.fixture(autouse=True, params=CASES, ids=label)
    def _setting(self, request: pytest.FixtureRequest) -> None:
        self.kind, self.options = request.param

    def make(self):
        return make_agent(self.kind, **self.options)


def test_every_registered_agent_is_checked():
    assert list(OPTIONS) == list(AGENTS)


def test_every_rule_is_a_test_of_the_mixin():
    tests = [name for name in dir(AgentContract) if name.startswith("test_")]
    assert len(tests) == len(RULES)
