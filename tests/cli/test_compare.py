"""``cobandit compare``."""

from __future__ import annotations

import json
import sys

import pytest

import cobandit as cb
from cobandit.cli.compare import TEAMS
from cobandit.engine import simulation
from cobandit.experiments.comparison import compare_teams

SMALL = ("compare", "--engine", "reference", "--runs", "4", "--horizon", "20")
TWO = ("--team", "naive-ucb", "--team", "optimal")


def told(done) -> dict:
    return json.loads(done.stdout, parse_constant=pytest.fail)


def test_the_default_teams_sorted_by_mean_regret(run):
    done = run(*SMALL)
    assert done.exit_code == 0
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    rows = [line.split() for line in lines if line.split()[:1] and line.split()[0] in TEAMS]
    assert {row[0] for row in rows} == set(TEAMS)
    means = [float(row[1]) for row in rows]
    assert means == sorted(means)
    assert "4 runs of 20 rounds for each team, seed 0, reference engine, " in done.stdout


def test_numbers_are_the_librarys(run):
    teams = told(run(*SMALL, *TWO, "--format", "json"))["teams"]
    assert [team["label"] for team in teams] == ["optimal", "naive-ucb"]
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    result = cb.simulate(problem, cb.Team.of("naive-ucb"), 20, runs=4, seed=0, checkpoints=20, engine="reference")
    assert teams[1]["checkpoints"] == list(range(1, 21))
    assert teams[1]["task_regret"] == result.summary().task_regret.to_dict()
    assert teams[1]["team_regret"] == result.summary().team_regret.to_dict()
    means = result.task_regret.mean(axis=0)
    assert teams[1]["growth"] == means[-1] / means[9]
    assert teams[0]["growth"] is None


@pytest.mark.parametrize("horizon", ["1", "7", "199", "201"])
def test_half_of_any_horizon(run, horizon):
    team = told(run(*SMALL, "--horizon", horizon, "--team", "naive-ucb", "--format", "json"))["teams"][0]
    assert -(-int(horizon) // 2) in team["checkpoints"]
    assert team["checkpoints"][-1] == int(horizon)


def test_mixed_teams_and_options(run):
    words = ("--team", "knowledge-gradient+partner-aware-ucb", "--team", "partner-aware-ucb", "--window", "3")
    teams = told(run(*SMALL, *words, "--format", "json"))["teams"]
    by_label = {team["label"]: team["team"] for team in teams}
    assert by_label["partner-aware-ucb"]["window"] == 3
    assert by_label["knowledge-gradient + partner-aware-ucb"]["members"][1]["window"] == 3
    assert run(*SMALL, *words).exit_code == 0


def test_the_same_team_twice_is_played_once(run):
    assert len(told(run(*SMALL, *TWO, *TWO, "--format", "json"))["teams"]) == 2


class TestFigure:
    def test_it_is_written_into_a_folder_that_is_made(self, run, tmp_path):
        target = tmp_path / "out" / "deeper" / "teams.svg"
        done = run(*SMALL, *TWO, "--figure", str(target))
        assert done.exit_code == 0
        assert done.stderr == f"The figure is in {target}.\n"
        assert [path.name for path in target.parent.iterdir()] == ["teams.svg"]
        assert target.stat().st_size > 1000

    def test_no_plotting_library_is_told_before_any_work(self, run, monkeypatch, tmp_path):
        def never(*args: object, **kwargs: object) -> None:
            raise AssertionError("work has started")

        monkeypatch.setattr(simulation, "simulate", never)
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        refused = run(*SMALL, "--figure", str(tmp_path / "teams.svg"))
        assert refused.exit_code == 2
        assert "pip install 'cobandit[plot]'" in refused.stderr

    def test_a_folder_that_cannot_be_made(self, run, tmp_path):
        (tmp_path / "file").write_text("")
        refused = run(*SMALL, "--figure", str(tmp_path / "file" / "teams.svg"))
        assert refused.exit_code == 2
        assert "cannot be made" in refused.stderr


class TestDiagnose:
    def test_causes_of_each_team_as_a_table_in_json_and_in_the_figure(self, run, tmp_path):
        target = tmp_path / "why.svg"
        done = run(*SMALL, *TWO, "--diagnose", "--figure", str(target))
        assert done.exit_code == 0, done.stderr
        causes = done.stdout[done.stdout.index("exploring") :]
        assert max(map(len, done.stdout.splitlines())) <= 80
        row = next(line.split() for line in causes.splitlines() if line.split()[:1] == ["naive-ucb"])
        teams = told(run(*SMALL, *TWO, "--diagnose", "--json"))["teams"]
        last = teams[1]["diagnostics"]["regret"][-1]
        assert [float(value) for value in row[1:]] == pytest.approx(last, abs=0.06)
        assert sum(last) == pytest.approx(teams[1]["task_regret"]["mean"][-1])
        drawn = target.read_text(encoding="utf-8")
        assert all(words in drawn for words in ("Why the teams lost", "wrong row and column", "naive-ucb"))

    def test_nothing_of_it_without_being_asked(self, run, tmp_path):
        target = tmp_path / "plain.svg"
        assert "exploring" not in run(*SMALL, *TWO, "--figure", str(target)).stdout
        assert "Why the teams lost" not in target.read_text(encoding="utf-8")

    def test_there_is_no_csv_of_it(self, run):
        done = run(*SMALL, *TWO, "--diagnose", "--format", "csv")
        assert done.exit_code == 2
        assert "--format must be json or text" in done.stderr

    def test_markov_teams_are_not_diagnosed(self):
        with pytest.raises(cb.InvalidInput, match="a Problem is needed for it"):
            compare_teams(cb.mdp.make_problem("chain"), [cb.mdp.Team.of("optimal")], 20, 2, diagnose=True)
