"""One ``--format`` on every command that prints results, and what is said of a wrong one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cobandit.base.errors import UnknownName
from cobandit.cli import command_tree
from cobandit.cli.formats import TextJsonOrCsv, TextOrJson

PRINT_NO_RESULTS = {
    "watch",
    "play",
    "llm demo",
    "partner keys revoke",
    "partner serve",
    "study new",
    "study plan",
    "study schema",
    "study serve",
    "study restore",
    "study delete-participant",
    "study remove-participant",
    "study restore-participant",
    "study accounts remove",
}
FORMAT_OF_FILES = {"study export"}


def flattened(commands, before=""):
    for name, command in commands.items():
        inner = getattr(command, "commands", None)
        yield from [(before + name, command)] if inner is None else flattened(inner, f"{before}{name} ")


def test_every_command_that_prints_results_has_both():
    flags = {
        name: {flag for param in command.params for flag in param.opts if flag in ("--format", "--json")}
        for name, command in flattened(command_tree().commands)
    }
    assert {name for name, both in flags.items() if not both} == PRINT_NO_RESULTS
    assert {name for name, both in flags.items() if both == {"--format"}} == FORMAT_OF_FILES


@pytest.mark.parametrize(
    ("given", "style"),
    [
        ((None, False), "text"),
        (("text", False), "text"),
        (("table", False), "text"),
        (("json", False), "json"),
        ((None, True), "json"),
        (("json", True), "json"),
        (("csv", False), "csv"),
    ],
)
def test_what_is_meant(given, style):
    assert TextJsonOrCsv(*given).style == style


def test_csv_is_for_tables_alone():
    with pytest.raises(UnknownName, match="text, json"):
        TextOrJson("csv")


def test_a_contradiction_is_told_before_any_work(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("reproduce", "sim4", "--json", "--format", "text")
    assert done.exit_code == 2
    assert done.stderr == "Error: --json and --format text contradict each other; use one of them.\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("agents", "naive-ucb"),
        ("bound",),
        ("simulate", "--runs", "2", "--horizon", "10"),
        ("mdp", "problems"),
        ("study", "check", "burger"),
    ],
    ids=lambda words: words[0],
)
def test_the_short_form_is_the_same(run, words):
    short, long = run(*words, "--json"), run(*words, "--format", "json")
    assert short.exit_code == long.exit_code == 0
    assert json.loads(short.stdout).keys() == json.loads(long.stdout).keys()


def test_problems_as_json(run):
    told = json.loads(run("mdp", "problems", "--json").stdout)
    burger = next(row for row in told["problems"] if row["name"] == "burger-line")
    assert burger["options"]["steps"] == burger["steps"]
    assert "partner-aware-ucbvi" in told["agents"]


def test_data_of_a_database_as_json(run, tmp_path):
    pytest.importorskip("sqlalchemy")
    from cobandit.web.storage.database import Database

    database = Database(where := f"sqlite:///{tmp_path / 'studies.sqlite'}")
    database.migrate()
    database.close()

    def told(*words):
        done = run("study", *words, "--database", where, "--format", "json")
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    added = told("accounts", "add", "anna", "--role", "researcher")
    assert (added["name"], added["role"]) == ("anna", "researcher")
    again = told("accounts", "reset", "anna")
    assert again["name"] == "anna"
    assert again["password"] != added["password"]
    assert {"name": "anna", "role": "researcher", "codes": False} in told("accounts", "list")["accounts"]
    log = told("log")
    assert log["entries"] == len(log["log"]) == 3
    assert log["hash"] == log["log"][-1]["hash"]
    assert told("list") == {"studies": []}
    copy = told("backup", str(tmp_path / "copies"))
    assert copy["problems"] == copy["deleted"] == []
    assert list((tmp_path / "copies").iterdir()) == [Path(copy["backup"])]


def test_the_robot_as_json(run):
    done = run("robot", "check", "--driver", "null", "--json", stdin="\n" * 40)
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["ready"] is True
    assert all(step["ok"] for step in told["steps"])
