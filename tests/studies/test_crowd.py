"""Crowds of simulated participants: who they are, what is kept of them, and what is refused."""

import importlib.util
from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.base.records import Table
from cobandit.studies import Softmax, load_design, rehearse
from cobandit.studies.crowd import simulate_participants

BURGER, CASINO = load_design("burger"), load_design("casino")
assert CASINO.practice is not None
SHORT = replace(CASINO, rounds=12, episodes=2, practice=replace(CASINO.practice, rounds=3))


class Stubborn(cb.Agent):
    """Always the first arm: an agent the library does not know."""

    def choose(self):
        return 0

    def observe(self, team_action, reward):
        pass


class TestWhoTheyAre:
    def test_each_one_can_be_rehearsed(self):
        made = simulate_participants(SHORT, [("softmax", 1), (Softmax(memory=2), 1)], 6, seed=4, checkpoints=[3, 12])
        for i in range(6):
            behaviour = made.behaviours[made.kinds[i]]
            episodes = rehearse(SHORT, behaviour, int(made.seeds[i]), int(made.orders[i]))
            counted = [episode for episode in episodes if not episode.plan.practice]
            assert len(counted) == 4
            for episode in counted:
                where = i, made.conditions.index(episode.plan.condition), episode.plan.number
                rounds = episode.trajectory()
                assert made.regret_curves[where].tolist() == rounds.task_regret[[2, 11]].tolist()
                assert made.good[where] == rounds.rewards.sum()

    def test_one_is_the_same_in_any_company(self):
        few, many = (simulate_participants(BURGER, [("softmax", 1), ("naive-ucb", 2)], n, 3) for n in (5, 50))
        for name in ("seeds", "orders", "kinds", "task_regret", "good"):
            np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[:5])

    def test_one_seed_one_crowd(self):
        one, two, other = (simulate_participants("burger", "softmax", 20, seed) for seed in (1, 1, 2))
        np.testing.assert_array_equal(one.task_regret, two.task_regret)
        assert not set(one.seeds.tolist()) & set(other.seeds.tolist())
        assert simulate_participants("burger", "softmax", 2).seed == 0
        drawn = [simulate_participants("burger", "softmax", 2, seed=None).seed for _ in range(2)]
        assert drawn[0] != drawn[1]

    def test_orders_alternate_where_they_are_counterbalanced(self):
        assert simulate_participants(BURGER, "softmax", 5, 0).orders.tolist() == [0, 1, 0, 1, 0]

    def test_orders_are_drawn_where_they_are_random(self):
        orders = simulate_participants(SHORT, "softmax", 400, 0).orders
        assert set(orders.tolist()) == {0, 1}
        assert 150 < orders.sum() < 250
        assert (np.diff(orders) == 0).any()

    def test_shares_of_a_mixture(self):
        mixture = [("softmax", 0), ("naive-ucb", 6), ("epsilon-greedy", 2), ("optimal", 0)]
        kinds = simulate_participants(BURGER, mixture, 2000, 0).kinds
        assert set(kinds.tolist()) == {1, 2}
        assert 0.72 < (kinds == 1).mean() < 0.78

    def test_each_behaviour_plays_as_it_does_alone(self):
        mixed = simulate_participants(BURGER, [("softmax", 1), ("knowledge-gradient", 1)], 60, 7)
        for kind, name in enumerate(("softmax", "knowledge-gradient")):
            alone = simulate_participants(BURGER, name, 60, 7)
            chosen = mixed.kinds == kind
            assert 15 < chosen.sum() < 45
            np.testing.assert_array_equal(mixed.task_regret[chosen], alone.task_regret[chosen])


