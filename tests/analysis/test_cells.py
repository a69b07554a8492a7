"""Analysis, plan and power of designs between subjects and of mixed ones."""

import re
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

from cobandit import InvalidInput
from cobandit.analysis import analyse_data, default_plan, parse_plan, plan_toml, power_analysis, preregistration
from cobandit.analysis.plan import AnalysisPlan, Hypothesis
from cobandit.analysis.population import population
from cobandit.analysis.power import crowds_of, measures_of
from cobandit.stats import mixed_anova, two_sample_p_values
from cobandit.studies import load_design, tables, verify_study
from tests.cell_designs import between_casino, mixed_burger, rehearsed

MIXED, BETWEEN = mixed_burger(), between_casino()


def close(found: Any, wanted: Any) -> None:
    np.testing.assert_allclose(found, wanted)


def planned(design, *hypotheses):
    return AnalysisPlan(study=design.name, hypotheses=hypotheses)


def asked(test, *compares, **more):
    return Hypothesis(id="H", text="They differ.", measure="task_regret", test=test, compares=compares, **more)


class TestPlan:
    def test_between_subjects(self):
        tests = {hypothesis.id: hypothesis.test for hypothesis in default_plan(BETWEEN).hypotheses}
        assert tests["H3-regret-partner-aware-ucb-naive-ucb"] == "welch"
        assert tests["H3-anova"] == "anova"
        assert "paired-t" not in tests.values()

    def test_mixed(self):
        plan = default_plan(MIXED)
        tests = {hypothesis.id: hypothesis.test for hypothesis in plan.hypotheses}
        assert tests["H1-regret-aware-half-naive-half"] == "paired-t"
        assert tests["H1-regret-aware-all-naive-all"] == "paired-t"
        assert tests["H1-anova"] == "mixed-anova"
        assert not any("half" in id and "all" in id for id in tests)

    @pytest.mark.parametrize("design", [MIXED, BETWEEN])
    def test_it_is_the_same_from_its_own_text(self, design):
        plan = default_plan(design)
        assert parse_plan(plan_toml(plan)).checked(design) == plan

    @pytest.mark.parametrize(
        ("hypothesis", "message"),
        [
            (
                asked("paired-t", "naive-half", "naive-all"),
                "that the same people play for paired-t, got half: naive-half",
            ),
            (asked("rm-anova", "naive-half", "aware-half", "naive-all"), "the same people play for rm-anova"),
            (asked("welch", "naive-half", "aware-half"), "conditions of different people for welch"),
            (asked("anova", "naive-half", "aware-half", "naive-all"), "conditions of different people for anova"),
        ],
    )
    def test_tests_that_do_not_fit(self, hypothesis, message):
        with pytest.raises(InvalidInput, match=message):
            planned(MIXED, hypothesis).checked(MIXED)

    def test_a_plan_chooses_the_effect_of_a_mixed_analysis(self):
        names = [condition.name for condition in MIXED.conditions]
        plan = planned(MIXED, asked("mixed-anova", *names, effect="between")).checked(MIXED)
        assert analyse_data(rehearsed(MIXED, 8), plan=plan).result("H").finding.test == "Mixed ANOVA sight"
        assert "the effect of sight" in preregistration(MIXED, plan, "osf")
        assert parse_plan(plan_toml(plan)) == plan
        with pytest.raises(InvalidInput, match="effect = 'between', which goes with test = 'mixed-anova'"):
            asked("anova", *names, effect="between")

    def test_a_mixed_analysis_needs_levels_within_people(self):
        design = between_casino(
            conditions=[*BETWEEN.to_dict()["conditions"], {"name": "another", "agent": "naive-ucb"}],
        )
        names = [condition.name for condition in design.conditions]
        with pytest.raises(InvalidInput, match="the same two or more levels within two or more cells"):
            planned(design, asked("mixed-anova", *names)).checked(design)

    @pytest.mark.parametrize("design", [MIXED, BETWEEN])
    @pytest.mark.parametrize("form", ["osf", "aspredicted"])
    def test_preregistration(self, design, form):
        text = preregistration(design, default_plan(design), form)
        assert "the cell with the fewest finished and active people" in text
        assert ("Mixed: 20 rounds" if design is MIXED else "Between subjects: 2 casinos") in text
        assert ("mixed analysis of variance" if design is MIXED else "Welch's t test") in text
        assert "Within subjects" not in text


