"""Every registered agent keeps the contract: all rules with its first options, and how it plays with the others."""

from __future__ import annotations

import pytest

from cobandit import AGENTS
from cobandit.agents import make_agent
from cobandit.testing import RULES, AgentContract, contract_problems
from tests.agent_table import CASES, OPTIONS, label

HORIZON = 20
FIRST = [(name, rows[0]) for name, rows in OPTIONS.items()]
OTHERS = [case for case in CASES if case not in FIRST]
SOME_PROBLEMS = contract_problems()[::3]
"""Every shape and every observation model, but not each with each."""


class TestRegistered(AgentContract):
    horizon = HORIZON

    @pytest.fixture(autouse=True, params=FIRST, ids=label)
    def _setting(self, request: pytest.FixtureRequest) -> None:
        self.kind, self.options = request.param
        if "legal_arms" not in request.function.__name__:
            self.problems = SOME_PROBLEMS

    def make(self):
        return make_agent(self.kind, **self.options)


@pytest.mark.parametrize(("name", "options"), OTHERS, ids=map(label, OTHERS))
def test_other_options_play_legal_arms_and_repeat_themselves(name, options):
    """Options decide which arms are played; resetting, cloning and pickling are the same for all of them."""
    for rule in ("legal arms", "plays in a team"):
        RULES[rule](make_agent(name, **options), SOME_PROBLEMS, HORIZON, 0)


def test_every_registered_agent_is_checked():
    assert list(OPTIONS) == list(AGENTS)


def test_every_rule_is_a_test_of_the_mixin():
    tests = [name for name in dir(AgentContract) if name.startswith("test_")]
    assert len(tests) == len(RULES)
