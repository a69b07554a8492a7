"""Simulated participants: they keep the agents' contract, play whole studies, and give tables of one shape."""

from dataclasses import replace

import numpy as np
import pytest

import cobandit as cb
from cobandit.base.records import Table
from cobandit.studies import (
    BEHAVIOURS,
    PEOPLE,
    EpsilonGreedy,
    ParticipantPlan,
    Softmax,
    WinStayLoseShift,
    columns,
    load_design,
    make_behaviour,
    rehearse,
)
from cobandit.testing import AgentContract

BURGER, CASINO = load_design("burger"), load_design("casino")

SETTINGS = [Softmax(temperature=1e-3, memory=1), WinStayLoseShift(slip=0.0), EpsilonGreedy()]


class TestContract(AgentContract):
    horizon = 20

    @pytest.fixture(autouse=True, params=SETTINGS, ids=str)
    def _setting(self, request):
        self.person = request.param

    def make(self):
        return self.person.clone()


class TestNames:
    def test_all_people_and_agents(self):
        assert set(BEHAVIOURS) == set(PEOPLE) | {n for n, kind in cb.AGENTS.items() if issubclass(kind, cb.Agent)}
        assert all(name == kind.name for name, kind in BEHAVIOURS.items())

    def test_did_you_mean(self):
        with pytest.raises(cb.UnknownName, match="Did you mean 'softmax'"):
            make_behaviour("sofmax")
        with pytest.raises(cb.UnknownName, match="Did you mean 'memory'"):
            make_behaviour("softmax", memry=3)
        with pytest.raises(cb.UnknownName, match="behaviour 'centralised-ucb'"):
            make_behaviour("centralised-ucb")
        with pytest.raises(cb.InvalidInput, match="is made already"):
            make_behaviour(Softmax(), memory=3)

    @pytest.mark.parametrize("options", [{"temperature": 0.0}, {"memory": 0}])
    def test_options_are_checked(self, options):
        with pytest.raises(cb.InvalidInput):
            make_behaviour("softmax", **options)


class TestPeople:
    def briefed(self, person, arms=(2, 2)):
        person.reset(cb.Briefing(0, arms, (0, 1), 20), np.random.default_rng(0))
        return person

    def test_win_stay_lose_shift(self):
        person = self.briefed(WinStayLoseShift(slip=0.0), (3, 2))
        person.observe((1, 0), 1.0)
        assert {person.choose() for _ in range(50)} == {1}
        person.observe((1, 0), 0.0)
        assert {person.choose() for _ in range(50)} == {0, 2}

    def test_softmax_forgets(self):
        person = self.briefed(Softmax(temperature=1e-3, memory=2))
        for _ in range(5):
            person.observe((0, 1), 1.0)
        assert {person.choose() for _ in range(50)} == {0}
        person.observe((1, 1), 1.0)
        person.observe((1, 1), 1.0)
        assert {person.choose() for _ in range(50)} == {1}

    def test_epsilon(self):
        person = self.briefed(EpsilonGreedy(epsilon=0.4))
        person.observe((1, 1), 1.0)
        share = np.mean([person.choose() for _ in range(2000)])
        assert 0.75 < share < 0.85


class TestRehearsal:
    @pytest.mark.parametrize("name", sorted(BEHAVIOURS))
    def test_every_behaviour_plays_a_whole_burger_study(self, name):
        episodes = rehearse(BURGER, name, seed=1)
        assert len(episodes) == 2
        assert all(episode.finished for episode in episodes)

    def test_is_repeatable(self):
        one, two = rehearse("burger", "softmax", seed=5), rehearse("burger", "softmax", seed=5)
        assert [e.head for e in one] == [e.head for e in two]

    def test_orders_are_drawn_unless_given(self):
        orders = [rehearse(BURGER, "epsilon-greedy", seed)[0].plan.order for seed in range(40)]
        assert 10 < sum(orders) < 30
        assert rehearse(BURGER, "epsilon-greedy", 0, order=1)[0].plan.order == 1

    def test_an_agent_is_left_as_it_is(self):
        person = Softmax(memory=3)
        rehearse(BURGER, person, 0)
        assert not hasattr(person, "briefing")

    def test_an_oracle_makes_no_mistake_it_could_avoid(self):
        optimal = replace(BURGER.conditions[0], agent="optimal", options=Table())
        study = replace(
            BURGER, conditions=(optimal,), partners=(), attention=(), languages=("en",), translations=Table()
        )
        (episode,) = rehearse(study, "optimal", 0)
        assert episode.trajectory().task_regret[-1] == 0.0


