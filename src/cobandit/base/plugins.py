"""Agents, problems, designs and robot drivers of other packages, found by their entry points.

A package declares its plugins in its own ``pyproject.toml``::

    [project.entry-points."cobandit.agents"]
    cautious = "my_package:Cautious"

Entry points are searched only for unknown names, so they cost nothing if there are none; they cannot replace the names
of this package.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from cobandit.base.errors import PluginError

AGENTS, PROBLEMS, DESIGNS, ARMS = "cobandit.agents", "cobandit.problems", "cobandit.designs", "cobandit.arms"
"""The groups of entry points: agent classes, functions from arms to means, texts or files of designs, robot arms."""

_WORDS = {AGENTS: "agent", PROBLEMS: "problem", DESIGNS: "design", ARMS: "robot arm"}


@dataclass(frozen=True)
class Plugin:
    """One entry point: its name, the package that brings it, and where it is."""

    group: str
    name: str
    package: str
    version: str
    entry: EntryPoint

    @property
    def title(self) -> str:
        """What an error calls it."""
        return f"The {_WORDS[self.group]} {self.name!r} of the package {self.package!r} ({self.version})"

    def load(self) -> Any:
        """Import and return the object of the entry point. Errors name the package."""
        try:
            return self.entry.load()
        except Exception as error:
            raise self.error(f"cannot be loaded from {self.entry.value!r}: {type(error).__name__}: {error}") from error

    def error(self, reason: str) -> PluginError:
        """Return an error that names the package."""
        return PluginError(f"{self.title} {reason.rstrip('.')}. Fix or uninstall that package.")


def plugins(group: str) -> list[Plugin]:
    """Return all plugins of a group, sorted by name."""
    brought = []
    for entry in entry_points(group=group):
        package, version = ("?", "?") if entry.dist is None else (entry.dist.name, entry.dist.version)
        brought.append(Plugin(group, entry.name, package, version, entry))
    return sorted(set(brought), key=lambda plugin: (plugin.name, plugin.package))


def plugin_names(group: str) -> list[str]:
    """Return their names, each once."""
    return list(dict.fromkeys(plugin.name for plugin in plugins(group)))


def find_plugin(group: str, name: object) -> Plugin | None:
    """Return the entry point of that name; None where no package brings it. Two packages with one name are refused."""
    named = [plugin for plugin in plugins(group) if plugin.name == name]
    if len({plugin.package for plugin in named}) > 1:
        packages = " and ".join(repr(plugin.package) for plugin in named)
        raise PluginError(f"The {_WORDS[group]} {name!r} is brought by {packages}; uninstall all but one of them.")
    return named[0] if named else None
