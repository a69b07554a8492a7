"""Teams made again from their descriptions, also after a way through JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

import cobandit as cb
from cobandit.agents.base import TeamAction, option
from cobandit.base.checks import whole


@dataclass
class Stubborn(cb.Agent):
    """Plays one arm for ever."""

    arm: int = option(0, "the arm", whole(0))

    def choose(self) -> int:
        """The arm."""
        return self.arm

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Nothing is learned."""


@pytest.mark.parametrize("name", cb.AGENTS)
def test_a_team_of_one_kind_comes_back(name: str) -> None:
    team = cb.Team.of(name)
    assert cb.Team.from_dict(json.loads(json.dumps(team.describe()))) == team


def test_a_mixed_team_comes_back() -> None:
    team = cb.Team([cb.KnowledgeGradient(), cb.PartnerAwareUCB(window=3), Stubborn(arm=1)])
    described = json.loads(json.dumps(team.describe()))
    assert cb.Team.from_dict(described, own=[Stubborn]) == team
    with pytest.raises(cb.UnknownName, match="There is no agent 'Stubborn'"):
        cb.Team.from_dict(described)


@pytest.mark.parametrize(
    ("description", "said"),
    [
        ({}, "'agent' or 'members'"),
        (3, "'agent' or 'members'"),
        ({"agent": "naive-ucbb"}, "Did you mean 'naive-ucb'"),
        ({"agent": "naive-ucb", "explorations": 3}, "Did you mean 'exploration'"),
        ({"agent": 3}, "a dict with 'agent' and its options"),
        ({"members": 3}, "a list of agents"),
        ({"members": [], "agents": 2}, "a list of agents"),
        ({"members": [3, 4]}, "a dict with 'agent' and its options"),
    ],
)
def test_a_wrong_description_is_told(description: Any, said: str) -> None:
    with pytest.raises(cb.InvalidInput, match=said):
        cb.Team.from_dict(description)


def test_own_classes_are_agents() -> None:
    with pytest.raises(cb.InvalidInput, match=r"no subclass of cobandit\.Agent"):
        cb.Team.from_dict({"agent": "dict"}, own=[dict])
