"""Environment variables of servers: every option has one, the documentation lists them, and options go first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from cobandit.cli import command_tree
from cobandit.cli.operations import SECRET_VARIABLE, TOKEN_VARIABLE
from cobandit.cli.study.common import PASSWORD_VARIABLE

PAGE = Path(__file__).parents[2] / "docs/how-to/operate-a-server.md"
SECRETS = {
    PASSWORD_VARIABLE: "`--password`",
    TOKEN_VARIABLE: "the token itself",
    SECRET_VARIABLE: "the secret itself",
}
"""Variables that hold a secret, which a program reads itself."""


def server_commands() -> dict[str, Any]:
    """Every command that serves, by its name."""
    groups: Any = command_tree()
    return {
        f"{group} serve": commands.commands["serve"]
        for group, commands in groups.commands.items()
        if "serve" in getattr(commands, "commands", {})
    }


def variables(command: Any) -> dict[str, str]:
    """The option of each variable."""
    return {
        parameter.envvar: f"`{parameter.opts[-1]}`" if parameter.opts[-1].startswith("-") else "the designs"
        for parameter in command.params
        if parameter.envvar
    }


def documented() -> dict[str, tuple[str, str]]:
    rows = re.findall(r"^\| `(COBANDIT_\w+)` \| (.+?) \| (.+?) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (option, commands) for name, option, commands in rows}


def expected() -> dict[str, tuple[str, str]]:
    commands = server_commands()
    rows: dict[str, tuple[str, str]] = {}
    for name, command in commands.items():
        for variable, option in (variables(command) | SECRETS).items():
            before = rows.get(variable)
            rows[variable] = (option, f"`{name}`" if before is None else f"{before[1]}, `{name}`")
    return rows


def test_every_option_has_a_variable():
    commands = server_commands()
    assert "study serve" in commands
    for command in commands.values():
        for parameter in command.params:
            if parameter.name not in ("help", "password"):
                assert parameter.envvar == f"COBANDIT_{parameter.name.upper()}"


def test_the_documentation_lists_every_variable():
    rows = [f"| `{name}` | {option} | {commands} |" for name, (option, commands) in sorted(expected().items())]
    assert documented() == expected(), "the table must be:\n" + "\n".join(rows)


def test_other_commands_keep_theirs():
    groups: Any = command_tree()
    new = groups.commands["study"].commands["export"]
    assert {parameter.envvar for parameter in new.params if parameter.envvar} == {"COBANDIT_DATABASE"}


class TestPrecedence:
    @pytest.fixture
    def parse(self):
        command = server_commands()["study serve"]

        def parsed(*words: str) -> dict[str, Any]:
            context = command.make_context("serve", list(words))
            return dict(context.params)

        return parsed

    def test_an_option_takes_precedence(self, parse, monkeypatch):
        monkeypatch.setenv("COBANDIT_PORT", "9001")
        monkeypatch.setenv("COBANDIT_DEMO", "1")
        monkeypatch.setenv("COBANDIT_UNLISTED", "casino burger")
        assert parse("burger")["port"] == 9001
        assert parse("burger", "--port", "9002")["port"] == 9002
        assert parse("burger")["demo"] is True
        assert list(parse("burger")["unlisted"]) == ["casino", "burger"]

    def test_designs_can_be_named_by_a_variable(self, parse, monkeypatch):
        monkeypatch.setenv("COBANDIT_DESIGNS", "burger casino")
        assert list(parse()["designs"]) == ["burger", "casino"]
        assert list(parse("burger-pair")["designs"]) == ["burger-pair"]

    def test_an_empty_variable_is_not_set(self, parse, monkeypatch):
        monkeypatch.setenv("COBANDIT_PUBLIC_URL", "")
        monkeypatch.setenv("COBANDIT_PORT", "")
        assert parse("burger")["public_url"] is None
        assert parse("burger")["port"] == 8000

    def test_a_bad_value_is_refused_before_anything_starts(self, parse, monkeypatch):
        monkeypatch.setenv("COBANDIT_PORT", "http")
        with pytest.raises(Exception, match="port must be"):
            parse("burger")
