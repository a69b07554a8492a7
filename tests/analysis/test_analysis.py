"""The analysis of a study: the same numbers as computed directly, the same from memory and files, and fit to print."""

import json
import re
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy import stats as scipy_stats

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import pandas as pd
    import pingouin as pg

from cobandit.analysis import analyse, analyse_data, default_plan, measures, plan_toml, preregistration
from cobandit.analysis.analysis import COLUMNS
from cobandit.analysis.findings import mark
from cobandit.analysis.hypotheses import _result_of
from cobandit.analysis.words import apa_number, condition_label, p_value, share, statistic
from cobandit.base.numbers import count
from cobandit.studies import ParticipantPlan, load_design, read_export, rehearse, rehearsed_data, tables, write_export

BURGER, CASINO = load_design("burger"), load_design("casino")
assert CASINO.practice is not None
SHORT = replace(CASINO, rounds=60, episodes=5, practice=replace(CASINO.practice, rounds=4))
NAIVE, AWARE = "naive-ucb", "partner-aware-ucb"


def opinion(rng, plan, place, item):
    """Answers that prefer the partner-aware AI, and that hang together."""
    liking = (1 if plan.conditions[place] == AWARE else 0) + plan.seed % 3 + int(rng.random() * 2)
    against = item in ("insisting", "annoying", "alone")
    return 5 - liking if against else 1 + liking


@cache
def burger(n=20):
    return rehearsed_data(BURGER, [("epsilon-greedy", seed, seed % 2) for seed in range(n)], answers=opinion)


@cache
def casino(n=9):
    return rehearsed_data(SHORT, [("knowledge-gradient", seed, seed % 2) for seed in range(n)], answers=opinion)


@cache
def analysed(which):
    return analyse_data({"burger": burger, "casino": casino}[which]())


def by_hand(data, behaviour):
    """Regret and good outcomes of every participant, condition and episode, from the episodes themselves."""
    design = data.design
    names = [condition.name for condition in design.conditions]
    regret = np.full((len(data.participants), len(names), design.episodes), np.nan)
    good = regret.copy()
    for i, person in enumerate(data.participants):
        for episode in rehearse(design, behaviour, person.seed, person.order):
            if episode.plan.practice:
                continue
            means = ParticipantPlan(design, person.seed, person.order).episode(episode.plan.index).means
            cell = (i, names.index(episode.plan.condition), episode.plan.number)
            regret[cell] = sum(means.max() - means[made.arms[0], made.arms[1]] for made in episode.rounds)
            good[cell] = sum(made.reward for made in episode.rounds)
    return regret, good


class TestMeasures:
    @pytest.mark.parametrize(("which", "behaviour"), [("burger", "epsilon-greedy"), ("casino", "knowledge-gradient")])
    def test_are_those_of_the_episodes(self, which, behaviour):
        data = {"burger": burger, "casino": casino}[which]()
        found = analysed(which).measures
        regret, good = by_hand(data, behaviour)
        np.testing.assert_allclose(found.task_regret, regret, rtol=1e-12)
        np.testing.assert_allclose(found.good, good)
        np.testing.assert_allclose(found.team_regret, regret * data.design.problem.team_factor, rtol=1e-12)
        np.testing.assert_allclose(found.curves[..., -1], regret, rtol=1e-12)
        assert found.points[-1] == data.design.rounds
        assert np.all(np.diff(found.curves, axis=-1) >= -1e-12)

    def test_survey(self):
        data, found = burger(), analysed("burger").measures
        for i, person in enumerate(data.participants):
            order = BURGER.orders[person.order]
            assert found.orders[i] == order
            for place, condition in enumerate(order):
                given = person.answers[f"survey-{place + 1}"].values
                c = found.conditions.index(condition)
                assert found.survey[i, c].tolist() == [given[item] for item in found.items]
                turned = [6 - given[item.id] if item.reversed else given[item.id] for item in BURGER.survey.items]
                assert found.score[i, c] == pytest.approx(np.mean(turned))

    def test_by_set_follows_the_order(self):
        found = analysed("burger").measures
        sets = found.by_set(found.totals("task_regret"))
        for i, order in enumerate(found.orders):
            assert sets[i, 0] == found.task_regret[i, found.column(order[0]), 0]

    def test_a_long_episode_has_a_thinned_curve(self):
        design = replace(BURGER, rounds=1000, warm_start=None)
        found = analyse_data(rehearsed_data(design, [("softmax", 1, 0)])).measures
        assert len(found.points) == 250
        assert (found.points[0], found.points[-1]) == (1, 1000)
        np.testing.assert_allclose(found.curves[..., -1], found.task_regret)

    def test_the_first_arm_under_both_labels(self):
        data, found = burger(), analysed("burger").measures
        person, c = data.participants[0], found.conditions
        order = BURGER.orders[person.order]
        shares = [np.mean(person.episodes[k].arms[:, 0] == k) for k in (0, 1)]  # swapped in the second set: arm 1
        assert found.first_arm[0, c.index(order[0])] == pytest.approx(shares[0])
        assert found.first_arm[0, c.index(order[1])] == pytest.approx(shares[1])


