"""Plans: all of a participant from a seed; the same luck in both conditions; an exact swap; balanced orders."""

from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.studies import ParticipantPlan, Places, load_design, next_order

BURGER, CASINO, THREE = load_design("burger"), load_design("casino"), load_design("three-by-three")
assert CASINO.practice is not None
SHORT = replace(CASINO, rounds=50, episodes=4, practice=replace(CASINO.practice, rounds=10))


class TestSequence:
    def test_burger(self):
        plan = ParticipantPlan(BURGER, 5, 1)
        assert [(e.condition, e.set, e.rounds, e.warm_rounds) for e in plan.episodes] == [
            ("partner-aware-ucb", 0, 20, 20),
            ("naive-ucb", 1, 20, 20),
        ]

    def test_casino(self):
        plan = ParticipantPlan(CASINO, 5, 0)
        assert len(plan) == len(plan.episodes) == 51
        assert [e.practice for e in plan.episodes] == [True] + [False] * 50
        assert [e.condition for e in plan.episodes] == ["practice"] + ["naive-ucb"] * 25 + ["partner-aware-ucb"] * 25
        assert [e.number for e in plan.episodes] == [0, *range(25), *range(25)]
        assert {e.rounds for e in plan.episodes} == {1000}

    @pytest.mark.parametrize(("seed", "order"), [(None, 0), (-1, 0), (1, 2), (1, -1), ("x", 0)])
    def test_nonsense_is_refused(self, seed, order):
        with pytest.raises(cb.InvalidInput):
            ParticipantPlan(BURGER, seed, order)


class TestDeterminism:
    @pytest.mark.parametrize("design", [BURGER, SHORT, THREE])
    def test_one_seed_one_world(self, design):
        for one, two in zip(
            ParticipantPlan(design, 9, 1).episodes, ParticipantPlan(design, 9, 1).episodes, strict=True
        ):
            assert one == two
            assert one.start(2) == two.start(2)
            np.testing.assert_array_equal(one.means, two.means)
            np.testing.assert_array_equal(one.luck(), two.luck())

    def test_seeds_versions_and_episodes_differ(self):
        plans = [ParticipantPlan(BURGER, 1, 0), ParticipantPlan(BURGER, 2, 0)]
        plans.append(ParticipantPlan(replace(BURGER, version=BURGER.version + 1), 1, 0))
        means = [plan.episode(0).means.tobytes() for plan in plans]
        luck = [plan.episode(0).luck().tobytes() for plan in plans]
        starts = [episode.start(2) for plan in plans for episode in plan.episodes]
        assert len(set(means)) == len(set(luck)) == 3
        assert len(set(starts)) == 6

    def test_the_world_does_not_depend_on_the_order(self):
        first, second = ParticipantPlan(SHORT, 3, 0), ParticipantPlan(SHORT, 3, 1)
        for one, two in zip(first.episodes, second.episodes, strict=True):
            np.testing.assert_array_equal(one.means, two.means)
            np.testing.assert_array_equal(one.luck(), two.luck())

    def test_means_of_a_study_are_the_same_for_everybody_but_the_luck_is_not(self):
        one, two = ParticipantPlan(SHORT, 3, 0).episode(2), ParticipantPlan(SHORT, 4, 0).episode(2)
        np.testing.assert_array_equal(one.means, two.means)
        assert not np.array_equal(one.luck(), two.luck())

    def test_casinos_differ(self):
        plan = ParticipantPlan(CASINO, 3, 0)
        assert len({episode.means.tobytes() for episode in plan.episodes}) == 26

    def test_fixed_means(self):
        plan = ParticipantPlan(THREE, 3, 0)
        np.testing.assert_array_equal(plan.episode(0).means, [[0.8, 0.4, 0.4], [0.2, 0.7, 0.4], [0.2, 0.2, 0.6]])


class TestLuck:
    def test_the_same_in_both_sets_of_casinos(self):
        plan = ParticipantPlan(SHORT, 3, 0)
        for k in range(4):
            one, two = plan.episode(1 + k), plan.episode(5 + k)
            assert one.condition != two.condition
            np.testing.assert_array_equal(one.means, two.means)
            np.testing.assert_array_equal(one.luck(), two.luck())
            for ours, theirs in zip(one.observers(), two.observers(), strict=True):
                assert ours.random() == theirs.random()

    @pytest.mark.parametrize("design", [BURGER, THREE])
    @pytest.mark.parametrize("order", [0, 1])
    def test_the_swap_is_exact(self, design, order):
        one, two = ParticipantPlan(design, 11, order).episodes
        assert (one.swapped, two.swapped) == (False, True)
        last = design.arms[0] - 1
        for i in range(design.arms[0]):
            for j in range(design.arms[1]):
                assert one.means[i, j] == two.means[last - i, last - j]
                np.testing.assert_array_equal(one.luck()[:, i, j], two.luck()[:, last - i, last - j])
        assert one.means[0, 1] == two.means[last, last - 1]

    def test_burger_mean_of_the_paper(self):
        one, two = ParticipantPlan(BURGER, 11, 0).episodes
        assert one.means[0, 1] == two.means[1, 0]

    def test_not_shared_where_the_design_says_so(self):
        one, two = ParticipantPlan(replace(BURGER, shared_luck=False, swap_labels=False), 11, 0).episodes
        np.testing.assert_array_equal(one.means, two.means)
        assert not np.array_equal(one.luck(), two.luck())

    def test_follows_the_means(self):
        plan = ParticipantPlan(CASINO, 2, 0).episode(3)
        np.testing.assert_allclose(plan.luck().mean(axis=0), plan.means, atol=0.06)


