"""The help of the commands fits a terminal of 80 columns, and its examples can be run."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from cobandit.cli import app
from cobandit.cli.examples import EXAMPLES


@pytest.mark.parametrize("group", ["", "llm", "mdp", "robot", "study", "study accounts"])
def test_no_summary_of_a_command_is_cut(group: str) -> None:
    # The installed program: typer's test runner has a wider terminal, which hides what is cut.
    command = [sys.executable, "-m", "cobandit", *group.split(), "--help"]
    shown = subprocess.run(
        command, env=os.environ | {"COLUMNS": "80"}, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    summaries = shown.partition("Commands:\n")[2].splitlines()
    assert len(summaries) >= 2
    assert not [line for line in summaries if line.endswith("...") or line.startswith("    ")]


def _commands(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _commands(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


COMMANDS = dict(_commands(typer.main.get_group(app)))
GENERATED = {"team", "partner", "option"}  # lists of all agents, or of all their options


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_an_option_is_short(command: str) -> None:
    long = {p.name: p.help for p in COMMANDS[command].params if p.name not in GENERATED and len(p.help or "") > 60}
    assert not {name: text for name, text in long.items() if "[default:" not in text}


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_are_at_the_end_and_can_be_parsed(command: str) -> None:
    shown = CliRunner().invoke(app, [*command.split(), "--help"], env={"COLUMNS": "80"}).stdout
    examples = [line.strip() for line in shown.partition("Examples:\n")[2].splitlines()]
    assert examples == list(EXAMPLES[command])
    for example in examples:
        words = shlex.split(example)
        assert len(example) < 80
        assert words[: 1 + len(command.split())] == ["cobandit", *command.split()]
        COMMANDS[command].make_context(command, words[1 + len(command.split()) :])


def test_there_are_no_examples_of_unknown_commands() -> None:
    assert EXAMPLES.keys() == COMMANDS.keys()
