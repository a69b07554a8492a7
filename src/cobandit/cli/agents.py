"""``cobandit agents``: list the registered agents with their options and the part of the paper they implement."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import PluginError
from cobandit.base.json_types import JsonObject
from cobandit.cli import completion
from cobandit.cli import options as shared
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson

if TYPE_CHECKING:
    from rich.console import Console

    from cobandit.agents import Agent, Controller


@shared.with_option_groups
def agents(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="Name of one agent, for a full description", autocompletion=completion.agents
        ),
    ] = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """List the agents and their options.

    The list names the part of the paper that each agent implements.
    """
    from cobandit.agents import AGENTS, agent_class
    from cobandit.base.plugins import AGENTS as GROUP
    from cobandit.base.plugins import find_plugin
    from cobandit.cli import output

    if name is None:
        listed = [(kind, "") for kind in AGENTS.values()] + _brought()
    else:
        plugin = None if name in AGENTS else find_plugin(GROUP, name)
        listed = [(agent_class(name), "" if plugin is None else plugin.package)]
    rows = [_row(kind, package) for kind, package in listed]
    if form.as_json:
        output.print_json({"agents": rows} if name is None else rows[0])
        return
    screen = output.console()
    for row in rows:
        _print(screen, row, whole=name is not None)
    if name is None:
        flags = ", ".join(f"--{flag}" for flag in shared.AGENT_FLAGS)
        output.paragraph(
            screen,
            f"Options with a flag of their own: {flags}; any other one: --option NAME=VALUE. "
            "More on one agent: cobandit agents NAME",
        )


def _brought() -> list[tuple[type[Agent] | type[Controller], str]]:
    """Return the agents of other packages, each with its package. Skip unusable ones with a warning."""
    from cobandit.agents import plugin_agents, plugin_class

    usable = []
    for plugin in plugin_agents():
        try:
            usable.append((plugin_class(plugin), plugin.package))
        except PluginError as error:
            say(str(error))
    return usable


def _row(kind: type[Agent] | type[Controller], package: str) -> JsonObject:
    """Return the description of an agent; ``package`` is the package that provides it, if it is not cobandit."""
    from cobandit.agents import Controller

    rows = kind.option_rows()
    return {
        "name": kind.name,
        **({"package": package} if package else {}),
        "paper": kind.paper,
        "joint": issubclass(kind, Controller),
        "doc": _doc(kind),
        "options": [{"name": option, "default": default, "help": text} for option, default, text in rows],
    }


def _doc(kind: type[Agent] | type[Controller]) -> str:
    return (inspect.getdoc(kind) or "").replace("``", "")


def _print(screen: Console, said: JsonObject, *, whole: bool) -> None:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table

    from cobandit.cli import output

    text = said["doc"] if whole else said["doc"].split("\n\n")[0]
    screen.print(said["name"], style="bold")
    for paragraph in text.split("\n\n"):
        output.paragraph(screen, paragraph, 2)
    if whole and said["joint"]:
        output.paragraph(screen, "One brain for all the agents of a team: it cannot be a member of a mixed team.", 2)
    if "package" in said:
        output.paragraph(screen, f"Package: {said['package']}", 2)
    if said["paper"] or "package" not in said:
        output.paragraph(screen, f"Paper: {said['paper']}", 2)
    if said["options"]:
        rows = Table(box=box.SIMPLE_HEAD if whole else None, show_header=whole, pad_edge=False, padding=(0, 1))
        for head in ("option", "default", "meaning"):
            rows.add_column(head, no_wrap=head == "option")
        for row in said["options"]:
            rows.add_row(row["name"], "none" if row["default"] is None else str(row["default"]), row["help"])
        screen.print(Padding(rows, (0, 0, 0, 4), expand=False))
    else:
        output.paragraph(screen, "It has no options.", 4)
    screen.print()
