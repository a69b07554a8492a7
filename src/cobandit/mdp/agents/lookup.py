"""Registered agents of Markov decision processes by name."""

from __future__ import annotations

from typing import Any

from cobandit.base.errors import UnknownName
from cobandit.mdp.agents.base import MarkovAgent, MarkovController
from cobandit.mdp.agents.registry import AGENTS


def agent_class(name: Any) -> type[MarkovAgent] | type[MarkovController]:
    """Return the class behind a name; an unknown one gets the nearest right one."""
    if not isinstance(name, str) or name not in AGENTS:
        raise UnknownName("agent of Markov problems called", name, AGENTS)
    return AGENTS[name]


def make_agent(name: str, **options: Any) -> MarkovAgent | MarkovController:
    """Return a registered agent (or joint controller) with the given options."""
    return agent_class(name).of(**options)
