"""A team in a Markov decision process: the bandit's `Team` with agents that know states."""

from __future__ import annotations

from typing import Any, ClassVar

from cobandit.agents.team import Team as BanditTeam
from cobandit.mdp.agents.base import MarkovAgent, MarkovController
from cobandit.mdp.agents.registry import make_agent


class Team(BanditTeam):
    """The players of a Markov problem: ``Team.of(name, **options)``, or ``Team([...])`` with one agent per place."""

    agent_kind: ClassVar[Any] = MarkovAgent
    controller_kind: ClassVar[Any] = MarkovController
    maker: ClassVar[str] = "cobandit.mdp.make_agent"
    base_name: ClassVar[str] = "cobandit.mdp.MarkovAgent"

    @staticmethod
    def make(name: str, **options: Any) -> Any:
        """A registered agent by name."""
        return make_agent(name, **options)
