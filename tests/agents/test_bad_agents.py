"""Bad options, names and teams are refused at the door: the error is ours, and says what came and what was needed."""

from __future__ import annotations

import math

import pytest

from cobandit import (
    AGENTS,
    Agent,
    AgentError,
    CentralisedUCB,
    Controller,
    Human,
    InvalidInput,
    KnowledgeGradient,
    NaiveUCB,
    Optimal,
    PartnerAwareUCB,
    Problem,
    Team,
    UnknownName,
    simulate,
)
from cobandit.agents import make_agent

NAN = math.nan
FIXED = Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])

BAD_OPTIONS = [
    ("partner-aware-ucb", {"window": 0}, "window is 0; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": -3}, "window is -3; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": 2.5}, "window is 2.5; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": "x"}, "window is 'x'; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": "3"}, "window is '3'; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": None}, "window is None; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": True}, "window is True; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": NAN}, "window is nan; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": math.inf}, "window is inf; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"window": [25]}, "window is [25]; a whole number of at least 1 is needed."),
    ("partner-aware-ucb", {"repeat": 0}, "repeat is 0; a whole number of at least 1 is needed."),
    ("partner-aware-ts", {"window": 0}, "window is 0; a whole number of at least 1 is needed."),
    ("partner-aware-ts", {"repeat": 1.5}, "repeat is 1.5; a whole number of at least 1 is needed."),
    ("naive-ucb", {"exploration": -1}, "exploration is -1; a finite number of at least 0 is needed."),
    ("naive-ucb", {"exploration": NAN}, "exploration is nan; a finite number of at least 0 is needed."),
    ("naive-ucb", {"exploration": math.inf}, "exploration is inf; a finite number of at least 0 is needed."),
    ("naive-ucb", {"exploration": "0.1"}, "exploration is '0.1'; a finite number of at least 0 is needed."),
    ("naive-ucb", {"exploration": 1j}, "exploration is 1j; a finite number of at least 0 is needed."),
    ("mucb-intervals", {"exploration": -1}, "exploration is -1; a finite number of at least 0 is needed."),
    ("naive-ts", {"prior_sd": 0}, "prior_sd is 0; a finite number above 0 is needed."),
    ("naive-ts", {"noise_sd": -0.1}, "noise_sd is -0.1; a finite number above 0 is needed."),
    ("naive-ts", {"prior_mean": NAN}, "prior_mean is nan; a finite number is needed."),
    ("knowledge-gradient", {"discount": 1.0}, "discount is 1.0; a finite number of at least 0 and below 1 is needed."),
    (
        "knowledge-gradient",
        {"discount": -0.1},
        "discount is -0.1; a finite number of at least 0 and below 1 is needed.",
    ),
    ("knowledge-gradient", {"discount": "x"}, "discount is 'x'; a finite number of at least 0 and below 1 is needed."),
    ("mdsee", {"sweeps": 0}, "sweeps is 0; a whole number of at least 1 is needed."),
]


@pytest.mark.parametrize(("name", "options", "message"), BAD_OPTIONS)
def test_options(name, options, message):
    for make in (AGENTS[name], lambda **given: make_agent(name, **given), lambda **given: Team.of(name, **given)):
        with pytest.raises(InvalidInput) as caught:
            make(**options)
        assert str(caught.value) == message


@pytest.mark.parametrize(
    ("name", "options", "hint"),
    [
        ("naive-ucb", {"index": "papper"}, "There is no index 'papper'. Did you mean 'paper'?"),
        ("naive-ucb", {"index": "any-time"}, "There is no index 'any-time'. Did you mean 'anytime'?"),
        ("centralised-ucb", {"index": "Companion"}, "There is no index 'Companion'. Did you mean 'companion'?"),
        ("naive-ucb", {"index": None}, "There is no index None. Known: paper, anytime, companion."),
        ("naive-ucb", {"ties": "frist"}, "There is no ties 'frist'. Did you mean 'first'?"),
        ("mdsee", {"ties": "rnadom"}, "There is no ties 'rnadom'. Did you mean 'random'?"),
        ("naive-ts", {"ties": 1}, "There is no ties 1. Known: first, random."),
    ],
)
def test_names_of_choices(name, options, hint):
    with pytest.raises(UnknownName) as caught:
        make_agent(name, **options)
    assert str(caught.value).startswith(hint)
    assert "Known: " in str(caught.value)


