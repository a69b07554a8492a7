"""Power: counted right, the same again, and honest about what cannot be simulated."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as reference

from cobandit import stats
from cobandit.analysis import population, power_analysis, read_population, save_power_analyses
from cobandit.analysis import power as module
from cobandit.analysis.plan import AnalysisPlan, Hypothesis, default_plan
from cobandit.analysis.power import checked_sizes
from cobandit.analysis.power_curves import COLUMNS, PowerCurve, PowerPoint, power_rows
from cobandit.analysis.tally import Tally, p_values_of
from cobandit.base.errors import InvalidInput, TooLarge, UnknownName
from cobandit.studies import load_design

BURGER = load_design("burger")
PAIR = ("partner-aware-ucb", "naive-ucb")


def hypothesis(id="H", **changes):
    given = {"id": id, "text": "Less.", "measure": "task_regret", "test": "paired-t", "compares": PAIR} | changes
    return Hypothesis(**given)


def plan_of(*hypotheses, **changes):
    return AnalysisPlan(study="burger", hypotheses=hypotheses, **changes)


def tallied(plan, sizes, differences, measure="task_regret"):
    """The curves of studies whose differences (studies x participants) are given."""
    values = np.stack([differences, np.zeros_like(differences)], axis=2)
    tally = Tally(plan, plan.hypotheses, PAIR, sizes)
    half = len(values) // 2
    tally.add({measure: values[:half]})
    tally.add({measure: values[half:]})
    return tally.curves()


def analytic(d, n, alternative, alpha=0.05):
    """Power of the paired t test of normal differences, from the noncentral t distribution."""
    df, shift = n - 1, d * np.sqrt(n)
    if alternative == "less":
        return reference.nct.cdf(reference.t.ppf(alpha, df), df, shift)
    low, high = reference.t.ppf([alpha / 2, 1 - alpha / 2], df)
    return reference.nct.cdf(low, df, shift) + reference.nct.sf(high, df, shift)


class TestCounting:
    @pytest.mark.parametrize(("d", "sided"), [(-0.5, True), (-0.5, False), (-0.2, False)])
    def test_a_known_effect_has_the_power_of_the_noncentral_t(self, d, sided):
        rng = np.random.default_rng(3)
        sizes = (10, 25, 50)
        one = hypothesis(direction="less", one_sided=sided)
        (curve,) = tallied(plan_of(one), sizes, rng.normal(d, 1.0, (4000, 50)))
        for point in curve.points:
            expected = analytic(d, point.n, one.alternative)
            found = stats.wilson_interval(round(point.power.value * 4000), 4000, 0.999)
            assert found.low <= expected <= found.high
            assert point.effect == pytest.approx(d, abs=0.06)
        assert curve.points[-1].effect_sd == pytest.approx(1 / np.sqrt(50), rel=0.2)

    def test_significant_the_wrong_way_is_no_success(self):
        rng = np.random.default_rng(4)
        (curve,) = tallied(plan_of(hypothesis(direction="less")), (30,), rng.normal(1.0, 1.0, (200, 30)))
        assert curve.points[0].power.value == 0.0
        assert curve.points[0].opposite > 0.99

    def test_holm_is_that_of_the_analysis(self):
        p = np.random.default_rng(5).random((3, 40))
        for study in range(40):
            assert stats.holm_p_values(p, 3)[:, study] == pytest.approx(stats.holm(p[:, study].tolist()))
            padded = stats.holm([*p[:, study].tolist(), 1.0, 1.0])[:3]
            assert stats.holm_p_values(p, 5)[:, study] == pytest.approx(padded)

    def test_a_family_costs_power_and_counts_tests_that_are_left_out(self):
        rng = np.random.default_rng(6)
        differences = rng.normal(-0.4, 1.0, (1000, 40))
        alone = hypothesis("A", direction="less", family="F")
        survey = [hypothesis(f"S{k}", measure="survey:easy", family="F") for k in range(4)]
        values = {"task_regret": np.stack([differences, np.zeros_like(differences)], axis=2)}
        found = []
        for plan in (plan_of(alone), plan_of(alone, *survey)):
            tally = Tally(plan, [alone], PAIR, (40,))
            tally.add(values)
            found.append(tally.curves()[0].points[0])
        assert found[0].corrected.value == found[0].power.value == found[1].power.value  # type: ignore[union-attr]
        p = stats.paired_t_p_values(differences)
        assert found[1].corrected.value == np.mean(5 * p < 0.05)  # type: ignore[union-attr]
        assert found[1].corrected.value < found[0].corrected.value  # type: ignore[union-attr]

    def test_every_test_has_the_p_value_of_the_analysis(self):
        rng = np.random.default_rng(7)
        values = np.round(rng.normal(0.2, 1.0, (12, 15, 3)), 1)
        values[..., 1] = np.where(rng.random((12, 15)) < 0.2, values[..., 0], values[..., 1])
        for alternative in ("less", "two-sided"):
            sided = {"direction": "less", "one_sided": True} if alternative == "less" else {}
            found = p_values_of(hypothesis(test="wilcoxon", **sided), values[..., :2])
            expected = [stats.wilcoxon(v[:, 0], v[:, 1], alternative=alternative).p for v in values]
            assert found == pytest.approx(expected)
        found = p_values_of(hypothesis(test="rm-anova"), values[..., :2])
        assert found == pytest.approx([stats.rm_anova(v[:, :2], ("c",))[0].p for v in values])
        three = hypothesis(test="rm-anova", compares=("a", "b", "c"))
        assert p_values_of(three, values) == pytest.approx([stats.rm_anova(v, ("c",))[0].p for v in values])

    def test_a_second_factor_leaves_the_first_as_it_is(self):
        cells = np.random.default_rng(8).normal(size=(20, 2, 5))
        two_way = stats.rm_anova(cells, ("algorithm", "casino"))[0]
        assert p_values_of(hypothesis(test="rm-anova"), cells.sum(axis=2)[np.newaxis])[0] == pytest.approx(two_way.p)

    def test_people_who_do_not_differ_show_nothing(self):
        for test in ("paired-t", "wilcoxon", "rm-anova"):
            (curve,) = tallied(plan_of(hypothesis(test=test)), (5,), np.zeros((6, 5)))
            assert curve.points[0].power.value == 0.0
            assert curve.points[0].effect is None


class TestSmallest:
    def smallest(self, hits, target=0.8):
        """The smallest size of a curve with these successes of 100."""
        intervals = [stats.wilson_interval(hit, 100) for hit in hits]
        points = [
            PowerPoint(10 * (k + 1), 100, interval, None, 0.0, None, None, None) for k, interval in enumerate(intervals)
        ]
        return PowerCurve(hypothesis(), tuple(points)).smallest(target)

    def test_the_first_that_reaches_it_and_stays(self):
        assert self.smallest([50, 81, 79, 85, 99]).n == 40

    def test_the_interval_spans_what_the_limits_allow(self):
        found = self.smallest([50, 76, 82, 95, 99])
        assert (found.low, found.n, found.high) == (20, 30, 40)
        assert str(found) == "30 (20 to 40)"

    def test_not_reached(self):
        found = self.smallest([10, 20, 30])
        assert found.n is None
        assert str(found) == "not reached by n = 30"
        assert str(self.smallest([10, 20, 82])) == "30 (30 to above 30)"


class TestStudies:
    def test_identical_conditions_give_about_alpha(self):
        first = BURGER.conditions[0]
        twins = tuple(replace(first, name=name) for name in ("one", "other"))
        design = replace(BURGER, conditions=twins)
        plan = AnalysisPlan(study="burger", hypotheses=(hypothesis(compares=("one", "other")),))
        found = power_analysis(design, "softmax", (20,), 800, 1, plan=plan)
        interval = stats.wilson_interval(round(found.curves[0].points[0].power.value * 800), 800, 0.999)
        assert interval.low <= 0.05 <= interval.high
        assert abs(found.curves[0].points[0].effect) < 0.03  # type: ignore[arg-type]

    def test_a_smaller_study_is_the_beginning_of_a_larger_one(self):
        crowd, places = next(module.crowds_of(BURGER, population("softmax"), 12, 5, 3))
        everybody = module.measures_of(crowd, places)
        assert everybody["good"].shape == (5, 12, 2)
        plan = default_plan(BURGER)
        both = power_analysis(BURGER, "softmax", (6, 12), 5, 3)
        tally = Tally(plan, [curve.hypothesis for curve in both.curves], crowd.conditions, (6,))
        tally.add({measure: values[:, :6] for measure, values in everybody.items()})
        assert tally.curves()[0].points[0] == both.curves[0].points[0]

    def test_every_study_is_counterbalanced(self):
        crowd, places = next(module.crowds_of(BURGER, population("softmax"), 7, 3, 3))
        assert crowd.orders[places].tolist() == [[0, 1, 0, 1, 0, 1, 0]] * 3

    @pytest.mark.long
    def test_the_same_numbers_again_whatever_the_threads_and_the_crowds(self, monkeypatch):
        mixture = read_population("softmax:0.5,knowledge-gradient:0.5")
        found = [power_analysis("burger", mixture, (5, 10), 20, 9, threads=threads) for threads in (1, 2)]
        assert found[0].curves == found[1].curves
        assert power_analysis("burger", mixture, (5, 10), 20, 10).curves != found[0].curves
        monkeypatch.setattr(module, "ROUNDS_PER_CROWD", 8000)
        sizes = [len(places) for _, places in module.crowds_of(BURGER, mixture, 10, 25, 9)]
        assert sizes == [10, 10, 5]

    def test_both_engines_agree(self):
        fast, plain = (
            power_analysis("burger", "epsilon-greedy", (4,), 3, 2, engine=engine) for engine in ("fast", "reference")
        )
        assert (fast.engine, plain.engine) == ("fast", "reference")
        assert fast.curves == plain.curves

    def test_what_cannot_be_simulated_is_told(self):
        found = power_analysis("burger", "softmax", (4,), 4)
        assert [curve.hypothesis.id for curve in found.curves] == ["H1-regret", "H1-good"]
        reasons = {one.hypothesis.id: one.reason for one in found.left_out}
        assert set(reasons) == {one.id for one in default_plan(BURGER).hypotheses} - {"H1-regret", "H1-good"}
        assert "answers" in reasons["H2-easy"]
        assert "groups" in reasons["P-regret-naive-ucb"]

    def test_team_regret_and_rows(self):
        plan = plan_of(hypothesis("T", measure="team_regret"), hypothesis("R"))
        found = power_analysis("burger", "softmax", (4, 8), 6, plan=plan)
        factor = BURGER.problem.team_factor
        team, task = (found.curve(id).points[-1].difference for id in ("T", "R"))
        assert team == pytest.approx(factor * task)  # type: ignore[operator]
        rows = list(power_rows([found]))
        assert len(rows) == 4
        assert all(len(row) == len(COLUMNS) for row in rows)

    def test_progress_comes_to_an_end(self):
        seen = []
        power_analysis("burger", "softmax", (5,), 7, progress=lambda done, total: seen.append((done, total)))
        assert seen[-1] == (42, 42)  # rounded up to pairs, so that each study begins with the first order


class TestBehaviours:
    def test_weights_options_and_labels(self):
        found = read_population("softmax(temperature=0.2, memory=4):3, knowledge-gradient:1")
        assert [(member.title, share) for member, share in found.members] == [
            ("softmax", 0.75),
            ("knowledge-gradient", 0.25),
        ]
        assert found.members[0][0].options == {"temperature": 0.2, "memory": 4}
        assert found.label == "softmax(temperature=0.2,memory=4) 75 %, knowledge-gradient 25 %"
        assert read_population("naive-ucb(index=companion)").label == "naive-ucb(index=companion)"
        assert [share for _, share in read_population("softmax,epsilon-greedy").members] == [0.5, 0.5]

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "must be a mixture"),
            ("softmax,", "must be a mixture"),
            ("softmax:", "must be a mixture"),
            ("softmax(temperature=0.2", "must be a mixture"),
            ("softmax:0.5,epsilon-greedy", "1 weights for 2 parts"),
            ("softmax:0", "above 0"),
            ("softmax:-1", "at least 0"),
            ("softmax:much", "finite number"),
            ("softmax(temperature)", "name=value"),
            ("softmax(memory=4,memory=5)", "given twice"),
            ("softmax(memory=0)", "memory"),
            ("softmax(memori=4)", "'memory'"),
            ("soft-max", "'softmax'"),
            ("centralised-ucb", "no behaviour"),
        ],
    )
    def test_mistakes(self, text, says):
        with pytest.raises(InvalidInput, match=says):
            read_population(text)


class TestMistakes:
    @pytest.mark.parametrize(
        ("sizes", "says"),
        [
            ([], "0 entries"),
            ([1, 5], "from 2"),
            ([10, 5], "must ascend"),
            ([5, 5], "must ascend"),
            ([2.5], "integer"),
            (list(range(2, 300)), "298 entries"),
            ("10", "list of numbers"),
        ],
    )
    def test_sizes(self, sizes, says):
        with pytest.raises(InvalidInput, match=says):
            checked_sizes(sizes)

    def test_others(self):
        with pytest.raises(InvalidInput, match=r"simulations must be .*got 0"):
            power_analysis("burger", "softmax", (5,), 0)
        with pytest.raises(TooLarge, match="fewer simulations"):
            power_analysis("casino", "softmax", (100_000,), 1000)
        with pytest.raises(UnknownName, match="burger"):
            power_analysis("burgr", "softmax", (5,), 5)
        with pytest.raises(InvalidInput, match="no test that can be simulated"):
            power_analysis("burger", "softmax", (5,), 5, plan=plan_of(hypothesis(measure="survey:easy")))
        with pytest.raises(InvalidInput, match="for the study 'burger'"):
            power_analysis("casino", "softmax", (5,), 5, plan=plan_of(hypothesis()))


def test_several_analyses_go_into_one_folder(tmp_path):
    analyses = [power_analysis(BURGER, name, [4, 6], 5, seed=1) for name in ("softmax", "naive-ucb")]
    files = save_power_analyses(analyses, tmp_path / "all", command="cobandit study power burger")
    assert [file.name for file in files] == ["power.csv", "power.json"]
    rows = files[0].read_text().splitlines()
    assert rows[0] == ",".join(COLUMNS)
    assert len(rows) - 1 == sum(len(analysis.sizes) * len(analysis.curves) for analysis in analyses)
    stored = json.loads(files[1].read_text())
    assert list(stored) == ["command", "simulated", "analyses"]
    assert stored["analyses"] == [json.loads(json.dumps(analysis.to_dict())) for analysis in analyses]
    alone = json.loads(analyses[0].save(tmp_path / "one")[1].read_text())
    assert list(alone) == ["simulated", "analyses"]
    assert alone["analyses"] == stored["analyses"][:1]
