"""Agents and teams as nouns: options, briefing, clones, labels, people."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import cobandit
from cobandit import (
    AGENTS,
    Agent,
    Briefing,
    CentralisedTS,
    CentralisedUCB,
    Controller,
    Human,
    NaiveTS,
    NaiveUCB,
    PartnerAwareUCB,
    Problem,
    Team,
    agents,
    simulate,
)
from cobandit.agents import agent_class, make_agent

FIXED = Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])


class TestRegistry:
    def test_names_are_those_of_the_classes(self):
        assert {name: kind.name for name, kind in AGENTS.items()} == {name: name for name in AGENTS}

    def test_every_agent_names_its_source(self):
        assert all(kind.paper for kind in AGENTS.values())

    def test_every_agent_has_a_label_of_its_own(self):
        labels = [kind.label for kind in AGENTS.values()]
        assert all(labels)
        assert len(set(labels)) == len(labels)

    def test_every_class_is_a_public_name(self):
        for kind in AGENTS.values():
            assert getattr(cobandit, kind.__name__) is getattr(agents, kind.__name__) is kind
            assert kind.__name__ in cobandit.__all__

    def test_every_option_has_a_default_and_help(self):
        for kind in AGENTS.values():
            for name, default, help in kind.option_rows():
                assert help, (kind, name)
                assert getattr(kind(), name) == default

    def test_the_papers_defaults(self):
        # c = .025, L = 1, W = 25 is what the simulations run with.
        options = PartnerAwareUCB().options
        assert options == {"exploration": 0.025, "index": "paper", "ties": "first", "window": 25, "repeat": 1}

    def test_only_the_oracle_is_told_the_means(self):
        assert [name for name, kind in AGENTS.items() if kind.oracle] == ["optimal"]

    def test_the_centralised_are_controllers(self):
        joint = {name for name, kind in AGENTS.items() if issubclass(kind, Controller)}
        assert {"centralised-ucb", "centralised-ts", "centralised-gittins"} <= joint

    def test_made_by_name(self):
        assert agent_class("naive-ucb") is NaiveUCB
        assert make_agent("partner-aware-ucb", window=3) == PartnerAwareUCB(window=3)


class TestOptions:
    @pytest.mark.parametrize("window", [3, 3.0, np.int64(3), np.float64(3.0)])
    def test_a_whole_number_is_one_however_it_is_written(self, window):
        made = PartnerAwareUCB(window=window).window
        assert (made, type(made)) == (3, int)

    def test_numbers_become_floats(self):
        assert type(NaiveUCB(exploration=1).exploration) is float

    def test_options_go_by_name_only(self):
        with pytest.raises(TypeError):
            NaiveUCB(0.1)

    def test_agents_with_equal_options_are_equal(self):
        assert NaiveUCB(exploration=0.5) == NaiveUCB(exploration=0.5)
        assert NaiveUCB(exploration=0.5) != NaiveUCB(exploration=0.4)
        assert NaiveUCB() != PartnerAwareUCB()  # type: ignore[comparison-overlap]

    def test_they_read_well(self):
        assert str(PartnerAwareUCB(window=3)) == (
            "partner-aware-ucb(exploration=0.025, index=paper, ties=first, window=3, repeat=1)"
        )
        assert str(AGENTS["optimal"]()) == "optimal()"


def test_a_clone_copies_what_an_agent_holds_to_the_bottom():
    class Hoarder(NaiveUCB):
        def __post_init__(self):
            super().__post_init__()
            self.heap = [[0]]

    agent = Hoarder()
    agent.clone().heap[0].append(1)
    assert agent.heap == [[0]]


class TestBriefing:
    def test_ranks(self):
        briefing = Briefing(2, (2, 3, 4), (2, 0, 1), 10)
        assert (briefing.own_arms, briefing.rank, briefing.higher) == (4, 1, (1,))
        assert replace(briefing, agent=0).higher == (1, 2)  # the leader first
        assert replace(briefing, agent=1).higher == ()

    def test_the_leader_comes_first_whatever_its_index(self):
        assert Briefing(1, (2, 2, 2, 2), (2, 3, 0, 1), 10).higher == (2, 3, 0)

    def test_nobody_is_told_whose_eyes_are_best_unless_somebody_says_so(self):
        assert Briefing(0, (2, 2), (0, 1), 10).best_observer == -1


class Curious:
    """Keeps the briefings it gets in a book that its clones share."""

    def __post_init__(self):
        super().__post_init__()  # type: ignore[misc]
        self.book = []

    def clone(self):
        twin = super().clone()  # type: ignore[misc]
        twin.book = self.book
        return twin

    def reset(self, briefing, rng):
        super().reset(briefing, rng)  # type: ignore[misc]
        self.book.append(briefing)


class CuriousAgent(Curious, NaiveUCB):
    pass


class CuriousBrain(Curious, CentralisedUCB):
    pass


@pytest.mark.parametrize(
    ("problem", "best"),
    [
        (Problem.bernoulli(observability=[0.5, 1.0]), 1),
        (Problem.bernoulli(observability=[0.5, 1.0], roles=(0, 1)), 1),
        (Problem.bernoulli(observability=[0.5, 1.0], roles="random"), 1),
        (Problem.bernoulli(observability=[1.0, 0.5], observation="flipped", roles=(1, 0)), 0),
        (Problem.gaussian(noise=[0.1, 0.5], roles=(1, 0)), 0),
        (Problem.gaussian(noise=[0.5, 0.1, 0.1], arms=(2, 2, 2), roles=(0, 2, 1)), 1),
    ],
)
class TestWhatTheEngineTells:
    def test_a_joint_controller_is_told_who_observes_best(self, problem, best):
        brain = CuriousBrain()
        simulate(problem, Team.of(brain), horizon=3, runs=2, seed=0)
        assert [told.best_observer for told in brain.book] == [best, best]

    def test_a_lone_agent_is_not(self, problem, best):
        agent = CuriousAgent()
        simulate(problem, Team.of(agent), horizon=3, runs=2, seed=0)
        assert [told.best_observer for told in agent.book] == [-1] * 2 * problem.agents
        assert [told.agent for told in agent.book] == [*range(problem.agents)] * 2


class TestTeam:
    def test_one_kind_fits_any_number(self):
        team = Team.of("partner-aware-ucb", window=3)
        agents = team.agents(4)
        assert len({id(agent) for agent in agents}) == 4
        assert set(map(str, agents)) == {str(PartnerAwareUCB(window=3))}

    def test_a_controller_takes_all_places(self):
        team = Team.of("centralised-ts")
        assert team.agents(3) == ()
        assert team.controller == CentralisedTS()

    def test_a_team_plays_with_clones(self):
        leader, follower = NaiveUCB(), PartnerAwareUCB()
        team = Team([leader, follower])
        simulate(FIXED, team, horizon=5, runs=1, seed=0, engine="reference")
        assert not hasattr(leader, "briefing")
        assert all(agent is not leader and agent is not follower for agent in team.agents(2))

    def test_labels(self):
        assert Team.of("partner-aware-ucb").label == "partner-aware-ucb"
        assert Team.of("centralised-ts").label == "centralised-ts"
        assert Team([NaiveUCB(), NaiveTS()]).label == "naive-ucb + naive-ts"

    def test_a_custom_agent_goes_by_its_class(self):
        class Mine(Agent):
            def choose(self):
                return 0

            def observe(self, team_action, reward):
                pass

        assert Team.of(Mine()).label == "Mine"
        assert Team([Mine(), NaiveUCB()]).label == "Mine + naive-ucb"
        assert str(Mine()) == "Mine()"

    @pytest.mark.parametrize("base", [NaiveUCB, PartnerAwareUCB, CentralisedUCB, Human])
    def test_one_made_of_a_registered_agent_goes_by_its_own_class(self, base):
        class Mine(base):  # type: ignore[misc, valid-type]
            pass

        class Theirs(Mine):
            name = "theirs"

        class Ours(Theirs):
            pass

        settings = {"ask": None, "tell": None} if base is Human else {}
        for kind, title in [(base, base.name), (Mine, "Mine"), (Theirs, "theirs"), (Ours, "Ours")]:
            player = kind(**settings)
            assert player.title == title
            assert str(player).startswith(f"{title}(")
            assert Team.of(player).label == title
            assert Team.of(player).describe()["agent"] == title
            shown = repr(player) if kind is not base or kind is Human else repr(title)
            assert repr(Team.of(player)) == f"Team.of({shown})"
        assert Team.of(Mine(**settings)) != Team.of(base(**settings))

    def test_members_made_by_name_pass_the_type_checker(self) -> None:
        names = ["naive-ucb", "naive-ts"]
        team = Team([make_agent(name) for name in names])
        assert team.label == "naive-ucb + naive-ts"
        assert Team([make_agent("naive-ucb"), NaiveTS()]) == team

    def test_titles_in_a_mixed_team(self):
        class Mine(NaiveUCB):
            pass

        team = Team([Mine(), NaiveUCB()])
        assert team.label == "Mine + naive-ucb"
        assert [member["agent"] for member in team.describe()["members"]] == ["Mine", "naive-ucb"]

    def test_described_as_plain_data(self):
        told = json.loads(json.dumps(Team([NaiveUCB(exploration=0.1), PartnerAwareUCB(window=3)]).describe()))
        assert [member["agent"] for member in told["members"]] == ["naive-ucb", "partner-aware-ucb"]
        assert told["members"][0]["exploration"] == 0.1
        assert Team.of("partner-aware-ucb", window=3).describe()["window"] == 3

    def test_equality(self):
        assert Team.of("naive-ucb") == Team.of(NaiveUCB())
        assert Team.of("naive-ucb") != Team.of("naive-ucb", exploration=0.1)
        assert Team.of("naive-ucb") != Team([NaiveUCB(), NaiveUCB()])
        assert Team.of("naive-ucb") != "naive-ucb"


class TestHuman:
    def test_asks_and_tells(self):
        told = []
        arms = iter([0, 1, 1])
        person = Human(
            ask=lambda human: next(arms), tell=lambda human, action, seen: told.append((human.round, action, seen))
        )
        trajectory = simulate(FIXED, Team([person, NaiveUCB()]), horizon=3, runs=1, seed=0, engine="reference")
        assert [action[0] for _, action, _ in told] == [0, 1, 1]
        assert [t for t, _, _ in told] == [1, 2, 3]
        assert all(seen in (0.0, 1.0) for _, _, seen in told)
        assert trajectory.runs == 1

    def test_knows_what_an_agent_may_know(self):
        asked = []

        def ask(human):
            asked.append((human.briefing.own_arms, human.briefing.horizon, human.briefing.means))
            return 0

        person = Human(ask=ask, tell=lambda *_: None)
        simulate(FIXED, Team([NaiveUCB(), person]), horizon=2, runs=1, seed=0, engine="reference")
        assert asked == [(2, 2, None)] * 2

    def test_a_person_cannot_be_copied_so_the_clone_is_the_same_person(self):
        person = Human(ask=lambda human: 0, tell=lambda *_: None)
        clone = person.clone()
        assert clone is not person
        assert clone.ask is person.ask
        assert clone.tell is person.tell
