"""The paper's two studies to the letter: asterisks, hypotheses, Student's t, shaded casinos, team or task regret."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as scipy_stats

from cobandit.analysis import Analysis, AnalysisPlan, analyse_data, default_plan, parse_plan, plan_toml
from cobandit.analysis.findings import mark
from cobandit.analysis.grids import shaded
from cobandit.analysis.hypotheses import _result_of
from cobandit.base.errors import UnknownName
from cobandit.stats import Description, Finding
from cobandit.studies import StudyDesign, load_design, rehearsed_data

BURGER, CASINO = load_design("burger"), load_design("casino")
FIXTURES = Path(__file__).parents[1] / "fixtures" / "layout-1"
SHORT = replace(CASINO, rounds=20, episodes=3, practice=None)


@cache
def analysed(marks: str = "paper", regret: str = "task") -> Analysis:
    data = rehearsed_data(SHORT, [("epsilon-greedy", seed, seed % 2) for seed in range(8)], answers="drawn")
    return analyse_data(data, plan=replace(default_plan(SHORT, regret=regret), marks=marks))


class TestMarks:
    def test_the_rule_of_the_paper_looks_at_the_uncorrected_p_value(self) -> None:
        weak = Finding(name="x", test="paired t", n=9, p=0.03, p_adjusted=0.06, estimate=-1.0)
        hypothesis = default_plan(BURGER).hypotheses[0]
        judged = {marks: _result_of(hypothesis, True, weak, 0.05, marks) for marks in ("paper", "holm")}
        assert (judged["paper"].mark, judged["holm"].mark) == ("*", "")
        assert {row.verdict for row in judged.values()} == {"not supported"}, "a mark is no verdict"

    @pytest.mark.parametrize(("p", "stars"), [(0.0049, "**"), (0.005, "*"), (0.0499, "*"), (0.05, ""), (None, "")])
    def test_limits(self, p: float | None, stars: str) -> None:
        assert mark(p) == stars

    @pytest.mark.parametrize("marks", ["paper", "holm"])
    def test_every_hypothesis_follows_the_plan(self, marks: str) -> None:
        rows = analysed(marks).section("hypothesis")
        assert len(rows) > 8
        for row in rows:
            assert row.mark == mark(row.finding.p if marks == "paper" else row.p)
        assert any(row.finding.p != row.p for row in rows)

    def test_the_methods_say_which_rule_it_is(self) -> None:
        assert "Asterisks show uncorrected p-values, as in the paper" in analysed("paper").methods
        assert "after Holm's correction" in analysed("holm").methods

    @pytest.mark.parametrize("design", [BURGER, CASINO])
    def test_the_shipped_designs_have_the_papers(self, design: StudyDesign) -> None:
        assert default_plan(design).marks == "paper"
        assert default_plan(load_design("three-by-three")).marks == "holm"

    def test_a_plan_says_it_in_its_file_and_refuses_what_is_none(self) -> None:
        plan = default_plan(CASINO)
        assert 'marks = "paper"' in plan_toml(plan)
        assert 'regret = "task"' in plan_toml(plan)
        assert parse_plan(plan_toml(plan)) == plan
        for key in ("marks", "regret"):
            with pytest.raises(UnknownName):
                AnalysisPlan(study="casino", **{key: "bonferroni"})  # type: ignore[arg-type]

    def test_another_rule_than_the_stored_one_is_a_deviation(self) -> None:
        data = rehearsed_data(SHORT, [("softmax", seed, seed % 2) for seed in range(3)])
        stored = replace(data, plan=plan_toml(default_plan(SHORT)), about={"plan_fixed_at": None})
        found = analyse_data(stored, plan=replace(default_plan(SHORT, regret="team"), marks="holm"))
        assert "The asterisks follow the rule 'holm'; the plan says 'paper'." in found.deviations
        assert "The regret is team regret; the plan says task regret." in found.deviations


class TestOldPlansAndDesigns:
    def test_a_plan_without_the_keys_means_what_it_meant(self) -> None:
        old = parse_plan('study = "burger"\n')
        assert (old.marks, old.regret) == ("holm", "task")
        assert old.digest == "e10c60af50d301c99a598a2651d9d63542f90b4cd72f9d4deaa897ef80e01c37"

    def test_a_design_without_the_table_keeps_its_digest_and_its_plan(self) -> None:
        old = StudyDesign.from_dict({key: value for key, value in BURGER.to_dict().items() if key != "analysis"})
        assert "analysis" not in old.essence()
        assert (
            load_design(FIXTURES / "burger.toml").digest
            == "36c90b0a36a89ca4fa14f355d7dad08de56410d564b50b9806ef4f102236e061"
        )
        plan = default_plan(old)
        assert (plan.marks, plan.regret) == ("holm", "task")
        assert [hypothesis.family for hypothesis in plan.hypotheses][:3] == ["H1", "H1", "H2"]


class TestHypotheses:
    def test_the_casino_has_h3_and_h4(self) -> None:
        plan = default_plan(CASINO)
        assert [hypothesis.id for hypothesis in plan.hypotheses][:4] == [
            "H3-regret",
            "H3-good",
            "H3-anova",
            "H4-ability",
        ]
        assert {hypothesis.family for hypothesis in plan.hypotheses} == {"H3", "", "H4", "P"}
        assert {"H3-regret", "H3-anova/casino", "H4-easy"} <= {row.id for row in analysed().results}

    def test_the_casino_says_that_everything_has_to_be_spent(self) -> None:
        for language, sentence in (("en", "All 1000 units have to be spent"), ("de", "Alle 1000 Einheiten müssen")):
            assert sentence in CASINO.texts(language)["task.instructions.2"]


class TestRegret:
    def test_the_plan_chooses_and_every_analysis_follows(self) -> None:
        task, team = analysed(), analysed(regret="team")
        one, other = task.result("H3-regret"), team.result("H3-regret")
        assert (one.measure, other.measure) == ("task_regret", "team_regret")
        assert other.finding.p == pytest.approx(one.finding.p)
        assert other.finding.estimate == pytest.approx(0.7 * one.finding.estimate)  # type: ignore[operator]
        for found, measure in ((task, "task_regret"), (team, "team_regret")):
            assert {grid.measure for grid in found.grids} == {measure}
            about_regret = {row.measure for row in found.results if row.measure.endswith("regret")}
            assert about_regret == {measure}
            assert {row.measure for row in found.described if row.question} == {measure}

    def test_it_is_said_which_one_is_the_papers(self) -> None:
        note = "Team regret, the paper's R(T), is 0.7 times task regret in this design"
        assert any(text.startswith(note) and "chooses task regret" in text for text in analysed().notes)
        assert any("chooses team regret" in text for text in analysed(regret="team").notes)
        assert "the tests are about team regret" in analysed(regret="team").methods

    def test_a_design_may_choose(self) -> None:
        plan = default_plan(replace(CASINO, analysis=replace(CASINO.analysis, regret="team")))
        assert plan.regret == "team"
        assert {row.measure for row in plan.hypotheses if row.id.startswith(("H3-regret", "P-"))} == {"team_regret"}


class TestStudent:
    @pytest.mark.parametrize("id", ["P-regret-naive-ucb", "population/level", "population/gain"])
    def test_it_stands_beside_welchs(self, id: str) -> None:
        found = analysed()
        given = np.array(found.measures.group("ai_researcher"))
        values = found.measures.totals("task_regret")
        sample = {
            "P-regret-naive-ucb": values[:, 0],
            "population/level": values.mean(axis=1),
            "population/gain": values[:, 0] - values[:, 1],
        }[id]
        beside = found.result(f"{id}/student")
        expected = scipy_stats.ttest_ind(sample[given == "Yes"], sample[given == "No"], equal_var=True)
        assert beside.section == "companion"
        assert beside.finding.statistic == pytest.approx(expected.statistic)
        assert beside.finding.p == pytest.approx(expected.pvalue)
        assert beside.finding.df == (6.0,)
        assert "(Student's t: t(6) = " in found.results_text

    def test_a_plan_may_ask_for_it(self) -> None:
        plan = default_plan(SHORT)
        asked = tuple(replace(h, test="student") if h.test == "welch" else h for h in plan.hypotheses)
        data = rehearsed_data(SHORT, [("softmax", seed, seed % 2) for seed in range(8)], answers="drawn")
        found = analyse_data(data, plan=replace(plan, hypotheses=asked))
        assert found.result("P-regret-naive-ucb").finding.test == "Student t"
        assert found.result("P-regret-naive-ucb/welch").finding.test == "Welch t"


class TestShades:
    def row(self, first: float, second: float, p: float | None = 0.5) -> Finding:
        groups = tuple(Description(name=name, n=9, mean=mean) for name, mean in (("a", first), ("b", second)))
        return Finding(name="casino", test="paired t", n=9, p=p, groups=groups)

    def test_both_at_or_beyond_a_quartile_and_no_difference(self) -> None:
        # Eight means in the middle; the quartiles of all sixteen are those of their order.
        middle = [self.row(10, 20), self.row(11, 19), self.row(12, 18), self.row(13, 17)]
        rows = [self.row(1, 2), self.row(1, 2, 0.04), self.row(90, 80), self.row(90, 80, 0.001)]
        shades = shaded([*rows, *middle])
        low, high = np.quantile([group.mean for row in [*rows, *middle] for group in row.groups], (0.25, 0.75))
        assert max(1, 2) <= low
        assert min(80, 90) >= high
        assert shades == ["very easy", "", "very hard", "", "", "", "", ""]

    def test_what_was_not_tested_is_not_shaded(self) -> None:
        assert shaded([self.row(1, 1, None), self.row(50, 60), self.row(90, 95)])[0] == ""
        assert shaded([self.row(3, 3)]) == [""], "one casino is neither easy nor hard"
        assert shaded([]) == []

    def test_participants_are_not(self) -> None:
        people, casinos = analysed().grids
        assert not any(row.shade for row in people.rows)
        findings = [row.finding for row in casinos.rows]
        assert [row.shade for row in casinos.rows] == shaded(findings)