@cache
def analysed(design, people, first_seed):
    data = rehearsed(design, people, first_seed=first_seed)
    return data, analyse_data(data), tables(data)["wide"]


class Analysed:
    """Analyse rehearsed data once, and only where a test asks: every worker imports this module."""

    rehearsal = (MIXED, 24, 10)
    data = property(lambda self: analysed(*self.rehearsal)[0])
    analysis = property(lambda self: analysed(*self.rehearsal)[1])
    wide = property(lambda self: analysed(*self.rehearsal)[2])


class TestMixed(Analysed):
    def test_people_and_gaps(self):
        assert len(self.analysis.measures) == 24
        assert self.analysis.measures.gaps == ()
        assert self.analysis.exclusions == ()

    def test_paired_tests_are_of_the_people_of_a_cell(self):
        row = self.analysis.result("H1-regret-aware-half-naive-half").finding
        mine = self.wide["cell"] == "half"
        wanted = scipy_stats.ttest_rel(
            self.wide["task_regret_aware_half"][mine], self.wide["task_regret_naive_half"][mine]
        )
        assert (row.n, row.note) == (12, "")
        close((row.statistic, row.p), (wanted.statistic, wanted.pvalue))

    def test_the_mixed_analysis_has_all_three_effects(self):
        rows = [self.analysis.result(id).finding for id in ("H1-anova", "H1-anova/sight", "H1-interaction")]
        half = self.wide["cell"] == "half"
        values = np.stack(
            [
                np.where(half, self.wide[f"task_regret_{kind}_half"], self.wide[f"task_regret_{kind}_all"])
                for kind in ("naive", "aware")
            ],
            axis=1,
        )
        wanted = mixed_anova(values, self.wide["cell"].tolist())
        for row, other in zip(rows, wanted, strict=True):
            assert row.n == 24
            close((row.statistic, row.p, row.effect), (other.statistic, other.p, other.effect))
        assert all(row.id != "H1-anova/algorithm-x-sight" for row in self.analysis.results)  # a hypothesis of its own

    def test_words(self):
        methods, results = self.analysis.methods, self.analysis.results_text
        assert "The design was mixed: sight was varied between participants" in methods
        assert "the AI 50% or 100% (depending on the condition)" in methods
        assert "played 2 sets with a survey after each" in methods
        assert "A mixed analysis of variance of the simulated participants' task regret (algorithm x sight)" in results
        assert "had no value in both" not in results
        assert "which differs between the conditions: 0.75 in naive-half" in " ".join(self.analysis.notes)

    @pytest.mark.parametrize(
        ("measure", "called"),
        [
            ("good", "number of satisfied customers"),
            ("survey-score", "survey score"),
            (f"survey:{MIXED.survey.items[0].id}", f"agreement with {MIXED.survey.items[0].id!r}"),
        ],
    )
    def test_words_for_every_measure(self, measure, called):
        names = [condition.name for condition in MIXED.conditions]
        pair = replace(asked("paired-t", "aware-half", "naive-half"), id="P", measure=measure)
        plan = planned(MIXED, replace(asked("mixed-anova", *names), measure=measure), pair)
        results = analyse_data(self.data, plan=plan).results_text
        assert f"A mixed analysis of variance of the simulated participants' {called} (algorithm x sight)" in results
        article = "" if measure.startswith("survey:") else "The "
        assert re.search(rf"{article}{called} (was|did not differ)", results, re.IGNORECASE)
        assert f"- P: {article.lower()}{called}, aware-half minus naive-half" in preregistration(MIXED, plan, "osf")

    def test_order_is_checked_in_each_cell(self):
        ids = {row.id for row in self.analysis.section("order")}
        assert {"order/task_regret/set/half", "order/task_regret/carry-over/all", "order/labels/half"} <= ids
        assert all(row.finding.n == 12 for row in self.analysis.section("order"))

    def test_a_planned_test_between_cells(self):
        plan = planned(MIXED, asked("welch", "aware-half", "aware-all", direction="greater"))
        row = analyse_data(self.data, plan=plan).result("H").finding
        first, second = (self.wide[f"task_regret_aware_{cell}"] for cell in ("half", "all"))
        wanted = scipy_stats.ttest_ind(first[~np.isnan(first)], second[~np.isnan(second)], equal_var=False)
        close((row.statistic, row.p), (wanted.statistic, wanted.pvalue))
        assert row.note == ""

    def test_a_participant_without_data_is_missing_in_one_cell_only(self):
        person = self.data.participants[0]
        data = replace(self.data, participants=(replace(person, episodes={}), *self.data.participants[1:]))
        analysis = analyse_data(data)
        assert len(analysis.measures.gaps) == 2
        assert analysis.result("H1-regret-aware-half-naive-half").finding.n == 11
        assert analysis.result("H1-regret-aware-all-naive-all").finding.n == 12
        assert analysis.result("H1-anova").finding.n == 23