@pytest.mark.parametrize(
    ("name", "option", "hint"),
    [
        ("partner-aware-ucb", "widnow", "'window'"),
        ("partner-aware-ucb", "windows", "'window'"),
        ("partner-aware-ucb", "repeats", "'repeat'"),
        ("naive-ucb", "exploraton", "'exploration'"),
        ("naive-ts", "prior_men", "'prior_mean'"),
        ("knowledge-gradient", "discont", "'discount'"),
        ("mdsee", "sweep", "'sweeps'"),
    ],
)
def test_option_names(name, option, hint):
    with pytest.raises(UnknownName) as caught:
        Team.of(name, **{option: 1})
    assert f"There is no option of {name} called {option!r}. Did you mean {hint}?" in str(caught.value)


def test_an_option_of_another_agent_gets_the_list():
    with pytest.raises(
        UnknownName, match=r"no option of naive-ucb called 'window'\..* Known: exploration, index, ties\."
    ):
        Team.of("naive-ucb", window=25)


def test_an_agent_without_options():
    with pytest.raises(InvalidInput, match=r"optimal has no options, but window=25 was given"):
        Team.of("optimal", window=25)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("partner-aware-usb", "partner-aware-ucb"),
        ("partner_aware_ucb", "partner-aware-ucb"),
        ("Partner-Aware-UCB", "partner-aware-ucb"),
        ("partner-aware-thompson", "partner-aware-ts"),
        ("naive", "naive-ts"),
        ("centralized-ucb", "centralised-ucb"),
        ("knowledge", "knowledge-gradient"),
        ("optmal", "optimal"),
        ("mdse", "mdsee"),
    ],
)
def test_agent_names(name, hint):
    with pytest.raises(UnknownName, match=f"There is no agent {name!r}. Did you mean {hint!r}"):
        Team.of(name)


def test_a_name_like_no_other_gets_the_list():
    with pytest.raises(UnknownName) as caught:
        Team.of("xyzzy")
    assert str(caught.value) == f"There is no agent 'xyzzy'. Known: {', '.join(AGENTS)}."


class TestTeams:
    def test_a_controller_in_a_mixed_team(self):
        with pytest.raises(InvalidInput, match=r"members\[1\] is centralised-ucb, a joint controller") as caught:
            Team([NaiveUCB(), CentralisedUCB()])
        assert caught.match(r"use Team.of\('centralised-ucb'\)")

    def test_a_team_of_one(self):
        with pytest.raises(InvalidInput, match=r"members has 1 agents; a team has at least 2"):
            Team([NaiveUCB()])

    def test_a_team_of_nobody(self):
        with pytest.raises(InvalidInput, match=r"members has 0 agents; a team has at least 2"):
            Team([])

    @pytest.mark.parametrize("members", [NaiveUCB(), CentralisedUCB(), None, 2])
    def test_no_list_at_all(self, members):
        with pytest.raises(InvalidInput, match=r"a list with one agent per place is needed"):
            Team(members)

    def test_names_in_place_of_agents(self):
        with pytest.raises(InvalidInput, match=r"members\[0\] is 'naive-ucb'; an agent is needed") as caught:
            Team(["naive-ucb", "naive-ucb"])
        assert caught.match(r"Team.of\('naive-ucb'\) makes a whole team of one kind")

    def test_a_class_in_place_of_an_agent(self):
        with pytest.raises(InvalidInput, match=r"members\[1\] is <class .*NaiveUCB.*an agent is needed"):
            Team([NaiveUCB(), NaiveUCB])
        with pytest.raises(InvalidInput, match=r"The kind of a team is <class .*a registry name or an agent is needed"):
            Team.of(NaiveUCB)

    def test_options_beside_a_ready_agent(self):
        with pytest.raises(InvalidInput, match=r"options \{'window': 3\} go with a name; partner-aware-ucb"):
            Team.of(PartnerAwareUCB(), window=3)

    @pytest.mark.parametrize("count", [3, 4])
    def test_a_team_of_the_wrong_size_for_the_problem(self, count):
        team = Team([NaiveUCB() for _ in range(count)])
        with pytest.raises(InvalidInput, match=rf"The team has {count} agents, but the problem has 2"):
            simulate(FIXED, team, horizon=5, runs=1, seed=0, engine="reference")

    @pytest.mark.xfail(raises=AssertionError, reason="reported: a string is taken for a list of one-letter members")
    def test_one_name_in_place_of_a_list(self):
        with pytest.raises(InvalidInput) as caught:
            Team("naive-ucb")
        assert "Team.of('naive-ucb')" in str(caught.value)


