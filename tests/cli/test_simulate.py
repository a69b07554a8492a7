"""``cobandit simulate``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine import simulation

SMALL = ("simulate", "--engine", "reference", "--runs", "6", "--horizon", "40")


def strict(text: str) -> dict:
    """JSON without the words that JSON does not have."""

    def never(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=never)


class TestJson:
    def test_the_command_of_the_readme(self, run):
        # fmt: off
        done = run(
            "simulate", "--team", "partner-aware-ucb", "--window", "25", "--means", "[[.8,.4],[.2,.6]]",
            "--observability", "1,0.5", "--horizon", "200", "--runs", "10", "--seed", "0", "--index", "companion",
            "--format", "json",
        )
        # fmt: on
        assert done.exit_code == 0
        assert done.stderr == ""
        told = strict(done.stdout)
        problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
        team = cb.Team.of("partner-aware-ucb", window=25, index="companion")
        result = cb.simulate(problem, team, horizon=200, runs=10, seed=0)
        assert told["checkpoints"] == result.checkpoints.tolist()
        assert told["task_regret"] == result.summary().task_regret.to_dict()
        assert told["team_regret"] == result.summary().team_regret.to_dict()
        assert set(told["task_regret"]) == {"mean", "se", "median", "q10", "q90"}
        assert (told["seed"], told["runs"], told["horizon"]) == (0, 10, 200)
        assert told["team"] == {**team.describe()}
        assert told["problem"] == json.loads(json.dumps(problem.describe()))
        assert told["engine"] == result.engine
        assert told["seconds"] >= 0.0

    def test_why_the_team_lost(self, run):
        told = strict(run(*SMALL, "--team", "naive-ucb", "--seed", "1", "--diagnose", "--format", "json").stdout)
        causes = told["diagnostics"]["regret"][-1]
        assert sum(causes) == pytest.approx(told["task_regret"]["mean"][-1])
        assert told["diagnostics"]["main_cause"] == "mismatch"
        assert "diagnostics" not in strict(run(*SMALL, "--format", "json").stdout)
        table = run(*SMALL, "--team", "naive-ucb", "--seed", "1", "--diagnose").stdout
        assert "wrong row and column" in table
        assert "Agent 0 insisted in" in table
        refused = run(*SMALL, "--diagnose", "--format", "csv")
        assert refused.exit_code != 0
        assert "--format must be json or text" in refused.stderr

    @pytest.mark.parametrize(
        ("given", "points"), [("4", [10, 20, 30, 40]), ("5,7,40", [5, 7, 40]), ("7,", [7]), ("40", list(range(1, 41)))]
    )
    def test_checkpoints(self, run, given, points):
        assert strict(run(*SMALL, "--checkpoints", given, "--format", "json").stdout)["checkpoints"] == points

    def test_engines_and_threads_agree(self, run):
        words = ("simulate", "--runs", "6", "--horizon", "40", "--format", "json")
        ways = (("--engine", "reference"), ("--engine", "fast"), ("--engine", "fast", "--threads", "2"))
        told = [strict(run(*words, *way).stdout) for way in ways]
        assert [one["engine"] for one in told] == ["reference", "fast", "fast"]
        assert told[0]["task_regret"] == told[1]["task_regret"] == told[2]["task_regret"]


PROBLEMS = {
    "random means": ("--means", "random", "--arms", "2,3"),
    "local optima": ("--means", "local-optima", "--arms", "3,3"),
    "three agents": ("--means", "corners", "--arms", "2,2,2"),
    "gaussian": ("--reward", "gaussian", "--sd", "0.3", "--noise", "0.1,0.2"),
    "gaussian, missed": ("--reward", "gaussian", "--observation", "missed", "--observability", "1,0.5"),
    "missed-known": ("--observation", "missed-known"),
    "flipped": ("--observation", "flipped", "--observability", "1,0.5"),
    "noisy": ("--observation", "noisy"),
    "random roles": ("--roles", "random"),
    "elected roles": ("--roles", "elected"),
    "given roles": ("--roles", "1,0"),
    "weights": ("--weights", "1,0"),
    "many cells": ("--means", "random", "--arms", "5,5"),
}


@pytest.mark.parametrize("words", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.parametrize("style", ["table", "json", "csv"])
def test_every_problem_in_every_format(words, style, run):
    done = run(*SMALL, *words, "--format", style)
    assert done.exit_code == 0
    assert done.stderr == ""
    assert max(map(len, done.stdout.splitlines())) <= 80 or style != "table"


class TestTable:
    def test_it_says_what_was_played(self, run):
        shown = run(*SMALL, "--seed", "7").stdout
        assert shown.startswith("partner-aware-ucb (exploration 0.025, index paper, ties first, window 25")
        assert "means [[0.8, 0.4], [0.2, 0.6]], Bernoulli rewards" in shown
        assert "missed observation, observability 1, 0.5, agent 0 leads" in shown
        assert "6 runs of 40 rounds, seed 7, reference engine, " in shown
        assert "here 0.75 times the task regret" in " ".join(shown.split())
        assert "\x1b" not in shown

    def test_its_last_row_is_the_summary(self, run):
        last = [line.split() for line in run(*SMALL, "--checkpoints", "2").stdout.splitlines() if " ± " in line][-1]
        problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
        result = cb.simulate(problem, cb.Team.of("partner-aware-ucb"), 40, runs=6, seed=0, engine="reference")
        task = result.task_regret[:, -1]
        quantiles = [f"{value:.2f}" for value in np.quantile(task, [0.5, 0.1, 0.9])]
        error = task.std(ddof=1) / np.sqrt(6)
        assert last[:7] == ["40", f"{task.mean():.2f}", "±", f"{error:.2f}", *quantiles]

    def test_ten_rows_at_most(self, run):
        assert run(*SMALL).stdout.count(" ± ") <= 2 * 11

    def test_one_run(self, run):
        shown = run(*SMALL, "--runs", "1").stdout
        assert "1 run of 40 rounds" in shown
        assert " ± -" not in shown


def test_a_curious_follower_and_a_heeding_leader(run):
    words = ("--exploration", "0.6", "--follower-exploration", "2.5", "--option", "heed=true", "--roles", "random")
    told = strict(run(*SMALL, *words, "--format", "json").stdout)
    team = cb.Team.of("partner-aware-ucb", exploration=0.6, follower_exploration=2.5, heed=True)
    assert told["team"] == team.describe()
    refused = run(*SMALL, *words[2:])
    assert refused.exit_code == 2
    assert "exploration must be at least 0.5 for a heeding leader" in " ".join(refused.stderr.split())


def test_an_option_without_a_flag(run):
    told = strict(run(*SMALL, "--team", "mdsee", "--option", "sweeps=2", "--format", "json").stdout)
    assert told["team"] == {"agent": "mdsee", "sweeps": 2, "ties": "first"}


class TestOut:
    def test_every_run_with_its_provenance(self, run, tmp_path):
        parquet = pytest.importorskip("pyarrow.parquet")
        target = tmp_path / "runs.parquet"
        done = run(*SMALL, "--checkpoints", "4", "--format", "json", "--out", str(target))
        assert done.stderr == f"Every run is kept in {target}.\n"
        told = strict(done.stdout)
        table = parquet.read_table(target)
        assert table.num_rows == 6 * 4
        kept = json.loads(table.schema.metadata[b"cobandit"])
        assert (kept["seed"], kept["runs"], kept["engine"]) == (0, 6, "reference")
        assert kept["team"] == told["team"]
        assert np.mean(table["task_regret"].to_numpy().reshape(6, 4)[:, -1]) == told["task_regret"]["mean"][-1]

    def test_it_is_checked_before_any_work(self, run, monkeypatch, tmp_path):
        def never(*args: object, **kwargs: object) -> None:
            raise AssertionError("work has started")

        monkeypatch.setattr(simulation, "simulate", never)
        (tmp_path / "file").write_text("no folder")
        assert run(*SMALL, "--out", str(tmp_path / "file" / "runs.parquet")).exit_code == 2


def test_only_data_on_stdout_of_the_program(program):
    done = program(*SMALL, "--format", "json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert strict(done.stdout)["runs"] == 6


def test_runs_that_are_not_kept(run, tmp_path, monkeypatch: pytest.MonkeyPatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    words = (*SMALL, "--runs", "200", "--horizon", "5")
    exact = run(*words).stdout
    monkeypatch.setattr("cobandit.stats.streaming.KEPT_VALUES", 500)
    monkeypatch.setattr("cobandit.stats.streaming.FEWEST_STREAMED", 50)
    target = tmp_path / "runs.parquet"
    done = run(*words, "--out", str(target))
    assert done.exit_code == 0
    assert "are within 0.4 %" in " ".join(done.stdout.split())
    assert "are within" not in exact
    assert parquet.read_table(target).num_rows == 1_000
    assert strict(run(*words, "--format", "json").stdout)["keeps"] == "summary"
    compared = run("compare", "--team", "naive-ucb", "--team", "optimal", *words[1:])
    assert compared.exit_code == 0
    assert "are within 0.4 %" in " ".join(compared.stdout.split())


@pytest.mark.parametrize("command", ["simulate", "watch"])
def test_a_mixed_team_may_be_written_with_a_plus(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    done = run(command, "--team", "knowledge-gradient+naive-ucb", "--runs", "2", "--horizon", "10")
    assert done.exit_code == 0, done.output
    if command == "simulate":
        assert done.output.startswith("knowledge-gradient")
        assert "+ naive-ucb" in " ".join(done.output.split())
