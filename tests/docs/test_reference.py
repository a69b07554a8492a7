"""The reference cannot drift: what it lists is what there is, no more and no less."""

from __future__ import annotations

import importlib
import inspect
import re
import tomllib
from pathlib import Path

import pytest
import typer

import cobandit
from cobandit import AGENTS, errors
from cobandit.agents.beliefs import INDICES, TIES
from cobandit.cli import app
from cobandit.experiments.figures import PANELS
from cobandit.problem.observation import OBSERVATIONS

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = typer.main.get_command(app).commands
MODULES = ["cobandit", "cobandit.theory", "cobandit.testing", "cobandit.report", "cobandit.problem"]


def rows(text: str) -> list[list[str]]:
    """The cells of every table row whose first cell begins with code."""
    lines = [line.replace(r"\|", "\0") for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip().replace("\0", "|") for cell in line.strip("| ").split(" | ")] for line in lines]


class TestFrontDoor:
    def test_is_sorted_and_complete(self):
        assert cobandit.__all__ == sorted(cobandit.__all__)
        assert len(set(cobandit.__all__)) == len(cobandit.__all__)
        assert set(cobandit.__all__) <= set(dir(cobandit))

    @pytest.mark.parametrize("name", cobandit.__all__)
    def test_every_name_has_words_of_its_own(self, name):
        thing = getattr(cobandit, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            words = thing.__doc__ or ""
            assert words.split(), f"{name} has no docstring"
            assert not words.startswith(f"{name}("), f"{name} has only the docstring that dataclasses make"

    def test_holds_every_agent_and_every_error(self):
        missing = [kind.__name__ for kind in AGENTS.values() if kind.__name__ not in cobandit.__all__]
        raised = [name for name, kind in vars(errors).items() if inspect.isclass(kind) and issubclass(kind, Exception)]
        assert not missing
        assert set(raised) <= set(cobandit.__all__)

    @pytest.mark.parametrize("module", MODULES)
    def test_the_page_lists_every_public_name(self, page_called, module):
        listed = rows(page_called("docs/reference/python.md").section(module).split("\n### ")[0])
        names = [row[0].strip("`") for row in listed]
        assert sorted(names) == sorted(importlib.import_module(module).__all__)

    def test_the_page_lists_the_arguments_of_simulate(self, page_called):
        section = page_called("docs/reference/python.md").section("cobandit").split("### simulate")[1]
        taken = list(inspect.signature(cobandit.simulate).parameters.values())
        listed = {row[0].strip("`"): row[1] for row in rows(section)}
        assert list(listed) == [argument.name for argument in taken[2:]]
        for argument in taken[3:]:
            assert listed[argument.name] == f"`{argument.default!r}`".replace("'", '"')


class TestAgents:
    @pytest.mark.parametrize("name", AGENTS)
    def test_options_defaults_and_meanings(self, page_called, name):
        section = page_called("docs/reference/agents.md").section(name)
        kind = AGENTS[name]
        expected = [
            [f"`{option}`", f"`{'none' if default is None else default}`", text]
            for option, default, text in kind.option_rows()
        ]
        assert rows(section) == expected
        plain = " ".join(section.split())
        assert f"`cobandit.{kind.__name__}`" in plain
        assert kind.paper in plain

    def test_nothing_else_is_listed(self, page_called):
        headings = re.findall(r"^## (.+)$", page_called("docs/reference/agents.md").text, re.MULTILINE)
        assert headings == [*AGENTS, "human"]

    @pytest.mark.parametrize("value", [*INDICES, *TIES])
    def test_values_are_explained(self, page_called, value):
        assert f"`{value}`" in page_called("docs/reference/agents.md").text


class TestCommandLine:
    SHARED = ("Options of the team", "Options of the problem", "Options of the simulation")

    def test_every_command_is_listed(self, page_called):
        page = page_called("docs/reference/command-line.md")
        assert re.findall(r"^\| \[`(.+?)`\]", page.text, re.MULTILINE) == list(COMMANDS)

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_option_and_no_other(self, page_called, run_command, command):
        section = page_called("docs/reference/command-line.md").section(command)
        told = set(re.findall(r"`(--[a-z][a-z-]*)", section))
        real = {name for param in COMMANDS[command].params for name in param.opts if name.startswith("--")} - {"--help"}
        assert told == real
        helped = run_command(f"cobandit {command} --help")
        assert helped.exit_code == 0
        assert real <= set(re.findall(r"--[a-z][a-z-]*", helped.output))

    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_default(self, page_called, command):
        page = page_called("docs/reference/command-line.md")
        shared = [row for name in self.SHARED for row in rows(page.section(name))]
        for param in COMMANDS[command].params:
            if isinstance(param.default, str):
                row = next(
                    row for row in rows(page.section(command)) + shared if row[0].startswith(f"`{param.opts[0]} ")
                )
                assert row[1] == f"`{param.default}`", f"{command} {param.opts[0]}"

    def test_every_option_of_an_agent_can_be_reached(self, page_called):
        section = page_called("docs/reference/command-line.md").section(self.SHARED[0])
        flags = re.findall(r"^\| `--([a-z]+) ", section, re.MULTILINE)
        known = {option for kind in AGENTS.values() for option, *_ in kind.option_rows()}
        assert set(flags) - {"option"} <= known


class TestModelsAndErrors:
    @pytest.mark.parametrize("name", OBSERVATIONS)
    def test_every_observation_model(self, page_called, name):
        assert f"| `{name}` |" in page_called("docs/reference/models.md").text

    def test_every_error_has_a_section(self, page_called):
        page = page_called("docs/reference/errors.md")
        for name, kind in vars(errors).items():
            if inspect.isclass(kind) and issubclass(kind, errors.CobanditError):
                assert name in page.text
                if kind is not errors.CobanditError:
                    assert page.section(name).strip()


class TestPaperMap:
    def test_every_path_is_there(self, page_called):
        text = page_called("docs/reference/paper-map.md").text
        paths = re.findall(r"`([a-z_0-9]+/[a-z_0-9/]*(?:\.py)?)`", text.partition("\n## ")[2])
        lost = [path for path in paths if not any((ROOT / base / path).exists() for base in ("src/cobandit", "tests"))]
        assert paths
        assert not lost

    def test_every_agent_and_every_theory_module_has_its_place(self, page_called):
        text = page_called("docs/reference/paper-map.md").text
        homes = {kind.__module__.removeprefix("cobandit.").replace(".", "/") for kind in AGENTS.values()}
        homes |= {"theory/bound", "theory/fact_one"}
        assert not [home for home in homes if f"`{home}.py`" not in text]

    def test_every_panel_and_both_studies(self, page_called):
        page = page_called("docs/reference/paper-map.md")
        listed = re.findall(
            r"^\| (\w+(?: left| right)?) \|.*`experiments/", page.section("The simulations"), re.MULTILINE
        )
        assert [name.replace(" ", "-").replace("_", "-") for name in listed] == list(PANELS)
        assert len(PANELS) == 13
        assert "Burger study" in page.section("The studies")
        assert "Casino study" in page.section("The studies")


class TestFirstPages:
    def test_the_readme_begins_with_make(self, page_called):
        first = page_called("README.md").blocks[0].text
        assert "make run" in first
        assert "make test" in first

    def test_the_readme_lists_every_extra_and_every_agent(self, page_called):
        text = page_called("README.md").text
        extras = set(PROJECT["optional-dependencies"]) - {"dev"}
        assert not [extra for extra in extras if f"| `{extra}` |" not in text]
        assert not [name for name in AGENTS if f"`{name}`" not in text]

    def test_the_version_is_one_and_in_the_changelog(self):
        changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        assert PROJECT["version"] == cobandit.__version__
        assert re.search(rf"^## \[?{re.escape(cobandit.__version__)}\]?", changes, re.MULTILINE)

    def test_hooks_are_local(self):
        hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
        assert set(re.findall(r"repo: *(\S+)", hooks)) == {"local"}
