"""Registered agents by name: ours and those of other packages."""

from __future__ import annotations

from typing import Any

from cobandit.agents.base import Agent, Controller
from cobandit.agents.registry import AGENTS
from cobandit.base import plugins
from cobandit.base.checks import short_repr
from cobandit.base.errors import UnknownName


def agent_class(name: str) -> type[Agent] | type[Controller]:
    """Return the class behind a name, ours or of another package; an unknown name gets the nearest right one."""
    if isinstance(name, str) and name in AGENTS:
        return AGENTS[name]
    plugin = plugins.find_plugin(plugins.AGENTS, name)
    if plugin is None:
        raise UnknownName("agent", name, known_agents())
    return plugin_class(plugin)


def known_class(name: str) -> type[Agent] | type[Controller] | None:
    """Return the class that is registered under a name, ours or of another package, or None."""
    if name in AGENTS:
        return AGENTS[name]
    plugin = plugins.find_plugin(plugins.AGENTS, name)
    return None if plugin is None else plugin_class(plugin)


def known_agents() -> list[str]:
    """Return every name that `agent_class` knows, ours first."""
    return [*AGENTS, *(plugin.name for plugin in plugin_agents())]


def plugin_agents() -> list[plugins.Plugin]:
    """Return the agents that other packages bring; one that is called as one of ours is never reached."""
    return [plugin for plugin in plugins.plugins(plugins.AGENTS) if plugin.name not in AGENTS]


def plugin_class(plugin: plugins.Plugin) -> type[Agent] | type[Controller]:
    """Return the class that another package brings: an agent that goes by the name of its entry point."""
    kind = plugin.load()
    if not isinstance(kind, type) or not issubclass(kind, (Agent, Controller)):
        raise plugin.error(f"is {short_repr(kind)}; a subclass of cobandit.Agent or cobandit.Controller is needed")
    if vars(kind).get("name") != plugin.name:
        raise plugin.error(f"has the name {vars(kind).get('name')!r} in its class; both names must be the same")
    return kind


def make_agent(name: str, **options: Any) -> Agent | Controller:
    """Return a registered agent (or joint controller) with the given options."""
    return agent_class(name).of(**options)
