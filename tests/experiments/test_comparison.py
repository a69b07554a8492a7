"""Teams compared from Python, and the files of it."""

from __future__ import annotations

import csv
import json

import pytest
from matplotlib.figure import Figure

import cobandit as cb
from cobandit.experiments import TeamComparison, compare_teams

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
TEAMS = [cb.Team.of("naive-ucb"), cb.Team.of("optimal"), cb.Team.of("partner-aware-ucb")]


@pytest.fixture(scope="module")
def compared() -> TeamComparison:
    return compare_teams(PROBLEM, TEAMS, horizon=60, runs=5, engine="reference")


def test_the_best_comes_first_and_all_have_the_same_luck(compared):
    means = [result.summary().task_regret.mean[-1] for result in compared.results]
    assert means == sorted(means)
    assert compared.results[0].team.label == "optimal"
    alone = cb.simulate(PROBLEM, cb.Team.of("naive-ucb"), 60, runs=5, seed=0, engine="reference")
    (naive,) = (result for result in compared.results if result.team.label == "naive-ucb")
    assert naive.summary().task_regret.mean[-1] == alone.summary().task_regret.mean[-1]


def test_files_hold_the_rows_and_the_plain_data(compared, tmp_path):
    with compared.save(tmp_path / "teams.csv", regret="team").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["team"] for row in rows] == [result.team.label for result in compared.results]
    assert float(rows[-1]["mean"]) == compared.rows("team")[-1][1]
    assert rows[0]["growth"] == ""  # nothing lost, so nothing grows
    stored = json.loads(compared.save(tmp_path / "teams.json").read_text())
    assert [team["label"] for team in stored["teams"]] == [row["team"] for row in rows]


def test_a_plot_has_a_labelled_line_for_each_team(compared):
    axes = compared.plot(Figure().subplots(), regret="team", band="quantiles")
    assert [line.get_label() for line in axes.lines] == compared.labels
    assert [text.get_text() for text in axes.get_legend().get_texts()] == compared.labels
    assert axes.get_ylabel() == "cumulative team regret"


def test_mistakes(compared, tmp_path):
    with pytest.raises(cb.InvalidInput, match=r"ends in \.csv or \.json"):
        compared.save(tmp_path / "teams.txt")
    with pytest.raises(cb.UnknownName, match="regret"):
        compared.rows("some")
    with pytest.raises(cb.InvalidInput, match="at least one team"):
        compare_teams(PROBLEM, [], horizon=10)
    three = cb.Team([cb.NaiveUCB(), cb.NaiveUCB(), cb.NaiveUCB()])
    with pytest.raises(cb.InvalidInput, match="the problem has 2"):
        compare_teams(PROBLEM, [three], horizon=10)


def test_a_trajectory_saves_its_rounds(compared, tmp_path):
    played = compared.results[0].trajectory(0)
    with played.save(tmp_path / "run.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["arm_0"]) for row in rows] == played.actions[:, 0].tolist()
    assert list(rows[0]) == list(played.columns())
