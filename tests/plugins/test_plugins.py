"""What other packages bring is used like ours, told apart from ours, and named where it is broken."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import cobandit as cb
from cobandit.cli import app

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])


def run(*arguments: str, stdin: str = ""):
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(app, [*arguments], input=stdin)


class TestAgents:
    def test_simulated_by_name(self, install):
        install()
        team = cb.Team.of("stubborn", arm=1)
        result = cb.simulate(PROBLEM, team, horizon=50, runs=2, seed=0)
        assert result.engine == "reference"
        assert np.allclose(result.task_regret[:, -1], 50 * (0.8 - 0.6))

    def test_on_the_command_line(self, install):
        install()
        done = run(
            "simulate", "--team", "stubborn", "--option", "arm=1", "--horizon", "50", "--runs", "2", "--format=json"
        )
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["team"] == {"agent": "stubborn", "arm": 1}

    def test_as_a_partner_at_the_terminal(self, install):
        install()
        done = run("play", "--partner", "stubborn", "--rounds", "2", "--seed", "1", stdin="0\n1\n")
        assert done.exit_code == 0, done.output
        assert "You and your partner: stubborn (arm 0)" in done.stdout

    def test_as_a_simulated_participant(self, install):
        install()
        assert isinstance(cb.studies.make_behaviour("stubborn"), cb.Agent)

    def test_a_partner_comes_back_from_its_state(self, install):
        install()
        partner = cb.Partner("stubborn", (2, 2), 0, 10, seed=1, arm=1)
        again = cb.Partner.from_state(json.loads(json.dumps(partner.state())))
        assert again.choose() == partner.choose() == 1

    def test_listed_with_its_package(self, install):
        assert "stubborn" not in run("agents").stdout
        install()
        told = run("agents").stdout
        assert "stubborn\n  Never leaves its arm.\n  Package: stubborn-agents\n" in told
        rows = json.loads(run("agents", "--format", "json").stdout)["agents"]
        assert [row["package"] for row in rows if row["name"] == "stubborn"] == ["stubborn-agents"]
        assert not [row for row in rows if "package" in row and row["name"] != "stubborn"]
        assert "Package: stubborn-agents" in run("agents", "stubborn").stdout

    def test_did_you_mean_looks_at_theirs_too(self, install):
        install()
        with pytest.raises(cb.UnknownName, match=r"Did you mean 'stubborn'\?"):
            cb.make_agent("stuborn")
        with pytest.raises(cb.UnknownName, match=r"Did you mean 'naive-ucb'\?"):
            cb.make_agent("naive-uc")

    def test_ours_cannot_be_replaced(self, install):
        install({"cobandit.agents": {"naive-ucb": "stubborn_agents:Stubborn"}})
        assert isinstance(cb.make_agent("naive-ucb"), cb.NaiveUCB)
        assert "Package" not in run("agents").stdout


class TestProblems:
    def test_by_name(self, install):
        install()
        problem = cb.Problem.bernoulli("last-is-best", observability=[1.0, 0.5])
        assert problem.arms == (3, 3)
        done = run("simulate", "--means", "last-is-best", "--horizon", "20", "--runs", "2", "--format", "json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["problem"]["arms"] == [3, 3]

    def test_ours_by_name(self):
        assert cb.Problem.bernoulli("local-optima", arms=(3, 3)).arms == (3, 3)
        assert cb.Problem.bernoulli("corners", arms=(2, 2, 2)).agents == 3
        assert cb.Problem.bernoulli("fixed").means == cb.FixedMeans.of([[0.8, 0.4], [0.2, 0.6]])
        with pytest.raises(cb.InvalidInput, match=r"need \(K, K\)"):
            cb.Problem.bernoulli("local-optima", arms=(3, 2))
        with pytest.raises(cb.InvalidInput, match="2 for each agent"):
            cb.Problem.bernoulli("corners", arms=(3, 3))

    def test_did_you_mean(self, install):
        install()
        with pytest.raises(cb.UnknownName, match=r"Did you mean 'last-is-best'\?"):
            cb.Problem.bernoulli("last-is-bes")
        assert "Did you mean 'last-is-best'?" in run("simulate", "--means", "last-is-bes").stderr

    @pytest.mark.parametrize(
        ("target", "reason"), [("NOT_AN_AGENT", "a function from arms to means"), ("len", "cannot make means for arms")]
    )
    def test_what_makes_no_means(self, install, target, reason):
        where = "builtins:len" if target == "len" else f"stubborn_agents:{target}"
        install({"cobandit.problems": {"broken": where}})
        with pytest.raises(cb.PluginError, match=f"'stubborn-agents'.*{reason}"):
            cb.Problem.bernoulli("broken")


class TestDesigns:
    def test_loaded_and_rehearsed(self, install):
        install()
        design = cb.studies.load_design("stubborn-burger")
        assert design.name == "stubborn-burger"
        assert "stubborn" in [condition.agent for condition in design.conditions]
        episodes = cb.studies.rehearse(design, "softmax", seed=1, order=0)
        assert sum(episode.played for episode in episodes) > 0
        assert run("study", "check", "stubborn-burger").exit_code == 0

    def test_did_you_mean(self, install):
        install()
        with pytest.raises(cb.UnknownName, match=r"Did you mean 'stubborn-burger'\?"):
            cb.studies.load_design("stuborn-burger")

    @pytest.mark.parametrize(
        ("target", "reason"),
        [("stubborn_agents:NOT_AN_AGENT", "a TOML file is needed"), ("builtins:len", "cannot be read")],
    )
    def test_what_is_no_design(self, install, target, reason):
        install({"cobandit.designs": {"broken": target}})
        with pytest.raises(cb.PluginError, match=f"'stubborn-agents'.*{reason}"):
            cb.studies.load_design("broken")


class TestBroken:
    @pytest.mark.parametrize(
        ("entry", "reason"),
        [
            ({"lost": "no_such_module:Agent"}, "ModuleNotFoundError"),
            ({"lost": "stubborn_agents:Nowhere"}, "AttributeError"),
            ({"lost": "stubborn_agents:NOT_AN_AGENT"}, "a subclass of cobandit.Agent or cobandit.Controller is needed"),
            ({"lost": "stubborn_agents:Stubborn"}, "'stubborn' in its class; both names must be the same"),
        ],
    )
    def test_the_package_is_named(self, install, entry, reason):
        install({"cobandit.agents": entry})
        with pytest.raises(cb.PluginError, match=f"'lost' of the package 'stubborn-agents' .1.2.*{reason}"):
            cb.make_agent("lost")
        done = run("agents")  # the others are listed all the same
        assert done.exit_code == 0
        assert "naive-ucb" in done.stdout
        assert "stubborn-agents" in done.stderr

    def test_two_packages_with_one_name(self, install):
        install()
        install(package="other-agents", entries={"cobandit.agents": {"stubborn": "other_agents:Stubborn"}})
        with pytest.raises(cb.PluginError, match=r"'other-agents' and 'stubborn-agents'; uninstall all but one"):
            cb.make_agent("stubborn")


def test_the_package_of_the_page(install, tmp_path: Path, monkeypatch):
    """What docs/how-to/ship-your-own-agent.md shows is a package that does what the page says."""
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "ship-your-own-agent.md").read_text(encoding="utf-8")
    project = tomllib.loads(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])["project"]
    source = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    install(project["entry-points"], project["name"], source)
    lines = re.findall(r"^\$ cobandit (.+)$", page, re.MULTILINE)
    assert len(lines) == 3
    for line in lines:
        done = run(*shlex.split(line))
        assert done.exit_code == 0, done.output


def test_found_in_a_process_of_its_own(install, tmp_path: Path):
    site = install()
    code = "import cobandit as cb; print(cb.make_agent('stubborn', arm=1))"
    source = Path(cb.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{site}:{source}", "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "stubborn(arm=1)\n"
