"""Simulated participants: any registered agent may play a person."""

from __future__ import annotations

from typing import Any

from cobandit.agents import AGENTS, Agent, agent_class, plugin_agents
from cobandit.agents.epsilon_greedy import EpsilonGreedy
from cobandit.agents.softmax import Softmax
from cobandit.agents.win_stay_lose_shift import WinStayLoseShift
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.studies.cells import ConditionsByCell

PEOPLE: dict[str, type[Agent]] = {
    "softmax": Softmax,
    "win-stay-lose-shift": WinStayLoseShift,
    "epsilon-greedy": EpsilonGreedy,
}
"""The agents that are simple models of people."""

BEHAVIOURS: dict[str, type[Agent]] = PEOPLE | {name: kind for name, kind in AGENTS.items() if issubclass(kind, Agent)}
"""Every simulated participant by name: every registered agent that plays one place, the models of people first."""


def usual_behaviour(design: ConditionsByCell) -> str:
    """Return the behaviour that plays a design where none is named: one that can do without what it hides."""
    return "win-stay-lose-shift" if design.hides_choices else "softmax"


def make_behaviour(name: str | Agent, **options: Any) -> Agent:
    """Return a simulated participant by name, with options; return an agent unchanged."""
    if isinstance(name, Agent):
        if options:
            raise InvalidInput(f"{name} is made already; options go with a name.")
        return name.clone()
    if isinstance(name, str) and name in BEHAVIOURS:
        return BEHAVIOURS[name].of(**options)
    others = [plugin for plugin in plugin_agents() if plugin.name == name]
    kind = agent_class(name) if others and name not in AGENTS else None
    if kind is None or not issubclass(kind, Agent):
        raise UnknownName("behaviour", name, [*BEHAVIOURS, *(plugin.name for plugin in plugin_agents())])
    return kind.of(**options)
