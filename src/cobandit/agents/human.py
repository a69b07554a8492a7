"""A person in the team: the arm comes from whatever asks the person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Self

from cobandit.agents.base import Agent, TeamAction


@dataclass
class Human(Agent):
    """Asks for each arm through ``ask`` and shows each round's outcome through ``tell``."""

    name: ClassVar[str] = "human"
    paper: ClassVar[str] = "Experiments; Online Casino Study"
    needs_actions: ClassVar[bool] = False
    protocol: ClassVar[str | None] = None

    ask: Callable[[Human], int] = field(kw_only=True)
    tell: Callable[[Human, TeamAction, float | None], None] = field(kw_only=True)

    def clone(self) -> Self:
        """Return an agent for the same person: the callbacks are shared, not copied."""
        return type(self)(ask=self.ask, tell=self.tell)

    def choose(self) -> int:
        """Return the person's arm."""
        return self.ask(self)

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Show the round to the person."""
        self.tell(self, team_action, reward)
