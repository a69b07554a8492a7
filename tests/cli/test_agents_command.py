"""``cobandit agents``."""

from __future__ import annotations

import inspect
import json

import pytest

from cobandit import AGENTS
from cobandit.agents import Controller


def test_every_agent_with_its_options_and_its_part_of_the_paper(run):
    shown = run("agents")
    assert shown.exit_code == 0
    lines = shown.stdout.splitlines()
    words = " ".join(shown.stdout.split())
    assert [line for line in lines if line in AGENTS] == list(AGENTS)
    assert max(map(len, lines)) <= 80
    for kind in AGENTS.values():
        assert f"Paper: {kind.paper}" in words
        for name, default, _ in kind.option_rows():
            pair = [name, "none" if default is None else str(default)]
            assert any(line.split()[:2] == pair for line in lines)


@pytest.mark.parametrize("name", AGENTS)
def test_one_agent_with_all_that_is_said_of_it(name, run):
    shown = " ".join(run("agents", name).stdout.split())
    kind = AGENTS[name]
    assert shown.startswith(name)
    assert " ".join((inspect.getdoc(kind) or "").replace("``", "").split("\n\n")[-1].split()) in shown
    assert ("One brain for all" in shown) == issubclass(kind, Controller)


def test_json(run):
    told = json.loads(run("agents", "--format", "json").stdout)
    assert [agent["name"] for agent in told["agents"]] == list(AGENTS)
    for agent in told["agents"]:
        kind = AGENTS[agent["name"]]
        rows = [(row["name"], row["default"], row["help"]) for row in agent["options"]]
        assert rows == kind.option_rows()
        assert agent["paper"] == kind.paper
        assert agent["joint"] == issubclass(kind, Controller)


def test_json_of_one(run):
    told = json.loads(run("agents", "knowledge-gradient", "--format", "json").stdout)
    assert told["name"] == "knowledge-gradient"
    assert {"name", "paper", "joint", "doc", "options"} == set(told)