class TestNumbers:
    """Against SciPy and pingouin, from the arrays alone."""

    @pytest.mark.parametrize("which", ["burger", "casino"])
    @pytest.mark.parametrize("measure", ["task_regret", "good"])
    def test_paired_tests(self, which, measure):
        found = analysed(which)
        values = found.measures.totals(measure)
        x, y = values[:, 1], values[:, 0]
        name = {"burger": "H1", "casino": "H3"}[which]
        row = found.result(f"{name}-{'regret' if measure == 'task_regret' else 'good'}").finding
        expected = scipy_stats.ttest_rel(x, y)
        assert row.statistic == pytest.approx(expected.statistic)
        assert row.p == pytest.approx(expected.pvalue)
        assert row.effect == pytest.approx((x - y).mean() / (x - y).std(ddof=1))
        assert row.estimate == pytest.approx((x - y).mean())
        assert [group.mean for group in row.groups] == pytest.approx([x.mean(), y.mean()])
        assert [group.se for group in row.groups] == pytest.approx([scipy_stats.sem(x), scipy_stats.sem(y)])

    @pytest.mark.filterwarnings("ignore")
    def test_wilcoxon(self):
        found = analysed("casino")
        values = found.measures.totals("task_regret")
        expected = scipy_stats.wilcoxon(values[:, 1], values[:, 0], zero_method="pratt", method="exact")
        assert found.result("H3-regret/wilcoxon").finding.p == pytest.approx(expected.pvalue)

    @pytest.mark.filterwarnings("ignore")
    def test_analysis_of_variance(self):
        found = analysed("casino")
        cells = found.measures.task_regret
        rows = [
            {"who": p, "algorithm": c, "casino": e, "regret": cells[p, c, e]}
            for p in range(cells.shape[0])
            for c in range(cells.shape[1])
            for e in range(cells.shape[2])
        ]
        table = pg.rm_anova(
            data=pd.DataFrame(rows), dv="regret", within=["algorithm", "casino"], subject="who", effsize="ng2"
        )
        ids = ("H3-anova", "H3-anova/casino", "H3-anova/algorithm-x-casino")
        for id, (_, expected) in zip(ids, table.iterrows(), strict=True):
            row = found.result(id).finding
            assert row.statistic == pytest.approx(expected["F"])
            assert row.effect == pytest.approx(expected["ng2"])
            assert row.more["p_uncorrected"] == pytest.approx(expected.get("p_unc", expected.get("p-unc")))
        # With two algorithms the effect is the paired t test of the totals.
        assert found.result("H3-anova").finding.p == pytest.approx(found.result("H3-regret").finding.p)

    def test_populations(self):
        found = analysed("burger")
        # Made-up answers of a rule are drawn, so both kinds of people are there.
        given = np.array(found.measures.group("ai_researcher"))
        values = found.measures.totals("task_regret")
        for c, condition in enumerate(found.measures.conditions):
            row = found.result(f"P-regret-{condition}").finding
            expected = scipy_stats.ttest_ind(values[given == "Yes", c], values[given == "No", c], equal_var=False)
            assert row.statistic == pytest.approx(expected.statistic)
            assert row.p == pytest.approx(expected.pvalue)
        level = scipy_stats.ttest_ind(
            values[given == "Yes"].mean(axis=1), values[given == "No"].mean(axis=1), equal_var=False
        )
        assert found.result("population/level").finding.p == pytest.approx(level.pvalue)
        gain = values[:, 0] - values[:, 1]
        expected = scipy_stats.ttest_ind(gain[given == "Yes"], gain[given == "No"], equal_var=False)
        assert found.result("population/gain").finding.p == pytest.approx(expected.pvalue)

    def test_reliability(self):
        found = analysed("burger")
        answers = found.measures.survey.copy()
        flipped = np.array(found.measures.reversed)
        answers[..., flipped] = 6 - answers[..., flipped]
        for c, condition in enumerate(found.measures.conditions):
            alpha, interval = pg.cronbach_alpha(pd.DataFrame(answers[:, c]))
            row = found.result(f"reliability/{condition}").finding
            assert row.statistic == pytest.approx(alpha)
            assert (row.low, row.high) == pytest.approx(tuple(interval), abs=6e-4)
        alpha, _ = pg.cronbach_alpha(pd.DataFrame(answers.reshape(-1, 5)))
        assert found.result("reliability/all").finding.statistic == pytest.approx(alpha)

    def test_holm_within_each_family(self):
        found = analysed("burger")
        rows = [row for row in found.results if row.family == "H2"]
        assert len(rows) == 5
        raw = [row.finding.p for row in rows]
        _, expected = pg.multicomp(raw, method="holm")
        assert [row.finding.p_adjusted for row in rows] == pytest.approx(expected)
        assert all(row.mark == mark(row.finding.p) for row in rows), (
            "the asterisks of the paper are of uncorrected p-values"
        )

    def test_grids(self):
        found = analysed("casino")
        people, casinos = found.grids
        assert (people.by, casinos.by) == ("participant", "casino")
        assert (len(people.rows), len(casinos.rows)) == (9, 5)
        cells = found.measures.task_regret
        for i, row in enumerate(people.rows):
            expected = scipy_stats.ttest_rel(cells[i, 1], cells[i, 0])
            assert row.finding.p == pytest.approx(expected.pvalue)
            assert row.lower == (cells[i, 1].sum() < cells[i, 0].sum())
        p_values = [scipy_stats.ttest_rel(cells[:, 1, e], cells[:, 0, e]).pvalue for e in range(5)]
        lower = cells[:, 1].mean(axis=0) < cells[:, 0].mean(axis=0)
        assert casinos.lower == lower.sum()
        assert casinos.significant == sum(p < 0.05 for p, less in zip(p_values, lower, strict=True) if less)
        assert casinos.strong == sum(p < 0.005 for p, less in zip(p_values, lower, strict=True) if less)
        assert casinos.opposed == sum(p < 0.05 for p, less in zip(p_values, lower, strict=True) if not less)

    def test_labels(self):
        found = analysed("burger")
        shares = found.measures.by_set(found.measures.first_arm)
        expected = scipy_stats.ttest_rel(shares[:, 0], shares[:, 1])
        assert found.result("order/labels").finding.p == pytest.approx(expected.pvalue)

    def test_order_and_mixed_model_agree_on_the_condition(self):
        found = analysed("burger")
        order = found.result("order/task_regret/condition").finding
        mixed = found.result("mixed/task_regret/condition").finding
        assert order.estimate == pytest.approx(mixed.estimate)


