"""Factors within and between subjects: cells, assignment, quotas, plans, crowds, exports and refusals."""

import itertools
from collections import Counter

import numpy as np
import pytest

from cobandit import InvalidInput
from cobandit.studies import Places, StudyDesign, load_design, next_order, rehearse, tables, verify_episode
from cobandit.studies.assignment import cells_are_full, taken_by_cell
from cobandit.studies.cells import order_cycle
from cobandit.studies.crowd import simulate_participants
from cobandit.studies.export import schema
from cobandit.studies.export.statistics import r_script
from cobandit.studies.journey import journey
from cobandit.studies.plan import ParticipantPlan
from tests.cell_designs import between_casino, mixed_burger, rehearsed

MIXED, BETWEEN = mixed_burger(), between_casino()


class TestCells:
    def test_of_a_mixed_design(self):
        assert MIXED.cells == {"half": ("naive-half", "aware-half"), "all": ("naive-all", "aware-all")}
        assert MIXED.sets == 2
        assert MIXED.orders == (
            ("naive-half", "aware-half"), ("aware-half", "naive-half"),
            ("naive-all", "aware-all"), ("aware-all", "naive-all"),
        )  # fmt: skip
        assert [MIXED.cell_of(order) for order in range(4)] == ["half", "half", "all", "all"]
        assert MIXED.same_people("naive-half", "aware-half")
        assert not MIXED.same_people("naive-half", "naive-all")

    def test_a_condition_is_a_level_of_the_only_factor(self):
        assert list(BETWEEN.cells) == ["naive-ucb", "partner-aware-ucb", "very-naive-ucb"]
        assert BETWEEN.sets == 1
        assert BETWEEN.levels["naive-ucb"] == {"algorithm": "naive-ucb"}

    @pytest.mark.parametrize("name", ["burger", "casino", "burger-pair", "three-seats"])
    def test_shipped_designs_have_one(self, name):
        design = load_design(name)
        assert list(design.cells) == [""]
        assert design.sets == len(design.conditions)
        assert design.orders == tuple(itertools.permutations(c.name for c in design.conditions))
        assert order_cycle(design) == tuple(range(len(design.orders)))

    def test_it_is_the_same_from_its_own_text(self):
        assert StudyDesign.from_dict(MIXED.to_dict()) == MIXED
        assert MIXED.digest != mixed_burger(quotas={"half": 3, "all": 3}).digest

    def test_the_journey_has_the_sets_of_one_cell(self):
        steps = [step.kind for step in journey(MIXED).steps]
        assert steps.count("survey") == 2
        assert [step.kind for step in journey(BETWEEN).steps].count("survey") == 1


def first_levels(levels):
    conditions = MIXED.to_dict()["conditions"]
    conditions[0] = conditions[0] | {"levels": levels}
    return {"conditions": conditions}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factors": [{"name": "sight", "assignment": "betwen"}]}, "Did you mean 'between'"),
        (first_levels({"algorithm": "naive"}), "levels of the condition 'naive-half' must have 'sight', got none"),
        (first_levels({"algorithm": "naive", "sigt": "half"}), "Did you mean 'sight'"),
        (first_levels({"algorithm": "aware", "sight": "half"}), "must differ from those of 'naive-half'"),
        (first_levels({"algorithm": "other", "sight": "half"}), "The cell 'all' must have the same levels"),
        ({"factors": [{"name": "algorithm"}, {"name": "sight"}], "quotas": {"half": 2}}, "quotas must be left out"),
        ({"factors": []}, "levels of the condition 'naive-half' must be left out"),
        ({"quotas": {"half": 2}}, "quotas must have a number for each cell, got none for all"),
        ({"quotas": {"half": 2, "al": 3}}, "Did you mean 'all'"),
        ({"quotas": {"half": 0, "all": 3}}, "at least 1|1 to"),
    ],
)
def test_mistakes(changes, message):
    with pytest.raises(InvalidInput, match=message):
        mixed_burger(**changes)


def test_observability_needs_every_seat():
    conditions = MIXED.to_dict()["conditions"]
    conditions[0]["observability"] = [1.0]
    with pytest.raises(InvalidInput, match="observability of the condition 'naive-half' must have 2 parts"):
        mixed_burger(conditions=conditions)


