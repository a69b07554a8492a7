"""The rehearsal of the paper's studies: right numbers beside the right numbers."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit import stats
from cobandit.analysis import PUBLISHED, calibrate
from cobandit.analysis import calibration as module
from cobandit.analysis.calibration import calibration_rows
from cobandit.analysis.calibration_designs import with_bank, with_casinos, with_index
from cobandit.analysis.published import CASINO_LUCK, PEOPLE
from cobandit.base.errors import InvalidInput, TooLarge, UnknownName
from cobandit.studies import load_design
from cobandit.studies.crowd import simulate_participants


@pytest.fixture(scope="module")
def burger():
    return calibrate(["burger"], 40, seed=1)


def published(study):
    return {one.id: one for one in PUBLISHED[study]}


class TestPublished:
    def test_the_numbers_are_those_of_the_paper(self):
        burger, casino = published("burger"), published("casino")
        assert [(burger[k].value, burger[k].se) for k in ("regret-aware", "regret-naive")] == [(2.7, 0.31), (3.6, 0.31)]
        assert [(burger[k].value, burger[k].se) for k in ("good-aware", "good-naive")] == [(13.5, 0.6), (12.7, 0.6)]
        assert [(burger[f"{who}-{ai}"].value, burger[f"{who}-{ai}"].se) for who in ("researchers", "others")
                for ai in ("aware", "naive")] == [(1.8, 0.47), (2.8, 0.58), (3.1, 0.39), (4.1, 0.35)]  # fmt: skip
        assert (casino["coins-aware"].value, casino["coins-aware"].se) == (18_825.8, 39.3)
        assert (casino["coins-naive"].value, casino["coins-naive"].se) == (17_717.2, 235.0)
        counts = ("participants-lower", "participants-significant", "casinos-lower", "casinos-significant")
        assert [casino[k].value for k in counts] == [23, 14, 21, 16]
        assert PEOPLE == {"burger": 58, "casino": 24, "casino-bank": 24}  # the bank is rehearsed with as many

    def test_differences_follow_from_the_means(self):
        for study, name in (("burger", "regret"), ("burger", "good"), ("casino", "coins")):
            found = published(study)
            expected = found[f"{name}-aware"].value - found[f"{name}-naive"].value
            assert found[f"{name}-difference"].value == pytest.approx(expected)
            assert found[f"{name}-difference"].computed

    def test_answers_and_groups_are_marked_as_not_simulated(self):
        assert {one.id for one in PUBLISHED["burger"] if not one.simulated} == {
            "alpha",
            "researchers-aware",
            "researchers-naive",
            "others-aware",
            "others-naive",
        }
        assert {one.id for one in PUBLISHED["casino"] if not one.simulated} == {"alpha", "survey-p"}

    def test_the_luck_of_the_casinos(self):
        draws = np.random.default_rng(0).random((20_000, 25, 4)).max(axis=2).sum(axis=1) * 1000
        assert draws.std() == pytest.approx(CASINO_LUCK, rel=0.03)


class TestComparison:
    def test_how_far_off(self):
        row = module._compared(published("burger")["regret-aware"], np.array([3.0, 3.2, 3.4, 2.6]))
        assert row.mean == pytest.approx(3.05)
        assert row.difference == pytest.approx(0.35)
        assert row.ratio == pytest.approx(3.05 / 2.7)
        assert row.off == pytest.approx(0.35 / 0.31)
        assert row.below == 0.25
        assert not row.contradicts

    def test_the_other_direction_is_told(self):
        one = published("burger")["regret-difference"]
        assert module._compared(one, np.array([0.4, 0.6])).contradicts
        assert not module._compared(one, np.array([-0.4, -0.6])).contradicts

    def test_the_counts_of_the_casino_study(self):
        rng = np.random.default_rng(2)
        regret = rng.normal(100.0, 10.0, (2, 24, 2, 25))
        regret[0, :20, 0] -= 40.0  # in the first study 20 of 24 do much better
        good = rng.normal(700.0, 5.0, (2, 24, 2, 25))
        found = module._statistics("casino", regret, good)
        each = regret[:, :, 0] - regret[:, :, 1]
        lower = [sum(each[s, i].mean() < 0 for i in range(24)) for s in range(2)]
        assert found["participants-lower"].tolist() == lower
        significant = [
            sum(each[s, i].mean() < 0 and stats.paired_t(regret[s, i, 0], regret[s, i, 1]).p < 0.05 for i in range(24))
            for s in range(2)
        ]
        assert found["participants-significant"].tolist() == significant
        assert significant[0] >= 20
        casinos = [
            sum(
                each[s, :, k].mean() < 0 and stats.paired_t(regret[s, :, 0, k], regret[s, :, 1, k]).p < 0.05
                for k in range(25)
            )
            for s in range(2)
        ]
        assert found["casinos-significant"].tolist() == casinos
        p = [stats.rm_anova(study, ("algorithm", "casino"))[0].p for study in regret]
        assert found["anova-p"].tolist() == [p[s] < 0.005 and each[s].mean() < 0 for s in range(2)]
        assert found["coins-naive-se"][1] == pytest.approx(good[1, :, 1].sum(axis=1).std(ddof=1) / np.sqrt(24))


class TestRehearsal:
    @pytest.mark.long
    def test_every_population_with_both_indices(self, burger):
        made = [(one.index, one.population.label) for one in burger.rehearsals]
        assert made == [(index, label) for index in ("paper", "companion") for label in module.POPULATIONS]
        assert [one.distance for one in burger.of("burger")] == sorted(one.distance for one in burger.rehearsals)

    def test_numbers_are_those_of_a_crowd(self, burger):
        crowd = simulate_participants(
            with_index(load_design("burger"), "paper"), "softmax", 40 * 58, module.crowd_seed(1, 0)
        )
        one = next(one for one in burger.rehearsals if one.population.label == "softmax" and one.index == "paper")
        aware, naive = (crowd.conditions.index(name) for name in (module.AWARE, module.NAIVE))
        assert one.row("regret-aware").mean == pytest.approx(crowd.task_regret[:, aware].mean())
        assert one.row("good-naive").mean == pytest.approx(crowd.good[:, naive].mean())

    def test_a_mixture_lies_between_its_parts(self, burger):
        found = {
            one.population.label: one.row("regret-naive").mean for one in burger.rehearsals if one.index == "paper"
        }
        assert found["softmax"] < found["softmax and knowledge gradient"] < found["knowledge-gradient"]
        half = (found["softmax"] + found["knowledge-gradient"]) / 2
        assert found["softmax and knowledge gradient"] == pytest.approx(half, rel=0.05)

    def test_a_result_against_the_paper_is_shown_as_such(self, burger):
        found = [one for one in burger.rehearsals if one.contradicts]
        assert "win-stay-lose-shift" in {one.population.label for one in found}
        assert all(any(row.contradicts for row in one.rows) for one in found)

    def test_the_same_again_whatever_the_threads(self, burger):
        again = calibrate(["burger"], 40, seed=1, threads=1)
        assert again.to_dict()["rehearsals"] == burger.to_dict()["rehearsals"]

    def test_rows(self, burger):
        rows = list(calibration_rows(burger))
        simulated = sum(one.simulated for one in PUBLISHED["burger"])
        assert len(rows) == 2 * len(module.POPULATIONS) * simulated
        assert all(len(row) == len(module.COLUMNS) for row in rows)

    def test_casinos_are_drawn_anew_for_each_study_and_shared_by_the_indices(self):
        design = load_design("casino")
        first, second = (with_casinos(design, 0, study).means.values for study in (0, 1))
        assert len(first) == 25
        assert first != second
        assert with_casinos(with_index(design, "companion"), 0, 0).means.values == first

    def test_the_index_of_every_robot_changes(self):
        found = with_index(load_design("burger"), "companion")
        assert {choice.make().options["index"] for choice in (*found.conditions, found.warm_start)} == {"companion"}
        assert with_index(load_design("burger"), "paper").digest != found.digest

    def test_a_small_casino(self):
        found = calibrate(["casino"], 2, 2, indices=["paper"])
        ids = [row.published.id for row in found.rehearsals[0].rows]
        assert "participants-lower" not in ids  # of 24, not of 2
        assert "casinos-lower" in ids
        assert 10_000 < found.rehearsals[0].row("coins-aware").mean < 25_000

    def test_the_bank_is_a_third_condition_with_the_same_luck(self, monkeypatch):
        monkeypatch.setattr(module, "BEHAVIOURS", ("softmax",))
        monkeypatch.setattr(module, "POPULATIONS", {"softmax": (("softmax", 1.0),)})
        (rehearsal,) = calibrate(["casino-bank"], 2, 2, indices=["paper"]).rehearsals
        coins = []
        for study in range(2):
            design = with_casinos(with_bank(with_index(load_design("casino"), "paper")), 0, study)
            played = simulate_participants(design, "softmax", 6, module.crowd_seed(0, study))  # each order once
            coins.append(played.good[:2].sum(axis=2).mean(axis=0))
        means = dict(zip(played.conditions, np.mean(coins, axis=0), strict=True))
        assert rehearsal.row("coins-aware").mean == pytest.approx(means[module.AWARE])
        assert rehearsal.row("coins-bank").mean == pytest.approx(means["bank"])
        assert rehearsal.row("bank-difference").mean == pytest.approx(means["bank"] - means[module.AWARE])
        assert rehearsal.row("bank-p").is_share
        assert not any(row.contradicts for row in rehearsal.rows if row.published.claim)
        assert np.isfinite(rehearsal.distance)

    def test_mistakes(self):
        with pytest.raises(UnknownName, match="burger"):
            calibrate(["burgr"])
        with pytest.raises(InvalidInput, match="No study"):
            calibrate([])
        with pytest.raises(InvalidInput, match=r"simulations must be .*got 1"):
            calibrate(["burger"], 1)
        with pytest.raises(InvalidInput, match=r"participants must be .*got 0"):
            calibrate(["burger"], 5, 0)
        with pytest.raises(TooLarge):
            calibrate(["casino"], 100_000, 10_000)
