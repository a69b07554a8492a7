"""A partner: one agent in one seat, driven from outside, and brought back from a log."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

import cobandit as cb
from cobandit import Agent, AgentError, Briefing, InvalidInput, Partner, Problem
from cobandit.engine.reference import run_trajectory
from cobandit.problem.observation import ObservationName
from tests.engine.partners import (
    ARMS,
    EVERY_KIND,
    MEANS,
    SEATED,
    World,
    goes_on,
    new_partner,
    partner_of_kind,
    play,
)


class TestMaking:
    def test_from_an_agent(self):
        agent = cb.PartnerAwareUCB(window=5)
        partner = Partner(agent, arms=(2, 2), seat=1, horizon=1000, observability=(1.0, 0.4), seed=7)
        assert partner.briefing == Briefing(1, (2, 2), (0, 1), 1000)
        assert (partner.seat, partner.round, partner.agent.options["window"]) == (1, 1, 5)
        assert agent.round == 0
        assert repr(partner).startswith("<Partner partner-aware-ucb(exploration=0.025")
        assert repr(partner).endswith("at seat 1: round 1 of 1000>")

    def test_from_a_name_with_options(self):
        assert new_partner("partner-aware-ucb", window=5).agent.options == cb.PartnerAwareUCB(window=5).options

    @pytest.mark.parametrize(
        ("setting", "briefing"),
        [
            ({"observability": (0.4, 1.0)}, {"ranks": (1, 0)}),
            ({"observability": None}, {"ranks": (0, 1)}),
            ({"observability": (1.0, 0.4), "roles": (1, 0)}, {"ranks": (1, 0)}),
            ({"observation": "missed-known"}, {"observation": "missed-known"}),
            ({"observation": "noisy", "observability": None, "noise": (0.5, 0.1)},
             {"observation": "noisy", "binary": False, "ranks": (1, 0)}),
            ({"binary": False}, {"binary": False}),
            ({"arms": [2, 3, 4], "observability": [0.2, 0.9, 0.5], "seat": 2},
             {"agent": 2, "arms": (2, 3, 4), "ranks": (2, 0, 1)}),
        ],
    )  # fmt: skip
    def test_the_setting_makes_the_briefing(self, setting, briefing):
        assert new_partner(**setting).briefing == replace(Briefing(1, ARMS, (0, 1), 500), **briefing)

    def test_for_a_problem(self):
        problem = Problem.gaussian(MEANS, noise=[0.5, 0.1])
        partner = Partner.for_problem("partner-aware-ts", problem, seat=0, horizon=30, seed=1, window=3)
        assert partner.briefing == Briefing(0, ARMS, (1, 0), 30, binary=False, observation="noisy")
        assert partner.agent.options["window"] == 3

    def test_for_a_problem_whose_roles_are_drawn(self):
        problem = Problem.bernoulli(MEANS, roles="random")
        with pytest.raises(InvalidInput, match=r"must know who leads: give each seat's rank, such as roles=\(0, 1\)"):
            Partner.for_problem("naive-ucb", problem, 0, 30)
        assert Partner.for_problem("naive-ucb", problem, 0, 30, roles=(1, 0)).briefing.rank == 1

    def test_an_oracle(self):
        assert new_partner("optimal", means=MEANS).choose() == 0
        assert Partner.for_problem("optimal", Problem.bernoulli(MEANS), 1, 30).choose() == 0
        assert (
            Partner.for_problem("optimal", Problem.bernoulli(arms=ARMS), 0, 30, means=np.eye(2, 3)[::-1]).choose() == 0
        )

    @pytest.mark.parametrize("name", [name for name in SEATED if name != "optimal"])
    @pytest.mark.parametrize("seat", [0, 1])
    def test_one_seed_is_one_run_of_a_simulation(self, name, seat):
        """What the agent of the seat does in run 0 can be had from outside, by the seed alone."""
        problem = Problem.bernoulli(MEANS, observability=[1.0, 0.5])
        run = run_trajectory(problem, cb.Team.of(name), 80, 5, 0)
        partner = Partner.for_problem(name, problem, seat, 80, seed=5)
        for action, seen in zip(run.actions.tolist(), run.seen[:, seat].tolist(), strict=True):
            assert partner.choose() == action[seat]
            partner.observe(action, seen)

    def test_around_an_agent_that_was_reset(self):
        agent = cb.NaiveUCB()
        with pytest.raises(InvalidInput, match="must be an agent that has been reset"):
            Partner.around(agent)
        agent.reset(Briefing(1, ARMS, (0, 1), 50), np.random.default_rng(0))
        assert Partner.around(agent).agent is agent

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"agent": "naive_ucb"}, "There is no agent 'naive_ucb'. Did you mean 'naive-ucb'?"),
            ({"agent": "partner-aware-ucb", "windw": 3}, "There is no option of partner-aware-ucb called 'windw'"),
            ({"agent": cb.NaiveUCB(), "window": 3}, "options {'window': 3} go with a name"),
            ({"agent": cb.NaiveUCB}, "Call the class: NaiveUCB()."),
            ({"agent": "centralised-ucb"}, "is one brain for the whole team; a partner sits in one seat"),
            ({"agent": "optimal"}, "plays by the true means; means=..., an array of shape (2, 3), is needed"),
            ({"agent": "optimal", "means": [[1, 2, np.nan], [3, 4, 5]]}, "finite numbers in an array of shape (2, 3)"),
            ({"means": MEANS}, "may not know them; leave means out"),
            ({"seat": 2}, "seat must be an integer from 0 to 1, got 2"),
            ({"roles": "random"}, "a partner must know who leads"),
        ],
    )
    def test_everything_is_checked_at_the_door(self, change, sentence):
        with pytest.raises(InvalidInput) as caught:
            new_partner(**change)
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_for_something_that_is_no_problem(self):
        with pytest.raises(InvalidInput, match="must be a Problem"):
            Partner.for_problem("naive-ucb", cast("Any", ARMS), 0, 30)


class TestRounds:
    def test_the_same_answer_until_the_round_is_over(self):
        partner, other, world = new_partner("naive-ts"), new_partner("naive-ts"), World()
        for _ in range(30):
            arm = partner.choose()
            assert [partner.choose() for _ in range(5)] == [arm] * 5
            action, seen = world.round(arm)
            partner.observe(action, seen)
            assert other.choose() == arm
            other.observe(action, seen)
        assert partner.round == other.round == 31

    def test_a_round_in_which_nobody_asked(self):
        """The rounds alone make the partner, whether or not the choice was looked at."""
        asked, silent, world = new_partner("naive-ts"), new_partner("naive-ts"), World()
        for _ in range(30):
            action, seen = world.round(asked.choose())
            asked.observe(action, seen)
            silent.observe(action, seen)
        assert silent.state() == asked.state()

    def test_predictions_are_those_of_the_latest_choice(self):
        partner = new_partner(window=1)
        partner.observe((1, partner.choose()), 1.0)
        partner.choose()
        assert dict(partner.predictions) == {0: 1}
        assert dict(new_partner("naive-ucb").predictions) == {}

    def test_an_arm_that_was_overridden_must_be_said(self):
        partner = new_partner("naive-ucb")
        chosen = partner.choose()
        other = (chosen + 1) % 3
        with pytest.raises(
            InvalidInput, match=rf"arm {other} at seat 1, .* chose {chosen} in round 1; .* override=True"
        ):
            partner.observe((0, other), 1.0)
        assert (partner.round, partner.choose()) == (1, chosen)
        partner.observe((0, other), 1.0, override=True)
        assert partner.round == 2
        assert partner.agent._memory.counts[0].tolist() == [int(arm == other) for arm in range(3)]

    @pytest.mark.parametrize("name", SEATED)
    def test_every_agent_copes_with_being_overridden(self, name):
        partner, world = new_partner(name, means=MEANS if name == "optimal" else None), World()
        for t in range(200):
            arm = (partner.choose() + t % 3) % 3
            partner.observe(*world.round(arm), override=True)
        goes_on(partner, world)

    @pytest.mark.parametrize(
        ("action", "seen", "sentence"),
        [
            ((0,), 1.0, "must be a tuple of 2 arms, one for each agent"),
            ((2, 0), 1.0, "the arms of agent 0 are the integers from 0 to 1"),
            ("00", 1.0, "a tuple of 2 arms"),
            (None, 1.0, "a tuple of 2 arms"),
            ((0, 0), float("nan"), "reward is nan; a finite number is needed"),
            ((0, 0), "1", "reward is '1'"),
            ((0, 0), 3.0, "the briefing says that rewards are 0 or 1"),
        ],
    )
    def test_a_round_that_cannot_have_been(self, action, seen, sentence):
        partner = new_partner("naive-ucb")
        before = partner.choose(), partner.state()
        with pytest.raises(InvalidInput) as caught:
            partner.observe(action, seen)
        assert sentence in str(caught.value)
        assert (partner.choose(), partner.state()) == before

    def test_it_goes_on_beyond_its_horizon(self):
        partner, world = new_partner("knowledge-gradient", horizon=10), World()
        play(partner, world, 40)
        goes_on(partner, world)

    def test_an_agent_that_chooses_what_it_does_not_have(self):
        class Astray(Agent):
            def choose(self):
                return 3

            def observe(self, team_action, reward):
                pass

        with pytest.raises(AgentError, match=r"at place 1 chose 3 in round 1; its arms are .* from 0 to 2"):
            new_partner(Astray()).choose()

    def test_copies_and_pickles(self):
        partner, world = new_partner("naive-ts"), World()
        play(partner, world, 20)
        for other in (copy.deepcopy(partner), pickle.loads(pickle.dumps(partner))):
            assert play(other, copy.deepcopy(world), 20) == play(copy.deepcopy(partner), copy.deepcopy(world), 20)


class TestLog:
    def rounds_of(self, partner, world, rounds):
        log = []
        for _ in range(rounds):
            log.append(world.round(partner.choose()))
            partner.observe(*log[-1])
        return log

    @EVERY_KIND
    def test_gives_the_very_same_partner(self, name, kind, options):
        partner, world = partner_of_kind(name, kind, options), World()
        log = self.rounds_of(partner, world, 60)
        setting: dict[str, Any] = {"arms": ARMS, "seat": 1, "horizon": 500, "observability": (1.0, 0.4), "seed": 7}
        again = Partner.from_log(kind(**options), log, **setting | ({"means": MEANS} if name == "optimal" else {}))
        assert again.state() == partner.state()
        assert play(again, copy.deepcopy(world), 40) == play(partner, copy.deepcopy(world), 40)

    def test_of_a_problem_and_by_name(self):
        problem = Problem.bernoulli(MEANS, observability=[1.0, 0.5])
        partner = Partner.for_problem("partner-aware-ts", problem, 1, 300, seed=3, window=2)
        log = self.rounds_of(partner, World(), 50)
        again = Partner.from_log("partner-aware-ts", log, problem=problem, seat=1, horizon=300, seed=3, window=2)
        assert again.state() == partner.state()

    def test_goes_on_from_a_state(self):
        partner, world = new_partner(), World()
        log = self.rounds_of(partner, world, 20)
        state = partner.state()
        more = self.rounds_of(partner, world, 20)
        assert Partner.from_state(state).replay(more).state() == partner.state()
        assert new_partner().replay(log).replay(iter(more)).state() == partner.state()

    @pytest.mark.parametrize("rounds", [None, 3, "log", {1: ((0, 1), 1.0)}])
    def test_no_log_at_all(self, rounds):
        with pytest.raises(InvalidInput, match=r"^rounds must be a list with a pair of team action and seen reward"):
            Partner.from_log("naive-ts", rounds, arms=ARMS, seat=1, horizon=500, seed=8)

    def test_of_another_partner_is_refused(self):
        log = self.rounds_of(new_partner("naive-ts"), World(), 60)
        with pytest.raises(
            InvalidInput, match=r"Round \d+ of the log cannot have been: .* chose \d in .* overrides=True"
        ):
            new_partner("naive-ts", seed=8).replay(log)
        with pytest.raises(InvalidInput, match="of the log cannot have been"):
            Partner.from_log("naive-ts", log, arms=ARMS, seat=1, horizon=500, seed=8)

    def test_with_overrides_is_played_where_it_is_said(self):
        partner, world, log = new_partner("naive-ts"), World(), []
        for t in range(40):
            log.append(world.round((partner.choose() + t % 2) % 3))
            partner.observe(*log[-1], override=True)
        setting: dict[str, Any] = {"arms": ARMS, "seat": 1, "horizon": 500, "observability": (1.0, 0.4), "seed": 7}
        with pytest.raises(InvalidInput, match="Round 2 of the log"):
            Partner.from_log("naive-ts", log, **setting)
        assert Partner.from_log("naive-ts", log, overrides=True, **setting).state() == partner.state()

    def test_without_the_seed(self):
        with pytest.raises(InvalidInput, match="the seed that the partner was made with is needed"):
            Partner.from_log("naive-ts", [], arms=ARMS, seat=1, horizon=500)

    @pytest.mark.parametrize("entry", [None, 3, (1,), ((0, 0), 1.0, 2), "ab", ((0, 0), "1"), ((0, 9), 1.0)])
    def test_rounds_that_are_none(self, entry):
        with pytest.raises(InvalidInput, match="Round 1 of the log"):
            new_partner().replay([entry])


def test_is_in_the_front_door():
    assert "Partner" in cb.__all__
    assert list(inspect.signature(cb.Partner).parameters)[:4] == ["agent", "arms", "seat", "horizon"]


class TestNothingSeen:
    """None is what a seat sees that knows it saw nothing, and nothing else."""

    @pytest.mark.parametrize(
        ("observation", "words"),
        [
            ("missed", "seen must be 0 .for a missed reward. or the reward itself under 'missed' observ"),
            ("flipped", "seen must be 1 .for a flipped reward. or the reward itself under 'flipped'"),
            ("noisy", "seen must be a number under 'noisy' observation, got None"),
        ],
    )
    def test_is_refused_where_something_is_always_seen(self, observation: ObservationName, words: str) -> None:
        partner = Partner("naive-ucb", (2, 2), 0, 10, observation=observation, seed=0)
        action = (partner.choose(), 0)
        with pytest.raises(InvalidInput, match=words):
            partner.observe(action, None)
        assert partner.round == 1
        partner.observe(action, 0.0)
        assert partner.round == 2

    def test_is_learnt_from_where_it_is_known(self) -> None:
        partner = Partner("naive-ucb", (2, 2), 0, 10, observation="missed-known", seed=0)
        partner.observe((partner.choose(), 0), None)
        assert partner.round == 2

    def test_in_a_log_it_is_a_warning(self) -> None:
        first = Partner("naive-ucb", (2, 2), 0, 10, seed=0).choose()
        with pytest.warns(UserWarning, match="1 rounds of the log have None as the seen reward"):
            partner = Partner.from_log("naive-ucb", [((first, 0), None)], arms=(2, 2), seat=0, horizon=10, seed=0)
        assert partner.round == 2