class TestAssignment:
    @pytest.mark.parametrize("design", [MIXED, BETWEEN, between_casino(order="counterbalanced")])
    def test_cells_fill_evenly(self, design):
        places = Places.empty(design)
        for arrival in range(31):
            places = places.arrive(next_order(design, places, 7, arrival))
            counts = taken_by_cell(design, places).values()
            assert max(counts) - min(counts) <= 1
        if design is MIXED:
            assert max(places.taken) - min(places.taken) <= 1

    def test_active_people_count_and_the_draw_is_the_same_again(self):
        finished = Places((3, 3, 3, 2))
        assert MIXED.cell_of(next_order(MIXED, finished, 1, 4)) == "all"
        active = Places((3, 3, 3, 2), (0, 0, 1, 1))
        assert MIXED.cell_of(next_order(MIXED, active, 1, 4)) == "half"
        assert {next_order(MIXED, active, 1, 4) for _ in range(5)} == {next_order(MIXED, active, 1, 4)}

    def test_ties_are_drawn(self):
        drawn = Counter(MIXED.cell_of(next_order(MIXED, Places.empty(MIXED), seed, 0)) for seed in range(200))
        assert 60 < drawn["half"] < 140

    def test_quotas_are_proportions_until_they_are_reached(self):
        design = mixed_burger(quotas={"half": 8, "all": 4})
        places = Places.empty(design)
        for arrival in range(12):
            assert not cells_are_full(design, places)
            places = places.arrive(next_order(design, places, 3, arrival))
        assert taken_by_cell(design, places) == {"half": 8, "all": 4}
        assert cells_are_full(design, places)
        assert not cells_are_full(MIXED, places)


def stratified(**changes):
    questions = [
        {"id": "ai_researcher", "text": "Researcher?", "answer": "choice", "choices": ["Yes", "No"], "stratify": True},
        {"id": "glasses", "text": "Glasses?", "answer": "choice", "choices": ["Yes", "No"]},
    ]
    return mixed_burger(demographics=questions, languages=["en"], translations={}, **changes)


class TestStrata:
    def test_cells_and_orders_are_even_within_strata_and_over_all(self):
        design, rng = stratified(), np.random.default_rng(1)
        everyone = Places.empty(design)
        strata = {place: Places.empty(design) for place in (0, 1)}
        for person in range(80):
            answers = {"ai_researcher": int(rng.random() < 0.7), "glasses": 0}
            assert design.stratum_of(answers) == (answers["ai_researcher"],)
            mine = strata[answers["ai_researcher"]]
            order = next_order(design, mine, 100 + person, 0, everyone)
            strata[answers["ai_researcher"]], everyone = mine.arrive(order), everyone.arrive(order)
            for places, most in ((strata[0], 1), (strata[1], 1), (everyone, 2)):
                assert max(places.taken) - min(places.taken) <= most
                counts = taken_by_cell(design, places).values()
                assert max(counts) - min(counts) <= most

    def test_quotas_are_of_whole_cells(self):
        design = stratified(quotas={"half": 8, "all": 4})
        everyone = Places.empty(design)
        strata = {place: Places.empty(design) for place in (0, 1)}
        for person in range(12):
            place = int(person >= 7)
            order = next_order(design, strata[place], person, 0, everyone)
            strata[place], everyone = strata[place].arrive(order), everyone.arrive(order)
        assert taken_by_cell(design, everyone) == {"half": 8, "all": 4}

    def test_a_design_without_strata_is_as_before(self):
        assert mixed_burger(demographics=[], languages=["en"], translations={}).strata == ()
        assert MIXED.digest == mixed_burger().digest

    def test_refusals(self):
        age = {"id": "age", "text": "Age?", "answer": "whole", "stratify": True}
        free = stratified().to_dict()["demographics"][0] | {"required": False}
        for question in (age, free):
            with pytest.raises(InvalidInput, match=r"stratify of .* requires answer = 'choice'"):
                mixed_burger(demographics=[question], translations={})
        asked = stratified().to_dict()["demographics"]
        burger = load_design("burger").to_dict()
        alone = {"conditions": burger["conditions"][:1], "partners": [], "attention": [], "translations": {}}
        with pytest.raises(InvalidInput, match="with a single condition"):
            StudyDesign.from_dict(burger | alone | {"demographics": asked})
        with pytest.raises(InvalidInput, match="for several people in one team"):
            StudyDesign.from_dict(load_design("burger-pair").to_dict() | {"demographics": asked, "translations": {}})