class Astray(Agent):
    arm: object = 2

    def choose(self):
        return self.arm if self.round == 4 else 0

    def observe(self, team_action, reward):
        pass


class AllAstray(Controller):
    action: object = (0, 2)

    def choose(self):
        return self.action

    def observe(self, team_action, rewards):
        pass


class TestInTheEngine:
    @pytest.mark.parametrize("arm", [2, -1, 0.0, True, None, "0", (0,)])
    def test_an_arm_that_is_not_there(self, arm):
        agent = Astray()
        agent.arm = arm
        with pytest.raises(AgentError, match=r"at place 1 chose .* in round 4; its arms are .* from 0 to 1") as caught:
            simulate(FIXED, Team([NaiveUCB(), agent]), horizon=5, runs=1, seed=0, engine="reference")
        assert f"chose {arm!r} in" in str(caught.value)

    @pytest.mark.parametrize("action", [(0, 2), (0, 0.5), [0, -1]])
    def test_a_team_action_that_is_not_there(self, action):
        controller = AllAstray()
        controller.action = action
        with pytest.raises(AgentError, match=r"AllAstray\(\) at place 1 chose .* in round 1"):
            simulate(FIXED, Team.of(controller), horizon=5, runs=1, seed=0, engine="reference")

    @pytest.mark.parametrize("action", [(0,), (0, 0, 0), ()])
    def test_a_team_action_of_the_wrong_length(self, action):
        controller = AllAstray()
        controller.action = action
        with pytest.raises(AgentError, match=r"in round 1; it has 2 arms to choose"):
            simulate(FIXED, Team.of(controller), horizon=5, runs=1, seed=0, engine="reference")

    @pytest.mark.xfail(raises=TypeError, reason="reported: len() of what a controller chose, before any check")
    def test_one_arm_in_place_of_a_team_action(self):
        controller = AllAstray()
        controller.action = 0
        with pytest.raises(AgentError):
            simulate(FIXED, Team.of(controller), horizon=5, runs=1, seed=0, engine="reference")


def test_what_asks_and_tells_a_person_must_be_given():
    with pytest.raises(TypeError, match=r"ask.*tell"):
        Human()


# What follows is accepted, or fails with an error of the language, today; each test says what should be.


@pytest.mark.xfail(raises=OverflowError, reason="reported: float(...) of a huge whole number, checks.real")
def test_a_whole_number_beyond_all_floats():
    with pytest.raises(InvalidInput):
        NaiveUCB(exploration=10**400)


@pytest.mark.xfail(raises=OverflowError, reason="reported: deque(maxlen=...) of a huge window")
def test_a_window_longer_than_memory():
    simulate(FIXED, Team.of("partner-aware-ucb", window=10**30), horizon=5, runs=1, seed=0, engine="reference")


@pytest.mark.xfail(raises=ZeroDivisionError, reason="reported: the square of a tiny spread is 0")
@pytest.mark.parametrize("option", ["prior_sd", "noise_sd"])
def test_a_spread_whose_square_vanishes(option):
    team = Team.of("naive-ts", **{option: 1e-200})
    simulate(Problem.gaussian(), team, horizon=5, runs=1, seed=0, engine="reference")


@pytest.mark.xfail(raises=RuntimeWarning, reason="reported: a look that moves the mean by nothing gives 0 / 0")
@pytest.mark.parametrize("options", [{"prior_sd": 1e-9}, {"noise_sd": 1e9}])
def test_knowledge_gradient_where_a_look_shows_next_to_nothing(options):
    simulate(Problem.gaussian(), Team.of(KnowledgeGradient(**options)), horizon=5, runs=1, seed=0, engine="reference")


@pytest.mark.xfail(
    raises=AssertionError, reason="reported: an assert, gone under python -O, in place of an error of ours"
)
def test_an_oracle_who_is_told_nothing():
    from cobandit.agents import Briefing

    with pytest.raises((AgentError, InvalidInput)):
        Optimal().reset(Briefing(0, (2, 2), (0, 1), 10), None)