class TestBetween(Analysed):
    rehearsal = (BETWEEN, 18, 0)

    def values(self, tag):
        values = self.wide[f"task_regret_{tag}"]
        return values[~np.isnan(values)]

    def test_welch_and_student(self):
        row = self.analysis.result("H3-regret-partner-aware-ucb-naive-ucb")
        aware, naive = self.values("pa_ucb"), self.values("naive_ucb")
        welch, student = (scipy_stats.ttest_ind(aware, naive, equal_var=equal) for equal in (False, True))
        close((row.finding.statistic, row.finding.p), (welch.statistic, welch.pvalue))
        beside = self.analysis.result(f"{row.id}/student").finding
        close((beside.statistic, beside.p), (student.statistic, student.pvalue))
        assert [group.n for group in row.finding.groups] == [6, 6]

    def test_one_analysis_of_variance(self):
        row = self.analysis.result("H3-anova").finding
        wanted = scipy_stats.f_oneway(*(self.values(tag) for tag in ("naive_ucb", "pa_ucb", "vn_ucb")))
        close((row.statistic, row.p), (wanted.statistic, wanted.pvalue))

    def test_nothing_is_asked_within_people(self):
        assert self.analysis.grids == ()
        assert self.analysis.section("order", "robustness") == ()
        assert not any(row.finding.test in ("paired t", "Wilcoxon signed-rank") for row in self.analysis.results)

    def test_words(self):
        assert "The design was between subjects: algorithm was varied between participants" in self.analysis.methods
        assert "played 1 set with a survey after each" in self.analysis.methods
        assert "paired" not in self.analysis.methods
        assert "A one-way analysis of variance between participants" in self.analysis.results_text
        assert "Welch's F(2, " in self.analysis.results_text

    def test_files(self, tmp_path):
        names = {path.name for path in self.analysis.save(tmp_path / "out")}
        assert {"results.json", "results.csv", "plan.toml"} <= names