class TestPlay:
    def test_each_condition_has_its_own_observability(self):
        for order in range(4):
            plan = ParticipantPlan(MIXED, 5, order)
            seen = 0.5 if MIXED.cell_of(order) == "half" else 1.0
            assert len(plan) == 2
            for episode in plan.episodes:
                assert MIXED.observability_of(episode.condition) == (1.0, seen)
        for game in rehearse(MIXED, "softmax", seed=3, order=2):
            assert all(played.seen[1] == played.reward for played in game.rounds)
            assert verify_episode(game.plan, game.rounds, finished=True, head=game.head) == []
        half = rehearse(MIXED, "softmax", seed=3, order=0)
        assert any(played.seen[1] != played.reward for game in half for played in game.rounds)

    def test_cells_share_means_and_luck(self):
        first, other = ParticipantPlan(MIXED, 5, 0), ParticipantPlan(MIXED, 5, 2)
        for one, two in zip(first.episodes, other.episodes, strict=True):
            np.testing.assert_array_equal(one.means, two.means)
            np.testing.assert_array_equal(one.luck(), two.luck())

    @pytest.mark.parametrize("design", [MIXED, BETWEEN, mixed_burger(quotas={"half": 2, "all": 1})])
    def test_both_engines_play_the_same(self, design):
        pytest.importorskip("numba")
        fast, plain = (simulate_participants(design, "softmax", 13, 4, engine=name) for name in ("fast", "reference"))
        np.testing.assert_array_equal(fast.task_regret, plain.task_regret)
        np.testing.assert_array_equal(fast.good, plain.good)
        assert (np.isnan(fast.task_regret).all(axis=2) == ~fast.played).all()
        assert (fast.played.sum(axis=1) == design.sets).all()

    def test_a_crowd_is_divided_as_the_quotas_say(self):
        design = mixed_burger(quotas={"half": 20, "all": 10})
        cells = Counter(design.cell_of(order) for order in simulate_participants(design, "softmax", 30).orders.tolist())
        assert cells == {"half": 20, "all": 10}

    def test_a_person_whose_conditions_differ_is_simulated_round_by_round(self):
        pytest.importorskip("numba")
        conditions = [entry | {"levels": {}} for entry in MIXED.to_dict()["conditions"]]
        design = mixed_burger(factors=[], conditions=conditions[1:3])
        assert simulate_participants(design, "softmax", 2).engine == "reference"
        with pytest.raises(InvalidInput, match="differ in observability"):
            simulate_participants(design, "softmax", 2, engine="fast")


class TestExport:
    data = rehearsed(MIXED, 4)

    def test_the_cell_is_a_column(self):
        exported = tables(self.data)
        assert exported["wide"]["cell"].tolist() == ["half", "all", "half", "all"]
        assert set(exported["long"]["cell"].tolist()) == {"half", "all"}
        assert "cell" not in [column.name for column in schema(load_design("burger"))["wide"]]

    def test_conditions_of_another_cell_are_empty(self):
        wide = tables(self.data)["wide"]
        assert wide["rounds_naive_half"].tolist() == [20, 0, 20, 0]
        assert np.isnan(wide["task_regret_naive_half"]).tolist() == [False, True, False, True]

    def test_team_regret_has_the_factor_of_the_condition(self):
        wide = tables(self.data)["wide"]
        assert MIXED.team_factors == {"naive-half": 0.75, "aware-half": 0.75, "naive-all": 1.0, "aware-all": 1.0}
        np.testing.assert_allclose(wide["team_regret_aware_half"][0], 0.75 * wide["task_regret_aware_half"][0])
        np.testing.assert_allclose(wide["team_regret_aware_all"][1], wide["task_regret_aware_all"][1])

    def test_the_r_script_compares_different_people_unpaired(self):
        script = r_script(MIXED, schema(MIXED), {"long": "long.csv", "wide": "wide.csv", "survey": "survey.csv"})
        assert 'compare("task_regret_aware_half", "task_regret_naive_half")' in script
        assert 'compare("task_regret_naive_all", "task_regret_naive_half", paired = FALSE)' in script