class TestBriefing:
    def test_the_ai_follows_at_place_one(self):
        agent = ParticipantPlan(BURGER, 1, 0).episode(0).ready_agents()[1]
        assert isinstance(agent, cb.NaiveUCB)
        assert (agent.briefing.agent, agent.briefing.rank, agent.briefing.horizon) == (1, 1, 40)
        assert agent.briefing.means is None


class TestSurveyOrder:
    def test_as_written(self):
        plan = ParticipantPlan(BURGER, 1, 0)
        assert plan.survey_order(0) == ("ability", "insisting", "easy", "annoying", "alone", "attention")
        assert plan.survey_order(1) == ("ability", "insisting", "easy", "annoying", "alone", "attention_2")

    def test_shuffled(self):
        design = replace(BURGER, survey=replace(BURGER.survey, shuffled=True))
        orders = {ParticipantPlan(design, seed, 0).survey_order(1) for seed in range(50)}
        assert len(orders) > 20
        assert all(sorted(order[:-1]) == ["ability", "alone", "annoying", "easy", "insisting"] for order in orders)
        assert {order[-1] for order in orders} == {"attention_2"}


def left(places, order):
    """Somebody of this order has gone before the end, so that the database no longer counts them."""
    return replace(places, active=tuple(count - (i == order) for i, count in enumerate(places.active)))


class TestAssignment:
    def test_fewest_finished_and_active(self):
        assert next_order(BURGER, Places((3, 1), (0, 1)), 0, 4) == 1
        assert next_order(BURGER, Places((1, 0), (0, 3)), 0, 4) == 0

    def test_equals_by_a_seeded_draw(self):
        empty = Places.empty(BURGER)
        drawn = [next_order(BURGER, empty, seed, 0) for seed in range(400)]
        assert drawn == [next_order(BURGER, empty, seed, 0) for seed in range(400)]
        assert 160 < sum(drawn) < 240

    def test_dropping_out_frees_the_place(self):
        assert next_order(BURGER, Places(finished=(0, 0), active=(1, 0)), 0, 2) == 1
        assert next_order(BURGER, Places(finished=(0, 1), active=(0, 0)), 0, 2) == 0

    def test_nobody_can_finish_twice(self):
        with pytest.raises(cb.InvalidInput, match="No participant of order 0"):
            Places.empty(BURGER).arrive(0).finish(0).finish(0)

    @pytest.mark.parametrize("seed", range(5))
    def test_stays_balanced_under_arrivals_and_dropouts(self, seed):
        rng = np.random.default_rng(seed)
        places, playing = Places.empty(BURGER), []
        for arrival in range(600):
            order = next_order(BURGER, places, seed, arrival)
            assert places.taken[order] == min(places.taken)
            places = places.arrive(order)
            playing.append(order)
            while playing and rng.random() < 0.45:
                leaver = playing.pop(int(rng.integers(len(playing))))
                places = left(places, leaver) if rng.random() < 0.3 else places.finish(leaver)
        while len(playing) > 0:
            places = places.finish(playing.pop())
        assert abs(places.finished[0] - places.finished[1]) <= 12
        assert sum(places.active) == 0

    def test_without_dropouts_never_more_than_one_apart(self):
        places = Places.empty(BURGER)
        for arrival in range(101):
            places = places.arrive(next_order(BURGER, places, 8, arrival))
            assert max(places.taken) - min(places.taken) <= 1

    def test_random_order_does_not_look_at_the_counts(self):
        drawn = [next_order(CASINO, Places((50, 0)), 3, arrival) for arrival in range(400)]
        assert 160 < sum(drawn) < 240

    def test_wrong_counts(self):
        with pytest.raises(cb.InvalidInput):
            next_order(BURGER, Places((0, 0, 0)), 0, 0)
        with pytest.raises(cb.InvalidInput):
            Places((0, 0), (1,))
