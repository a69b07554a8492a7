"""The AIs of a design: an agent with its options, for a condition, a single seat, a warm start or practice.

Paper: Experiments, Independent Variables and Procedure.
"""
# ruff: noqa: RUF009 -- entry() makes the field itself, and the defaults it is given are frozen

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cobandit.agents import Agent, agent_class, make_agent
from cobandit.agents.lookup import known_agents, known_class
from cobandit.base.checks import whole, with_schema
from cobandit.base.errors import InvalidInput
from cobandit.base.records import Record, Table, entry, scalar, table_of, words
from cobandit.studies.lines import LINE_AGENTS, LineAgent

MOST_ROUNDS = 100_000


def _player(name: str, value: Any) -> str:
    if isinstance(value, str) and value in LINE_AGENTS:
        return str(value)
    kind = agent_class(value)
    if not issubclass(kind, Agent):
        raise InvalidInput(f"{name} is {value!r}, one brain for the whole team; it cannot be one member of it.")
    if not kind.recomputable:
        raise InvalidInput(
            f"{name} must be an agent whose moves can be computed again, got {value!r}; a language model is a service: "
            'player = "service" and service = { kind = "language-model" } in its seat.'
        )
    return str(value)


def playable_agents() -> dict[str, type[Agent]]:
    """Return the installed agents that may have a seat in a study: no joint controllers, no language models."""
    classes = {name: known_class(name) for name in known_agents()}
    return {
        name: kind
        for name, kind in classes.items()
        if kind is not None and issubclass(kind, Agent) and kind.recomputable
    }


with_schema(_player, lambda: {"type": "string", "enum": [*playable_agents(), *LINE_AGENTS]})


@dataclass(frozen=True)
class AgentChoice(Record):
    """A registered agent with options: ``agent = "naive-ucb"``, ``options = { exploration = 0.01 }``."""

    agent: str = entry(_player)
    options: Table = entry(table_of(scalar), Table())

    def __post_init__(self) -> None:
        super().__post_init__()
        agent = LINE_AGENTS[self.agent].of(**self.options.to_dict()) if self.agent in LINE_AGENTS else self.make()
        pairs = tuple((key, getattr(agent, key)) for key, _ in self.options.pairs)
        object.__setattr__(self, "options", Table(pairs))

    def make(self, layers: int = 1) -> Agent:
        """Return a new agent of the library; ``layers`` are those of a task with states."""
        if self.agent in LINE_AGENTS:
            return LineAgent(LINE_AGENTS[self.agent].of(**self.options.to_dict()), layers)
        agent = make_agent(self.agent, **self.options.to_dict())
        assert isinstance(agent, Agent)
        return agent

    @property
    def settings(self) -> str:
        """The options with their values, for a text."""
        options = self.options.to_dict()
        return ", ".join(
            f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}" for name, value in options.items()
        )


@dataclass(frozen=True)
class SeatAgent(AgentChoice):
    """The AI of a single seat in a condition, by the name of the seat."""

    seat: str = entry(words)


@dataclass(frozen=True)
class WarmStart(AgentChoice):
    """Rounds that the AI plays with a simulated partner before each episode; they do not count (Procedure)."""

    rounds: int = entry(whole(1, MOST_ROUNDS))


@dataclass(frozen=True)
class Practice(AgentChoice):
    """Episodes to get used to the task, with means and an AI of their own; they do not count."""

    rounds: int = entry(whole(1, MOST_ROUNDS))
    episodes: int = entry(whole(1, 100), 1)