class TestWhatIsKept:
    def test_shapes(self):
        made = simulate_participants(SHORT, "softmax", 7, 0, checkpoints=3)
        assert len(made) == 7
        assert made.conditions == ("naive-ucb", "partner-aware-ucb")
        assert made.task_regret.shape == made.team_regret.shape == made.good.shape == (7, 2, 2)
        assert made.checkpoints.tolist() == [4, 8, 12]
        assert made.regret_curves.shape == (7, 2, 2, 3)
        assert (np.diff(made.regret_curves, axis=-1) >= 0).all()
        np.testing.assert_array_equal(made.regret_curves[..., -1], made.task_regret)
        np.testing.assert_allclose(made.team_regret, 0.7 * made.task_regret)
        assert repr(made) == "<Crowd of 7 (softmax) in 'casino': seed 0, fast engine>"

    def test_the_last_round_alone_unless_asked(self):
        assert simulate_participants(BURGER, "softmax", 2, 0).checkpoints.tolist() == [20]

    def test_good_outcomes_lie_between_none_and_all(self):
        good = simulate_participants(BURGER, "optimal", 300, 0).good
        assert good.min() >= 0
        assert good.max() <= 20

    def test_progress(self):
        calls = []
        simulate_participants(BURGER, "softmax", 50, 0, threads=2, progress=lambda *told: calls.append(told))
        assert calls[-1] == (50, 50)
        assert [done for done, _ in calls] == sorted(done for done, _ in calls)

    def test_the_casino_has_the_same_means_for_everybody(self):
        optimal = [replace(condition, agent="optimal", options=Table()) for condition in SHORT.conditions]
        design = replace(SHORT, conditions=tuple(optimal))
        assert simulate_participants(design, "optimal", 20, 0).task_regret.max() == 0.0

    def test_what_rehearsal_showed(self):
        """The table of docs/decisions/0005: task regret of naive and partner-aware UCB, with other people."""
        for name, naive, aware in (("knowledge-gradient", 5.19, 2.64), ("win-stay-lose-shift", 3.21, 3.48)):
            made = simulate_participants(BURGER, name, 4000, 0).task_regret[:, :, 0]
            errors = made.std(axis=0) / np.sqrt(1000)
            assert (np.abs(made.mean(axis=0) - [naive, aware]) < 4.0 * errors).all()


class TestEngines:
    def test_a_behaviour_of_ones_own_is_played_the_plain_way(self):
        made = simulate_participants(BURGER, [(Stubborn(), 1), ("softmax", 1)], 4, 0)
        assert made.engine == "reference"
        assert made.good.shape == (4, 2, 1)
        with pytest.raises(cb.InvalidInput, match="cannot play this: Stubborn has no compiled form"):
            simulate_participants(BURGER, Stubborn(), 4, 0, engine="fast")

    def test_a_relative_of_a_person_is_not_taken_for_it(self):
        class Absent(Softmax):
            def choose(self):
                return 1

        assert simulate_participants(BURGER, Absent(), 2, 0).engine == "reference"

    def test_without_numba(self, monkeypatch):
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        assert simulate_participants(BURGER, "softmax", 2, 0).engine == "reference"
        with pytest.raises(cb.MissingExtra, match=r"pip install 'cobandit\[fast\]'"):
            simulate_participants(BURGER, "softmax", 2, 0, engine="fast")


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"design": "burgr"}, "Did you mean 'burger'"),
            ({"design": 3}, "must be a StudyDesign or the name of one"),
            ({"behaviours": "sofmax"}, "Did you mean 'softmax'"),
            ({"behaviours": []}, "a name, an agent, or a list"),
            ({"behaviours": None}, "a name, an agent, or a list"),
            ({"behaviours": ["softmax"]}, r"behaviours\[0\] must be a pair"),
            ({"behaviours": [("softmax", -1)]}, "The weight of softmax must be"),
            ({"behaviours": [("softmax", 0.0)]}, "All weights of the behaviours are 0"),
            ({"behaviours": [("centralised-ucb", 1)]}, "no behaviour 'centralised-ucb'"),
            ({"participants": 0}, "participants must be"),
            ({"participants": 2.5}, "participants must be"),
            ({"seed": -1}, "seed must be"),
            ({"engine": "quick"}, "engine"),
            ({"threads": 0}, "threads must be"),
            ({"checkpoints": [5, 3]}, "in ascending order"),
            ({"checkpoints": [21]}, r"checkpoints\[0\] must be"),
        ],
        ids=str,
    )
    def test_nonsense(self, arguments, message):
        given = {"design": BURGER, "behaviours": "softmax", "participants": 3, "seed": 0} | arguments
        with pytest.raises(cb.InvalidInput, match=message):
            simulate_participants(**given)

    def test_more_than_fits(self):
        with pytest.raises(cb.TooLarge, match="need about"):
            simulate_participants(CASINO, "softmax", 2**31 - 1, 0)
