"""``--relabel``: permuted arms, in every command that compares teams."""

from __future__ import annotations

import json

import pytest

import cobandit as cb

SMALL = ("--horizon", "30", "--runs", "5", "--seed", "3")
PAPER = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])


def test_simulate_and_compare_play_the_relabelled_problem(run):
    expected = cb.simulate(PAPER.relabelled(), cb.Team.of("naive-ucb"), 30, 5, 3).summary().task_regret.mean[-1]
    shown = json.loads(run("simulate", "--team", "naive-ucb", *SMALL, "--relabel", "--json").stdout)
    assert shown["problem"]["relabel"] is True
    assert shown["task_regret"]["mean"][-1] == expected
    compared = json.loads(run("compare", "--team", "naive-ucb", *SMALL, "--relabel", "--json").stdout)
    assert compared["problem"]["relabel"] is True
    assert compared["teams"][0]["task_regret"]["mean"][-1] == expected
    plain = json.loads(run("simulate", "--team", "naive-ucb", *SMALL, "--json").stdout)
    assert "relabel" not in plain["problem"]
    assert plain["task_regret"]["mean"][-1] != expected
    assert "arms relabelled in each" in run("simulate", "--team", "naive-ucb", *SMALL, "--relabel").stdout


def test_watch_says_that_the_arms_are_relabelled(run, tmp_path):
    page = tmp_path / "page.html"
    done = run("watch", "--team", "naive-ucb", *SMALL, "--relabel", "--run", "2", "--out", str(page))
    assert done.exit_code == 0, done.output
    assert "arms relabelled in each run" in page.read_text()


def test_reproduce_and_sweep_store_it(run, tmp_path):
    out = tmp_path / "paper"
    words = ("reproduce", "sim1-left", "--runs", "4", "--horizon", "20", "--workers", "1", "--out", str(out))
    done = run(*words, "--relabel", "--json")
    panels = json.loads(done.stdout)["panels"]
    assert panels[0]["relabel"] is True
    page = (out / "report.html").read_text()
    assert "relabelled at random in each run" in page
    assert "--relabel" in page
    assert json.loads(run("report", str(out), "--json").stdout)["panels"][0]["claims"] == panels[0]["claims"]
    file = tmp_path / "tiny.toml"
    file.write_text(
        'name = "tiny"\nhorizon = 20\nruns = 4\n[problem]\nmeans = "fixed"\nobservability = [1.0, 0.5]\n'
        '[[team]]\nagent = "naive-ucb"\n'
    )
    swept = run("sweep", str(file), "--relabel", "--workers", "1", "--out", str(tmp_path / "swept"), "--json")
    assert json.loads(swept.stdout)["panels"][0]["relabel"] is True


@pytest.mark.parametrize(("flags", "expected"), [((), True), (("--no-relabel",), False)])
def test_the_arena_relabels_unless_told_otherwise(run, tmp_path, flags, expected):
    part = ("--setting", "exact-12", "--leader", "greedy", "--follower", "window-1", "--runs", "3", "--workers", "1")
    done = run("arena", *part, *flags, "--out", str(tmp_path), "--json")
    shown = json.loads(done.stdout)
    assert shown["relabel"] is expected
    assert ("--no-relabel" in shown["command"]) is not expected
    assert ("relabelled at random" in (tmp_path / "report.html").read_text()) is expected


def test_markov_panels_are_refused(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("reproduce", "mdp-chain", "--relabel")
    assert done.exit_code == 2
    assert "cannot be relabelled" in done.output
    assert list(tmp_path.iterdir()) == []
