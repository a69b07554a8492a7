"""The analysis of studies with teams: the team is the unit, and what is left out is said."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats as scipy_stats

from cobandit.analysis import analyse, analyse_data, default_plan, measures, parse_plan, plan_toml, preregistration
from cobandit.analysis.plan import Exclusions
from cobandit.analysis.teams import MIXED, team_measures
from cobandit.studies import load_design, read_export, rehearsed_data, tables, write_export
from tests.team_designs import team_design

PAIR = load_design("burger-pair")


@cache
def pairs(teams=6):
    people = [("softmax", seed, seed // 2 % 6) for seed in range(2 * teams)]
    return rehearsed_data(PAIR, people, answers="drawn")


@cache
def analysed():
    return analyse_data(pairs())


def regret(measured, condition):
    return measured.task_regret[:, measured.column(condition), 0]


class TestUnits:
    def test_one_value_per_team(self):
        analysis = analysed()
        assert (len(analysis.measures), len(analysis.units)) == (12, 6)
        assert (analysis.measures.unit, analysis.units.unit) == ("participant", "team")
        people = analysis.measures
        # Together both members have the same regret; alone each has their own, and the team their mean.
        np.testing.assert_array_equal(regret(people, "human")[0::2], regret(people, "human")[1::2])
        alone = regret(people, "naive-ucb")
        assert not np.array_equal(alone[0::2], alone[1::2])
        np.testing.assert_allclose(regret(analysis.units, "naive-ucb"), (alone[0::2] + alone[1::2]) / 2)

    def test_the_paired_test_is_on_team_means(self):
        analysis = analysed()
        people = analysis.measures
        human, alone = regret(people, "human")[0::2], regret(people, "naive-ucb").reshape(6, 2).mean(axis=1)
        oracle = scipy_stats.ttest_rel(alone, human)
        row = analysis.result("H1-regret-naive-ucb-human")
        assert row.finding.n == 6
        assert (row.finding.statistic, row.finding.p) == (
            pytest.approx(oracle.statistic),
            pytest.approx(oracle.pvalue),
        )

    def test_no_direction_is_expected_of_people(self):
        directions = {entry.id: entry.direction for entry in default_plan(PAIR).hypotheses if entry.measure == "good"}
        assert directions == {
            "H1-good-naive-ucb-human": "two-sided",
            "H1-good-partner-aware-ucb-human": "two-sided",
            "H1-good-partner-aware-ucb-naive-ucb": "greater",
        }

    def test_mixed_teams_are_in_no_group(self):
        analysis = analysed()
        given = analysis.measures.group("ai_researcher")
        by_team = [MIXED if a != b else a for a, b in zip(given[0::2], given[1::2], strict=True)]
        assert list(analysis.units.group("ai_researcher")) == by_team
        mixed = by_team.count(MIXED)
        assert 0 < mixed < 6
        row = analysis.result("P-regret-human")
        assert f"{mixed} of 6 teams are left out" in row.finding.note
        assert row.finding.n == 6 - mixed

    def test_the_mixed_model_counts_a_joint_episode_once(self):
        row = analysed().result("mixed/task_regret/naive-ucb minus human")
        assert row.finding.n == 6
        assert row.finding.more["observations"] == 6 + 12 + 12
        score = analysed().result("mixed/survey-score/naive-ucb minus human")
        assert score.finding.more["observations"] == 3 * 12

    def test_the_words_name_the_unit(self):
        analysis = analysed()
        assert "The unit of all tests is the team of 2 people" in analysis.methods
        assert "12 simulated participants were analysed in 6 simulated teams" in analysis.results_text
        assert "Among the simulated teams" in analysis.results_text
        assert analysis.to_dict()["unit"] == "team"
        assert "the AI (" not in analysis.methods
        for form in ("osf", "aspredicted"):
            text = preregistration(PAIR, replace(default_plan(PAIR), n=60), form)
            assert "60 participants in 30 teams of 2." in text
            assert "The unit of all tests is the team" in text

    def test_designs_for_one_person_do_not_change(self):
        analysis = analyse_data(rehearsed_data(load_design("burger"), [("softmax", s, s % 2) for s in range(4)]))
        assert analysis.units is analysis.measures
        assert "unit" not in analysis.to_dict()
        assert "team of" not in analysis.methods

    def test_from_files_as_from_memory(self, tmp_path):
        for form in ("csv", "parquet"):
            write_export(pairs(), tmp_path / form, format=form)
            design, read, about = read_export(tmp_path / form)
            assert analyse(design, read, about).rows() == analysed().rows()


class TestLeftOut:
    def _changed(self, **columns):
        changed = {name: dict(table) for name, table in tables(pairs()).items()}
        for name, change in columns.items():
            table, _, column = name.partition("__")
            changed[table][column] = change(changed[table], changed[table][column].copy())
        return changed

    def test_the_partner_of_somebody_excluded(self):
        def unfinished(table, values):
            values[2] = "left"
            return values

        changed = self._changed(wide__status=unfinished)
        strict = measures(PAIR, changed)
        assert {(entry.participant, entry.rule) for entry in strict.excluded} == {
            ("r-0003", "unfinished"),
            ("r-0004", "incomplete-team"),
        }
        assert "in the team t-0002, of which r-0003 is excluded" in strict.excluded[1].sentence
        assert len(team_measures(strict)) == 5
        lenient = measures(PAIR, changed, Exclusions(incomplete_teams=False))
        assert (len(lenient), len(team_measures(lenient))) == (11, 6)

    def test_somebody_whose_partner_was_deleted(self):
        data = replace(pairs(), participants=pairs().participants[1:])
        excluded = measures(PAIR, tables(data)).excluded
        assert [entry.participant for entry in excluded] == ["r-0002"]
        assert "1 of 2 seats have no person's data" in excluded[0].sentence

    def test_episodes_with_takeovers(self):
        def taken_over(table, values):
            mine = (table["team"] == "t-0001") & (table["condition"] == "human") & (table["t"] > 17)
            values[mine] = "takeover"
            return values

        changed = self._changed(long__by_1=taken_over)
        units = team_measures(measures(PAIR, changed, default_plan(PAIR).exclusions))
        assert np.isnan(regret(units, "human")).tolist() == [True] + [False] * 5
        assert not np.isnan(regret(units, "naive-ucb")).any()
        assert any("in 3 of 20 rounds an AI chose in place of a person" in gap.sentence for gap in units.gaps)
        assert "In the team t-0001 an AI chose in place of a person in 3 of the counted rounds." in units.notes
        rule = Exclusions(takeover_share=0.15)
        assert not np.isnan(measures(PAIR, changed, rule).task_regret).any()
        assert not np.isnan(measures(PAIR, changed).task_regret).any()  # a plan without the rule
        analysis = analyse(PAIR, changed)
        assert analysis.result("H1-regret-naive-ucb-human").finding.n == 5
        assert analysis.result("H1-regret-partner-aware-ucb-naive-ucb").finding.n == 6
        assert "at most 10% of its rounds" in analysis.methods

    def test_the_rules_are_in_the_plan_file(self):
        plan = replace(default_plan(PAIR), exclusions=Exclusions(incomplete_teams=False, takeover_share=0.0))
        text = plan_toml(plan)
        assert "incomplete_teams = false" in text
        assert parse_plan(text) == plan
        assert "takeover_share" not in plan_toml(default_plan(load_design("burger")))

    def test_nobody(self):
        empty = analyse_data(replace(pairs(), participants=()))
        assert len(empty.units) == 0
        assert "No participant remains for the analysis" in " ".join(empty.notes)


def test_teams_of_three_with_an_ai():
    design = team_design(people=3, ais=1)
    data = rehearsed_data(design, [("softmax", seed, 0) for seed in range(9)], answers="drawn")
    analysis = analyse_data(data)
    assert len(analysis.units) == 3
    assert "team of 3 people" in analysis.methods
