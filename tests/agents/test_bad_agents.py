"""Bad options, names and teams are refused at the door: the error is ours, and says what came and what was needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cobandit import (
    AGENTS,
    Agent,
    AgentError,
    Briefing,
    CentralisedUCB,
    Controller,
    Elected,
    Human,
    InvalidInput,
    KnowledgeGradient,
    NaiveUCB,
    Optimal,
    PartnerAwareUCB,
    Problem,
    Steered,
    Team,
    UnknownName,
    simulate,
)
from cobandit.agents import make_agent
from cobandit.agents.beliefs import INDICES

NAN = math.nan
FIXED = Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])

SPREADS = [0, -0.1, 9e-7, 1e-200, 1000001, math.inf]
WRONG: dict[tuple[str, str], list[Any]] = {
    ("partner-aware-ucb", "window"): [0, -3, 2.5, "x", "3", None, True, NAN, math.inf, [25], 2**31, 10**30],
    ("partner-aware-ucb", "repeat"): [0, 2**31],
    ("partner-aware-ts", "window"): [0, 2**31],
    ("partner-aware-ts", "repeat"): [1.5, 2**31],
    ("partner-aware-ts", "noise_sd"): SPREADS,
    ("naive-ucb", "exploration"): [-1, NAN, math.inf, "0.1", 1j, 10**400],
    ("mucb-intervals", "exploration"): [-1],
    ("naive-ts", "prior_sd"): SPREADS,
    ("naive-ts", "prior_mean"): [NAN, 1e7, -1000001],
    ("centralised-ts", "noise_sd"): SPREADS,
    ("knowledge-gradient", "prior_sd"): SPREADS,
    ("knowledge-gradient", "discount"): [1.0, -0.1, "x"],
    ("mdsee", "sweeps"): [0, 2**31],
}


@pytest.mark.parametrize(("name", "option"), WRONG)
def test_wrong_options_are_refused_and_named(name, option):
    for make in (AGENTS[name], lambda **given: make_agent(name, **given), lambda **given: Team.of(name, **given)):
        for value in WRONG[name, option]:
            with pytest.raises(InvalidInput, match=f"^{option} must be "):
                make(**{option: value})


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("partner-aware-ucb", {"window": 0}, "window must be an integer of at least 1, got 0."),
        ("mdsee", {"sweeps": 2**31}, "sweeps must be an integer from 1 to 2,147,483,647, got 2147483648."),
        ("naive-ucb", {"exploration": NAN}, "exploration must be a finite number of at least 0, got nan."),
        ("naive-ts", {"prior_sd": 0}, "prior_sd must be a finite number of at least 1e-06 and at most 1e+06, got 0."),
        ("knowledge-gradient", {"discount": 1}, "discount must be a finite number of at least 0 and below 1, got 1."),
        ("naive-ucb", {"index": None}, f"There is no index None. Known: {', '.join(INDICES)}."),
        ("mdsee", {"ties": "rnadom"}, "There is no tie rule 'rnadom'. Did you mean 'random'? Known: first, random."),
    ],
)
def test_what_a_refusal_says(name, options, message):
    with pytest.raises(InvalidInput) as caught:
        make_agent(name, **options)
    assert str(caught.value) == message


@pytest.mark.parametrize("engine", ["auto", "fast", "reference"])
@pytest.mark.parametrize(("option", "value"), [("window", -3), ("exploration", NAN), ("index", "papper")])
def test_options_assigned_later(option, value, engine):
    """An index that nobody knows was played as another one by the fast engine."""
    agent = PartnerAwareUCB()
    setattr(agent, option, value)
    for attempt in (
        lambda: simulate(FIXED, Team.of(agent), horizon=5, runs=2, seed=0, engine=engine),
        lambda: agent.reset(Briefing(0, (2, 2), (0, 1), 10), np.random.default_rng(0)),
    ):
        with pytest.raises(InvalidInput, match=option):
            attempt()


def test_an_option_of_another_agent_gets_the_list():
    with pytest.raises(
        UnknownName, match=r"no option of naive-ucb called 'window'\..* Known: exploration, index, ties\."
    ):
        Team.of("naive-ucb", window=25)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("partner-aware-usb", "partner-aware-ucb"),
        ("partner_aware_ucb", "partner-aware-ucb"),
        ("Partner-Aware-UCB", "partner-aware-ucb"),
        ("naive", "naive-ts"),
        ("centralized-ucb", "centralised-ucb"),
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
    @pytest.mark.parametrize(
        ("make", "sentence"),
        [
            (
                lambda: Team([NaiveUCB(), CentralisedUCB()]),
                r"members\[1\] is centralised-ucb.*: use Team.of\('cent",
            ),
            (lambda: Team([NaiveUCB()]), r"members must hold at least 2 agents, got 1"),
            (lambda: Team([]), r"members must hold at least 2 agents, got 0"),
            (lambda: Team(CentralisedUCB()), r"members must be a list with one agent per place"),  # type: ignore[arg-type]
            (lambda: Team(None), r"members must be a list with one agent per place"),  # type: ignore[arg-type]
            (lambda: Team("naive-ucb"), r"got 'naive-ucb'\. Team.of\(...\) makes a whole team of one kind\."),
            (lambda: Team([NaiveUCB(), Human]), r"members\[1\] is Human, which cannot be made"),
            (lambda: Team.of(None), r"kind must be an agent, its class or its registry name, got None\."),
            (
                lambda: Team.of(PartnerAwareUCB(), window=3),
                r"options \{'window': 3\} go with a name; partner",
            ),
        ],
    )
    def test_what_makes_no_team(self, make, sentence):
        with pytest.raises(InvalidInput, match=sentence):
            make()

    @pytest.mark.parametrize("given", ["naive-ucb", NaiveUCB])
    def test_names_and_classes_stand_for_agents(self, given):
        assert Team([NaiveUCB(), given]) == Team([NaiveUCB(), NaiveUCB()])
        assert Team.of(given, exploration=0.5) == Team.of(NaiveUCB(exploration=0.5))

    def test_names_joined_by_a_plus_are_one_agent_for_each_place(self):
        team = Team.of("knowledge-gradient + partner-aware-ucb", window=3)
        assert team == Team([KnowledgeGradient(), PartnerAwareUCB(window=3)])
        with pytest.raises(UnknownName, match="no option of knowledge-gradient, naive-ucb called 'window'"):
            Team.of("knowledge-gradient+naive-ucb", window=3)
        with pytest.raises(UnknownName, match="There is no agent 'bnak'"):
            Team.of("knowledge-gradient+bnak")

    def test_a_team_of_the_wrong_size_for_the_problem(self):
        team = Team([NaiveUCB() for _ in range(3)])
        with pytest.raises(InvalidInput, match="The team has 3 agents, but the problem has 2"):
            simulate(FIXED, team, horizon=5, runs=1, seed=0, engine="reference")


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

    @pytest.mark.parametrize("action", [(0, 2), (0, 0.5), (0, -1), (0, True), (0, None)])
    def test_a_team_action_that_is_not_there(self, action):
        controller = AllAstray()
        controller.action = action
        with pytest.raises(AgentError) as caught:
            simulate(FIXED, Team.of(controller), horizon=5, runs=1, seed=0, engine="reference")
        assert str(caught.value) == (
            f"AllAstray(action={action}) at place 1 chose {action[1]!r} in round 1; "
            "its arms are the integers from 0 to 1."
        )

    @pytest.mark.parametrize("action", [(0,), (0, 0, 0), (), 0, None, "00", [0, 0], [0, -1], np.array([0, 0])])
    def test_anything_but_a_tuple_with_one_arm_for_each_agent(self, action):
        controller = AllAstray()
        controller.action = action
        with pytest.raises(AgentError) as caught:
            simulate(FIXED, Team.of(controller), horizon=5, runs=1, seed=0, engine="reference")
        needed = "a tuple of 2 arms, one for each agent, is needed."
        assert str(caught.value) == f"AllAstray(action={action}) chose {action!r} in round 1; {needed}"


def test_what_asks_and_tells_a_person_must_be_given():
    with pytest.raises(TypeError, match=r"ask.*tell"):
        Human()  # type: ignore[call-arg]


def test_an_oracle_who_is_told_nothing():
    with pytest.raises(AgentError) as caught:
        Optimal().reset(Briefing(0, (2, 2), (0, 1), 10), np.random.default_rng(0))
    needed = "a briefing with means=..., an array of shape (2, 2), is needed."
    assert str(caught.value) == f"The optimal agent does not know the means; {needed}"


class TestAtTheEdge:
    """The furthest values that are let in play on, without a warning (pytest is set to turn each into an error)."""

    @pytest.mark.parametrize("name", ["partner-aware-ucb", "partner-aware-ts"])
    @pytest.mark.parametrize("option", ["window", "repeat"])
    def test_the_largest_counts(self, name, option):
        far, farther = (
            simulate(FIXED, Team.of(name, **{option: value}), horizon=30, runs=2, seed=0, engine="reference")
            for value in (30, 2**31 - 1)
        )
        assert np.array_equal(far.task_regret, farther.task_regret)

    @pytest.mark.parametrize("name", ["naive-ts", "partner-aware-ts", "centralised-ts", "knowledge-gradient"])
    @pytest.mark.parametrize("prior_sd", [1e-6, 1e6])
    @pytest.mark.parametrize("noise_sd", [1e-6, 1e6])
    @pytest.mark.parametrize("prior_mean", [-1e6, 1e6])
    def test_the_narrowest_and_the_widest_spreads(self, name, prior_sd, noise_sd, prior_mean):
        team = Team.of(name, prior_mean=prior_mean, prior_sd=prior_sd, noise_sd=noise_sd)
        problem = Problem.gaussian(noise=[0.1, 0.5])
        result = simulate(problem, team, horizon=50, runs=2, seed=0, engine="reference")
        assert np.isfinite(result.task_regret).all()

    def test_knowledge_gradient_where_a_look_shows_next_to_nothing(self):
        # A look moves the mean by 1e-18: all means stay .5 to the last bits, no look is worth a thing, the first wins.
        team = Team.of("knowledge-gradient", prior_sd=1e-6, noise_sd=1e6)
        result = simulate(Problem.gaussian(), team, horizon=50, runs=1, seed=0, engine="reference")
        assert not result.trajectory(0).actions.any()


class TestProtocols:
    """Agents that follow a protocol need partners that follow it, too."""

    @pytest.mark.parametrize(
        "members",
        [
            ["knowledge-gradient", "steered"],
            ["steered", "elected"],
            ["elected", "naive-ucb", "elected"],
            ["handshake", "steered"],
        ],
    )
    def test_a_protocol_that_not_everybody_follows(self, members):
        with pytest.raises(InvalidInput, match=r"members must all follow the protocol of '(steered|elected)', got"):
            Team(members)
        assert len(Team(members, check_protocol=False).members) == len(members)

    @pytest.mark.parametrize(
        ("members", "words"),
        [
            ([Steered(reports="on", follower_sight=0.5), Steered(reports="off")], "same reports, got 'on' and 'off'"),
            ([Elected(sweeps=1), Elected(sweeps=2)], "same sweeps, got 1 and 2"),
        ],
    )
    def test_a_protocol_followed_in_two_ways(self, members, words):
        with pytest.raises(InvalidInput, match=words):
            Team(members)

    @pytest.mark.parametrize(
        "members",
        [
            ["handshake", "knowledge-gradient"],
            ["handshake", "handshake"],
            ["steered", Steered(index="ucb")],
            [Human(ask=len, tell=len), "steered"],  # type: ignore[arg-type]
            [type("Mine", (Steered,), {})(), "steered"],
        ],
    )
    def test_teams_that_may_play(self, members):
        assert len(Team(members).members) == 2

    def test_stored_teams_still_load(self):
        described = Team(["knowledge-gradient", "steered"], check_protocol=False).describe()
        assert Team.from_dict(described).label == "knowledge-gradient + steered"
