"""``cobandit arena``, as a person would use it."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from cobandit.cli import app

AGENT = """
from cobandit import Agent

class Stubborn(Agent):
    name = "stubborn"
    paper = "none"

    def choose(self):
        return 0

    def observe(self, team_action, reward):
        pass
"""


def cobandit(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_a_small_arena_with_an_agent_of_ones_own(tmp_path, monkeypatch):
    (tmp_path / "stubborn_agents_of_mine.py").write_text(AGENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    part = ["--setting", "exact-12", "--leader", "greedy", "--follower", "window-1", "--runs", "5", "--workers", "1"]
    own = ["--with", "stubborn_agents_of_mine:Stubborn"]
    shown = cobandit("arena", *part, *own, "--out", "mine")
    assert "stubborn" in shown
    assert "Claims at 5 runs" in shown
    assert {path.name for path in (tmp_path / "mine").glob("*.*")} >= {"report.html", "arena.json", "arena.csv"}
    stored = {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").rglob("*.parquet")}
    assert len(stored) == 20 + 4
    resumed = json.loads(
        cobandit("arena", *part, *own, "--out", "mine", "--resume", "--json").partition("The report")[0]
    )
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "mine").rglob("*.parquet")} == stored
    assert resumed["settings"][0]["setting"] == "exact-12"
    again = json.loads(cobandit("report", "mine", "--json").partition("The report")[0])
    assert again["claims"] == resumed["claims"]


def test_what_cannot_be_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "did you mean" in cobandit("arena", "--setting", "casin", code=2).lower()
    assert "module:Class" in cobandit("arena", "--with", "nothing", code=2)
    assert "runs" in cobandit("arena", "--runs", "nan", code=2)
    assert "runs" in cobandit("arena", "--runs", "1", code=2)
    assert list(tmp_path.iterdir()) == []