class TestVerdicts:
    def verdict(self, **changes):
        (asked,) = [one for one in default_plan(SHORT).hypotheses if one.id == "H3-regret"]
        plan = replace(default_plan(SHORT), hypotheses=(replace(asked, family="", **changes),))
        row = analyse_data(casino(), plan=plan).result("H3-regret")
        return row.verdict, row.reason

    def test_supported(self):
        assert self.verdict() == ("supported", "")
        assert self.verdict(direction="two-sided") == ("supported", "")
        assert self.verdict(one_sided=True) == ("supported", "")

    def test_the_other_way(self):
        assert self.verdict(direction="greater") == (
            "not supported", "The difference is significant, but it points the other way.",
        )  # fmt: skip
        assert self.verdict(direction="greater", one_sided=True) == ("not supported", "")
        assert self.verdict(compares=(NAIVE, AWARE))[0] == "not supported"

    def test_by_ranks(self):
        assert self.verdict(test="wilcoxon") == ("supported", "")

    def test_lost_by_the_correction(self):
        found = analysed("burger")
        row = found.result("H1-regret")
        weak = replace(row.finding, p=0.03, p_adjusted=0.06)
        hypothesis = default_plan(BURGER).hypotheses[0]
        judged = _result_of(hypothesis, True, weak, 0.05)
        assert (judged.verdict, judged.mark) == ("not supported", "")
        assert judged.reason == "Holm's correction takes the significance away."