class TestPower:
    def test_every_test_of_the_plan_is_simulated(self):
        power = power_analysis(MIXED, "softmax", (12, 24), 20, seed=3)
        assert [curve.hypothesis.test for curve in power.curves][-1] == "mixed-anova"
        assert any("proportion half 1, all 1" in note for note in power.notes)
        again = power_analysis(MIXED, "softmax", (12, 24), 20, seed=3)
        assert [curve.points for curve in power.curves] == [curve.points for curve in again.curves]

    def test_it_counts_what_the_tests_show(self):
        power = power_analysis(BETWEEN, "softmax", (18,), 30, seed=1)
        ((crowd, places),) = crowds_of(BETWEEN, population("softmax"), 18, 30, 1)
        values = measures_of(crowd, places)["task_regret"]
        p = two_sample_p_values(values[..., 1], values[..., 0])
        means = np.nanmean(values, axis=1)
        right = means[:, 1] <= means[:, 0]
        curve = next(c for c in power.curves if c.hypothesis.id == "H3-regret-partner-aware-ucb-naive-ucb")
        assert curve.points[0].power.value == pytest.approx(np.mean((p < 0.05) & right))
        one = [scipy_stats.f_oneway(*(study[~np.isnan(study[:, c]), c] for c in range(3))).pvalue for study in values]
        curve = next(c for c in power.curves if c.hypothesis.test == "anova")
        assert curve.points[0].power.value == pytest.approx(np.mean(np.array(one) < 0.05))

    def test_an_anova_of_two_conditions_has_their_difference(self):
        names = [condition.name for condition in BETWEEN.conditions][:2]
        plan = planned(BETWEEN, *(replace(asked(test, *names), id=test) for test in ("anova", "student")))
        anova, student = power_analysis(BETWEEN, "softmax", (18,), 10, plan=plan, seed=1).curves
        assert anova.points == student.points  # the same test, F = t squared

    def test_unequal_cells(self):
        design = mixed_burger(quotas={"half": 20, "all": 10})
        ((crowd, places),) = crowds_of(design, population("softmax"), 12, 3, 1)
        known = ~np.isnan(measures_of(crowd, places)["good"])
        assert known.sum(axis=1).tolist() == [[8, 8, 4, 4]] * 3
        assert power_analysis(design, "softmax", (12,), 3).notes[-1].endswith("in the proportion half 2, all 1.")

    def test_people_who_leave(self):
        people = replace(population("softmax"), dropout=0.5)
        some = power_analysis(BETWEEN, people, (9,), 10, seed=2)
        assert all(0.0 <= curve.points[0].power.value <= 1.0 for curve in some.curves)


class TestShipped:
    def test_burger_mixed_is_rehearsed_and_analysed(self):
        design = load_design("burger-mixed")
        assert design.cells == {"low": ("naive-low", "aware-low"), "high": ("naive-high", "aware-high")}
        assert dict(design.quotas.pairs) == {"low": 30, "high": 30}
        analysis = analyse_data(rehearsed(design, 60, behaviour="knowledge-gradient"))
        result = analysis.result("H1-anova").finding
        assert (result.test, result.n, result.df) == ("Mixed ANOVA algorithm", 60, (1, 58))
        assert analysis.result("H1-regret-aware-low-naive-low").finding.n == 30
        assert [part.title for part in analysis.results_parts].count("Analysis of variance (exploratory)") == 1
        algorithm, interaction = [
            curve
            for curve in power_analysis(design, "knowledge-gradient", (60,), 100, seed=1).curves
            if curve.hypothesis.test == "mixed-anova"
        ]
        assert algorithm.points[0].power.value > 0.4  # 80 % need about 120 people
        assert interaction.hypothesis.effect == "interaction"
        assert interaction.points[0].power.value != algorithm.points[0].power.value

    def test_casino_between_is_rehearsed_and_analysed(self):
        design = replace(load_design("casino-between"), rounds=60, episodes=3, practice=None)
        assert sum(quota for _, quota in design.quotas.pairs) == 60
        assert list(design.cells) == ["naive-ucb", "partner-aware-ucb", "bank"]
        analysis = analyse_data(rehearsed(design, 60))
        anova = analysis.result("H1-anova").finding
        assert (anova.test, anova.n, anova.df) == ("ANOVA algorithm", 60, (2, 57))
        pair = analysis.result("H1-regret-partner-aware-ucb-naive-ucb").finding
        assert (pair.test, [group.n for group in pair.groups]) == ("Welch t", [20, 20])
        assert verify_study(rehearsed(design, 3)) == []
