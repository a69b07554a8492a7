"""Power with teams: one value per team, people and teams are counted, and people who leave cost whole teams."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

import cobandit as cb
from cobandit.analysis import default_plan, population, power_analysis
from cobandit.analysis.power import TeamCorrelation, crowds_of, measures_of
from cobandit.studies import load_design
from cobandit.studies.crowd import simulate_participants

PAIR = load_design("burger-pair")
MIXTURE = [("softmax", 0.5), ("knowledge-gradient", 0.5)]


def test_tests_are_on_team_means():
    plan = replace(default_plan(PAIR), hypotheses=default_plan(PAIR).hypotheses[:1])
    people = population(MIXTURE)
    result = power_analysis(PAIR, people, (12, 24), 40, 5, plan=plan)
    ((crowd, studies),) = crowds_of(PAIR, people, 24, 40, 5)
    totals = crowd.task_regret.sum(axis=2)[studies]
    first, second = (crowd.conditions.index(name) for name in plan.hypotheses[0].compares)
    for point, teams in zip(result.curves[0].points, (6, 12), strict=True):
        means = totals[:, : 2 * teams].reshape(40, teams, 2, 3).mean(axis=2)
        p = scipy_stats.ttest_rel(means[..., first], means[..., second], axis=1).pvalue
        assert point.power.value == pytest.approx((p < 0.05).mean())
    assert result.team_size == 2
    assert result.people(24) == "24 in 12 teams"
    assert "24 simulated participants in 12 teams" in result.chance
    assert result.to_dict()["teams"] == [6, 12]


def test_people_who_leave_cost_whole_teams():
    plan = replace(default_plan(PAIR), hypotheses=default_plan(PAIR).hypotheses[:1])
    everybody = power_analysis(PAIR, population(MIXTURE), (60,), 60, 1, plan=plan)
    leaving = power_analysis(PAIR, population(MIXTURE, dropout=0.4), (60,), 60, 1, plan=plan)
    spreads = [result.curves[0].points[0].effect_sd for result in (everybody, leaving)]
    assert all(spread is not None for spread in spreads)
    # 0.6 ** 2 of the teams are left, so the effect sizes of studies scatter more.
    assert spreads[1] > 1.3 * spreads[0]  # type: ignore[operator]
    assert any("40 % of the people leave" in text and "leaves 36 %" in text for text in leaving.team_sentences)
    nobody = power_analysis(PAIR, population(MIXTURE, dropout=0.95), (4,), 5, 1, plan=plan)
    assert nobody.curves[0].points[0].power.value == 0.0


def test_members_of_teams_are_alike():
    """The correlation is that of all pairs, each seat from its own mean, and higher where members are of one kind."""
    results = []
    for alike in (0.0, 1.0):
        kinds = [("knowledge-gradient", 0.5), ("win-stay-lose-shift", 0.5)]
        crowd = simulate_participants(PAIR, kinds, 4000, 0, alike=alike)
        correlation = TeamCorrelation(PAIR)
        correlation.add(crowd)
        pairs = crowd.task_regret[:, 1:, 0].reshape(-1, 2, 2)
        pairs = pairs - pairs.mean(axis=0)
        both = np.concatenate([pairs, pairs[:, ::-1]])  # every pair in both orders: Fisher's intraclass correlation
        oracle = (both[:, 0] * both[:, 1]).sum() / np.sqrt((both[:, 0] ** 2).sum() * (both[:, 1] ** 2).sum())
        assert correlation.value == pytest.approx(oracle, abs=2e-3)
        results.append(oracle)
    assert results[1] > results[0]
    assert TeamCorrelation(load_design("burger")).value is None


def test_a_design_for_one_person_is_what_it_was():
    burger = load_design("burger")
    result = power_analysis(burger, "softmax", (10, 20), 20, 0)
    assert result.team_sentences == ()
    assert "teams" not in result.to_dict()
    crowd, studies = next(crowds_of(burger, population("softmax"), 20, 20, 0))
    assert measures_of(crowd, studies)["good"].shape == (20, 20, 2)
    fewer = power_analysis(burger, population("softmax", dropout=0.5), (20,), 20, 0)
    assert fewer.team_sentences == (
        "50 % of the people leave, and they are not analysed, which leaves 50 %; n counts those who begin.",
    )


def test_refusals():
    with pytest.raises(cb.InvalidInput, match="participants must be multiples of 2, the people of a team, got 15"):
        power_analysis(PAIR, "softmax", (10, 15), 5)
    with pytest.raises(cb.InvalidInput, match="from 4 to"):
        power_analysis(PAIR, "softmax", (2,), 5)
    for wrong in (-0.1, 1.0, float("nan"), "much"):
        with pytest.raises(cb.InvalidInput, match="dropout"):
            population("softmax", dropout=wrong)  # type: ignore[arg-type]