class TestPlaces:
    """The same analysis from memory and from files."""

    @pytest.mark.parametrize("format", ["csv", "parquet"])
    @pytest.mark.parametrize("which", ["burger", "casino"])
    def test_an_export(self, which, format, tmp_path):
        data = {"burger": burger, "casino": casino}[which]()
        plan = plan_toml(default_plan(data.design))
        stored = replace(data, plan=plan, about={"plan_fixed_at": None})
        write_export(stored, tmp_path / "out", format, recruiting=format == "csv")
        design, found, about = read_export(tmp_path / "out")
        assert analyse(design, found, about).to_dict() == analyse_data(stored).to_dict()

    def test_practice_does_not_count(self):
        with_practice = analyse(SHORT, tables(casino()))
        assert with_practice.to_dict() == analyse(SHORT, tables(casino(), practice=False)).to_dict()


class TestOutput:
    @pytest.mark.parametrize("which", ["burger", "casino"])
    def test_json_is_strict(self, which):
        text = json.dumps(analysed(which).to_dict(), allow_nan=False)
        assert json.loads(text)["simulated"] is True

    def test_rows_are_flat(self):
        found = analysed("casino")
        rows = found.rows()
        assert len(rows) == len(found.results) + 9 + 5
        assert all(tuple(row) == COLUMNS for row in rows)
        assert len({row["id"] for row in rows}) == len(rows)
        row = rows[0]
        finding = found.results[0].finding
        assert row["id"] == "H3-regret"
        assert (row["statistic"], row["p"], row["n"], row["effect"]) == (
            finding.statistic, finding.p, finding.n, finding.effect,
        )  # fmt: skip
        assert row["mean_1"] == finding.groups[0].mean
        assert row["compares"] == "partner-aware-ucb - naive-ucb"
        assert row["df"] == "8"

    def test_described(self):
        found = analysed("burger")
        (entry,) = [one for one in found.described if (one.measure, one.condition, one.question) == ("good", AWARE, "")]
        values = found.measures.totals("good")[:, 1]
        assert entry.description.mean == pytest.approx(values.mean())
        split = [one for one in found.described if one.question and one.condition == NAIVE]
        assert [one.answer for one in split] == ["Yes", "No"]
        assert sum(one.description.n for one in split) == 20


