"""A team in a Markov decision process: the bandit's `Team` with agents that know states."""

from __future__ import annotations

from typing import Any, ClassVar

from cobandit.agents.team import Team as BanditTeam
from cobandit.mdp.agents.base import MarkovAgent, MarkovController
from cobandit.mdp.agents.lookup import agent_class
from cobandit.mdp.agents.registry import AGENTS


class Team(BanditTeam):
    """The players of a Markov problem: ``Team.of(name, **options)``, or ``Team([...])`` with one agent per place."""

    agent_kind: ClassVar[Any] = MarkovAgent
    controller_kind: ClassVar[Any] = MarkovController
    base_name: ClassVar[str] = "cobandit.mdp.MarkovAgent"

    @staticmethod
    def class_of(name: str) -> Any:
        """Return the class of a registered agent."""
        return agent_class(name)

    @staticmethod
    def known_class(name: str) -> Any:
        """Return the class that is registered under a name, or None."""
        return AGENTS.get(name)
