"""Command line interface: ``cobandit simulate``, ``compare``, ``play``, ``reproduce``, ``study serve`` and others.

One file per command. Commands import NumPy, Numba and Matplotlib only when they need them, so that ``cobandit --help``
answers immediately.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_command

from cobandit import __version__
from cobandit.cli.agents import agents
from cobandit.cli.arena import arena
from cobandit.cli.bound import bound
from cobandit.cli.compare import compare
from cobandit.cli.door import ErrorHandlingGroup
from cobandit.cli.experiments import report, reproduce, sweep
from cobandit.cli.llm import app as llm
from cobandit.cli.mdp import app as mdp
from cobandit.cli.options import GroupedHelp, HelpFromAgents
from cobandit.cli.partner import app as partner
from cobandit.cli.play import play
from cobandit.cli.robot import app as robot
from cobandit.cli.simulate import simulate
from cobandit.cli.study import app as study
from cobandit.cli.watch import watch

__all__ = ["app", "command_tree", "main"]

app = typer.Typer(
    name="cobandit",
    cls=ErrorHandlingGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cobandit {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Bandit teams: agents, or a person and an AI, who choose together, see different rewards and cannot talk."""


app.command(cls=HelpFromAgents)(simulate)
app.command(cls=HelpFromAgents)(compare)
app.command(cls=HelpFromAgents)(watch)
app.command(cls=HelpFromAgents)(play)
app.command(cls=GroupedHelp)(agents)
app.command(cls=GroupedHelp)(bound)
app.command(cls=GroupedHelp)(reproduce)
app.command(cls=GroupedHelp)(sweep)
app.command(cls=GroupedHelp)(arena)
app.command(cls=GroupedHelp)(report)
app.add_typer(mdp)
app.add_typer(study)
app.add_typer(partner)
app.add_typer(robot)
app.add_typer(llm)


@functools.cache
def command_tree() -> TyperGroup:
    """Return all commands. Typer takes most of a tenth of a second to build them, so a process does it once."""
    commands = get_command(app)
    assert isinstance(commands, TyperGroup)
    return commands


def main() -> None:
    """Run the ``cobandit`` command."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # the parent process has closed the stream, so nothing can be printed
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open until the end
        elif hasattr(stream, "reconfigure"):
            # A terminal whose encoding lacks a character, such as plus-minus, gets a replacement character instead of
            # an error.
            stream.reconfigure(errors="replace")
    command_tree()(prog_name="cobandit")