class TestWords:
    @pytest.mark.parametrize(
        ("p", "text"),
        [(0.0, "p < .001"), (0.0009, "p < .001"), (0.001, "p = .001"), (0.0496, "p = .050"), (0.5, "p = .500"),
         (1.0, "p > .999")],
    )  # fmt: skip
    def test_p_values(self, p, text):
        assert p_value(p) == text

    def test_numbers(self):
        assert apa_number(-0.001) == "0.00"
        assert apa_number(18825.84) == "18,825.8"
        assert share(0.954) == ".95"
        assert share(-0.14) == "-.14"
        assert share(1.0) == "1.00"
        assert share(-1.5) == "-1.50"
        assert share(10.52) == "10.52"
        assert count(1, "casino") == "1 casino"
        assert count(1200, "casino") == "1,200 casinos"

    def test_labels(self):
        assert condition_label(BURGER, AWARE) == "Partner-Aware UCB"
        renamed = replace(BURGER, conditions=(replace(BURGER.conditions[0], name="optimal"), BURGER.conditions[1]))
        assert condition_label(renamed, "optimal") == "optimal"

    @pytest.mark.parametrize("which", ["burger", "casino"])
    def test_simulated_participants_are_called_so_in_every_paragraph(self, which):
        found = analysed(which)
        for title, text in (*found.methods_parts, *found.results_parts):
            assert "simulated" in text, title
            # Apart from the partner of the warm start, who is simulated in a real study too.
            assert "simulated" in text.replace("a simulated partner", ""), title

    def test_real_participants_are_not(self):
        data = burger()
        real = replace(data, participants=tuple(replace(person, kind="real") for person in data.participants))
        found = analyse_data(real)
        assert not found.simulated
        text = (found.methods + found.results_text).replace("a simulated partner", "")
        assert "simulated" not in text
        assert re.search(r"'How old are you\?' M = \d+\.\d\d, SD = \d+\.\d\d, range \d+ to \d+", found.methods)
        assert re.search(r"'Do you do research on artificial intelligence\?' \d+ 'Yes', \d+ 'No'", found.methods)

    def test_degrees_of_freedom_are_rounded_half_away_from_zero(self):
        finding = replace(analysed("burger").result("H1-regret").finding, df=(2.125, 1024.0))
        assert statistic(finding).startswith("t(2.13, 1024) = ")

    def test_prose_names_questions_by_their_text(self):
        data = burger()
        silent = replace(data.participants[0], answers={})
        real = [replace(person, kind="real") for person in (silent, *data.participants[1:])]
        found = analyse_data(replace(data, participants=tuple(real)))
        questions = " ".join(f"{row.question} {row.finding.note}" for row in found.results)
        prose = " ".join(
            (found.methods, found.results_text, questions, preregistration(BURGER, default_plan(BURGER), "osf"))
        )
        assert "those who answered 'Yes'" in prose
        assert "1 of 20 did not answer 'Do you do research on artificial intelligence?'." in prose
        for question in BURGER.demographics:
            assert f"{question.id}:" not in prose
            assert f"{question.id!r}" not in prose
        assert "ai_researcher" not in prose.replace("group = ai_researcher", "")

    def test_the_sentence_has_the_numbers(self):
        found = analysed("casino")
        row = found.result("H3-regret").finding
        one, other = row.groups
        expected = (
            f"Task regret was lower with Partner-Aware UCB (M = {one.mean:.2f}, SD = {one.sd:.2f}) than with Naive UCB "
            f"(M = {other.mean:.2f}, SD = {other.sd:.2f}), t(8) = {row.statistic:.2f}, {p_value(row.p)}, "
            f"Holm-corrected {p_value(row.p_adjusted)}, d_z = {row.effect:.2f}, 95% CI [{row.low:.2f}, {row.high:.2f}]"
        )
        assert expected in found.results_text

    def test_methods_tell_the_design(self):
        text = analysed("casino").methods
        for part in (
            "5 casinos of 60 rounds each",
            "Partner-Aware UCB (exploration 0.01, repeat 1, window 5)",
            "saw 100% and the AI 40% of the good outcomes",
            "drawn at random",
            "once for the whole study",
            "1 practice casino of 4 rounds with Very Naive UCB",
            "2 attention checks",
            "insisting, annoying and alone speak against the AI",
        ):
            assert part in text
        text = analysed("burger").methods
        assert "20 rounds with each of 2 AI algorithms" in text
        assert "labels of both agents' arms were reversed" in text
        assert "the AI had played 20 rounds with a simulated partner (Naive UCB)" in text

    def test_a_team_of_three_with_the_participant_in_the_middle(self):
        shipped = load_design("three-seats")
        own, ada, bo = shipped.seats
        seats = (ada, own, bo)
        task = replace(shipped.task, arms=tuple(seat.arms for seat in seats))
        design = replace(shipped, seats=seats, task=task, observability=tuple(seat.observability for seat in seats))
        data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(4)])
        found = analyse_data(data)
        for part in (
            "the participant (Vanilla or Chocolate), the AI Topping (Nuts or Wafers) and the AI Sauce",
            "The participant saw 100%, the AI Topping 80% and the AI Sauce 50% of the good outcomes",
            "the labels of all arms were reversed",
            "weighs it by what all members of the team observe",
        ):
            assert part in found.methods
        assert "labelled 'Vanilla'" in found.result("order/labels").question
        long = tables(data)["long"]
        mine = (long["participant"] == found.measures.participants[0]) & (
            long["condition"] == design.conditions[0].name
        )
        assert found.measures.task_regret[0, 0].sum() == pytest.approx(long["round_regret"][mine].sum())
        first = np.where(long["swapped"][mine], design.arms[1] - 1, 0)
        assert found.measures.first_arm[0, 0] == pytest.approx((long["arm_1"][mine] == first).mean())

    @pytest.mark.parametrize(
        ("observation", "said"), [("missed-known", "and knew when not"), ("flipped", "otherwise a good one")]
    )
    def test_other_observations(self, observation, said):
        design = replace(BURGER, observation=observation)
        data = rehearsed_data(design, [("softmax", seed, seed % 2) for seed in range(3)])
        assert said in analyse_data(data).methods

    def test_marks(self):
        assert [mark(p) for p in (None, 0.05, 0.049, 0.005, 0.0049)] == ["", "", "*", "*", "**"]


def test_measures_take_the_tables_alone():
    found = measures(BURGER, tables(burger()))
    assert len(found) == 20
    assert found.flow.analysed == found.flow.began == 20
    assert not found.excluded
    assert not found.gaps
    assert not found.notes