class TestColumns:
    def test_have_the_names_of_a_simulated_trajectory(self):
        table = columns(rehearse(BURGER, "softmax", 1, order=0))
        problem = cb.Problem.bernoulli(arms=(2, 2), observability=[1.0, 0.5])
        team = cb.Team.of("partner-aware-ucb")
        simulated = cb.simulate(problem, team, horizon=20, runs=1, seed=0).trajectory(0).columns()
        assert set(table) == set(simulated) | {"participant", "episode", "set", "condition"}
        assert all(table[key].dtype == simulated[key].dtype for key in simulated)

    def test_hold_every_round(self):
        episodes = [e for seed in range(3) for e in rehearse(BURGER, "softmax", seed, order=0)]
        table = columns(episodes)
        assert {len(column) for column in table.values()} == {120}
        assert table["run"].tolist() == [run for run in range(6) for _ in range(20)]
        assert table["participant"].tolist() == [person for person in range(3) for _ in range(40)]
        assert table["t"].tolist() == list(range(1, 21)) * 6
        assert (table["predicted_1_0"][table["condition"] == "naive-ucb"] == -1).all()
        assert (table["predicted_1_0"][table["condition"] == "partner-aware-ucb"] >= 0).all()
        means = episodes[1].plan.means
        gaps = means.max() - means[table["arm_0"][20:40], table["arm_1"][20:40]]
        np.testing.assert_allclose(table["task_regret"][20:40], np.cumsum(gaps))

    def test_names_of_participants(self):
        episodes = rehearse(BURGER, "softmax", 0)
        assert set(columns(episodes, ["p-7", "p-7"])["participant"].tolist()) == {"p-7"}
        with pytest.raises(cb.InvalidInput, match="names 1 episodes; there are 2"):
            columns(episodes, ["p-7"])

    def test_practice_is_left_out_unless_asked_for(self):
        assert CASINO.practice is not None
        short = replace(CASINO, rounds=5, episodes=2, practice=replace(CASINO.practice, rounds=3))
        episodes = rehearse(short, "softmax", 0)
        assert len(columns(episodes)["t"]) == 20
        assert columns(episodes, practice=True)["condition"].tolist()[:3] == ["practice"] * 3
        with pytest.raises(cb.InvalidInput, match="no episode that counts"):
            columns(episodes[:1])


def regrets(behaviour, people):
    episodes = [e for seed in range(people) for e in rehearse(BURGER, behaviour, seed, order=seed % 2)]
    found = {name: [] for name in BURGER.orders[0]}  # type: ignore[var-annotated]
    for episode in episodes:
        found[episode.plan.condition].append(episode.trajectory().task_regret[-1])
    return np.array(found["naive-ucb"]), np.array(found["partner-aware-ucb"])


def test_with_knowledge_gradient_participants_the_partner_aware_robot_loses_less():
    """H1 in rehearsal. It is no law: with win-stay lose-shift participants the naive robot does better."""
    naive, aware = regrets("knowledge-gradient", 200)
    lost = naive - aware
    assert lost.mean() > 3.0 * lost.std(ddof=1) / np.sqrt(len(lost))
    assert aware.mean() < 3.2


def test_both_robots_face_the_same_problem():
    one, two = ParticipantPlan(BURGER, 6, 0).episodes
    assert sorted(one.means.ravel()) == sorted(two.means.ravel())
