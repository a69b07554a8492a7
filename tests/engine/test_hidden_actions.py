"""Hidden actions: agents never learn their partners' arms, in any loop; those that need them are refused."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, ClassVar

import numpy as np
import pytest

import cobandit as cb
from cobandit.agents.base import HIDDEN
from cobandit.engine.fast.kinds.very_naive_ucb import very_naive_ucb
from cobandit.engine.match import Match
from cobandit.testing import check_agent
from cobandit.theory import bound, exact_limits, fact_one

MEANS = [[0.9, 0.1], [0.2, 0.6]]
OPEN = cb.Problem.bernoulli(MEANS, [1.0, 1.0])
SECRET = cb.Problem.bernoulli(MEANS, [1.0, 1.0], actions="hidden")
BLIND = {"very-naive-ucb", "optimal", "mdsee", "mucb", "win-stay-lose-shift"}
"""Registered agents that do without their partners' arms, whatever their options."""


class Listener(cb.Agent):
    """Notes all that it observes."""

    needs_actions: ClassVar[bool] = False

    def reset(self, briefing: cb.Briefing, rng: Any) -> None:
        super().reset(briefing, rng)
        self.heard: list[tuple[tuple[int, ...], float | None]] = []

    def choose(self) -> int:
        return self.round % self.briefing.own_arms

    def observe(self, team_action: tuple[int, ...], reward: float | None) -> None:
        self.heard.append((team_action, reward))


class TestDescriptions:
    def test_the_default_is_left_out(self):
        assert "actions" not in OPEN.describe()
        assert SECRET.describe() == OPEN.describe() | {"actions": "hidden"}

    @pytest.mark.parametrize("problem", [OPEN, SECRET, cb.Problem.gaussian(MEANS, [0, 1], actions="hidden")])
    def test_a_problem_is_made_again(self, problem):
        assert cb.Problem.from_dict(json.loads(json.dumps(problem.describe()))) == problem

    @pytest.mark.parametrize("value", ["hiden", "", None, True, 1, ["hidden"], float("nan")])
    def test_anything_else_is_refused(self, value):
        with pytest.raises(cb.UnknownName, match="actions"):
            cb.Problem.bernoulli(MEANS, actions=value)
        with pytest.raises(cb.UnknownName, match="actions"):
            cb.Briefing(0, (2, 2), (0, 1), 9, actions=value)

    def test_a_leader_cannot_be_elected_by_hidden_arms(self):
        with pytest.raises(cb.InvalidInput, match="roles is 'elected', but actions is 'hidden'"):
            cb.Problem.bernoulli(MEANS, roles="elected", actions="hidden")

    def test_a_result_says_so(self, tmp_path):
        result = cb.simulate(SECRET, "mucb", 20, runs=2)
        result.save(tmp_path / "result.parquet")
        again = cb.Result.load(tmp_path / "result.parquet")
        assert again.problem == SECRET

    def test_theorems_are_about_observed_actions(self):
        with pytest.raises(cb.InvalidInput, match="Theorem 1 is about observed actions"):
            bound(SECRET, 100)
        with pytest.raises(cb.InvalidInput, match="the exact limits are for observed actions"):
            exact_limits(cb.Problem.bernoulli("random", actions="hidden"), 3)
        with pytest.raises(cb.InvalidInput, match="Fact 1 is about observed actions"):
            fact_one(SECRET, [[0, 0]], [[1, 1, 1, 1]])


class TestWhoMayPlay:
    def test_the_table_of_registered_agents(self):
        agents = {name: kind for name, kind in cb.AGENTS.items() if issubclass(kind, cb.Agent)}
        assert {name for name, kind in agents.items() if not kind().needs_actions} == BLIND
        assert not cb.RecencySoftmax(values="own-arms").needs_actions

    @pytest.mark.parametrize("engine", ["fast", "reference", "auto"])
    def test_others_are_refused_before_any_work(self, engine):
        for name in ("partner-aware-ucb", "naive-ucb", "steered", "bank", "softmax", "mucb-intervals"):
            with pytest.raises(cb.InvalidInput, match=f"actions is 'hidden', but {name} needs the arms of its partn"):
                cb.simulate(SECRET, name, 10**6, runs=10**4, engine=engine, keep="summary")
        with pytest.raises(cb.InvalidInput, match="but bank needs"):
            cb.Partner.for_problem("bank", SECRET, 0, 10)

    def test_an_agent_of_your_own_has_to_declare_that_it_can(self):
        class Mine(cb.Agent):
            def choose(self):
                return 0

            def observe(self, team_action, reward):
                pass

        class Changed(Listener):
            def observe(self, team_action, reward):
                pass

        class Inherited(Listener):
            def choose(self):
                return 0

        with pytest.raises(cb.InvalidInput, match=r"but Mine needs the arms of its partners.*needs_actions = False"):
            cb.simulate(SECRET, Mine, 5, runs=1)
        with pytest.raises(cb.InvalidInput, match="but Changed needs"):
            cb.simulate(SECRET, Changed, 5, runs=1)
        cb.simulate(SECRET, Inherited, 5, runs=1)
        check_agent(Listener(), horizon=5)

    def test_the_contract_tries_hidden_actions(self):
        class Careless(Listener):
            needs_actions: ClassVar[bool] = False

            def observe(self, team_action, reward):
                assert min(team_action) >= 0

        with pytest.raises(cb.AgentError, match="missed observation, hidden actions"):
            check_agent(Careless(), horizon=5)

    def test_one_brain_chooses_all_arms_and_knows_them(self):
        for name in ("centralised-ucb", "centralised-ts"):
            observed, hidden = (cb.simulate(problem, name, 50, runs=3).task_regret for problem in (OPEN, SECRET))
            np.testing.assert_array_equal(observed, hidden)


class TestWhatAgentsLearn:
    @pytest.mark.parametrize("delay", [0, 2])
    def test_only_their_own_arms(self, delay):
        problem = dataclasses.replace(SECRET, delay=delay)
        match = Match(problem, cb.Team([Listener(), cb.VeryNaiveUCB(), Listener()][:2]), 9, 3, 0)
        played = [action for action, _ in match.rounds()]
        listener: Any = match.partners[0].agent
        heard = listener.heard
        assert [action for action, _ in heard] == [(own, HIDDEN) for own, _ in played[: 9 - delay]]
        assert len({other for _, other in played}) == 2

    def test_in_a_plain_loop(self):
        agent: Any = Listener()
        agent.reset(cb.Briefing(1, (2, 3, 2), (0, 1, 2), 9, actions="hidden"), np.random.default_rng(0))
        for action in ((1, 2, 0), [0, 1, 1], (None, 0, -1), np.array([1, 1, 1])):
            agent.choose()
            agent.observe(action, 1.0)
        assert [action for action, _ in agent.heard] == [(-1, 2, -1), (-1, 1, -1), (-1, 0, -1), (-1, 1, -1)]
        for wrong in ((0, None, 0), (0, -1, 0), (2, 0, 0), (0, 3, 0), (-2, 0, 0), (0, 0), None, ("a", 0, 0)):
            with pytest.raises(cb.InvalidInput, match="team_action"):
                agent.observe(wrong, 1.0)

    def test_hidden_arms_are_refused_where_actions_are_observed(self):
        agent: Any = Listener()
        agent.reset(cb.Briefing(1, (2, 3), (0, 1), 9), np.random.default_rng(0))
        for action in ((None, 0), (HIDDEN, 0)):
            with pytest.raises(cb.InvalidInput, match="the arms of agent 0"):
                agent.observe(action, 1.0)

    def test_common_rewards_make_common_plans(self):
        """mUCB with hidden actions plays what naive UCB and one brain play (Fact 1)."""
        teams = "mucb", cb.Team.of("naive-ucb", exploration=0.5), cb.Team.of("centralised-ucb", exploration=0.5)
        for index in ("paper", "anytime"):
            hidden, naive, brain = (
                cb.simulate(problem, cb.Team.from_any(team).with_options(index=index), 300, runs=5).trajectory(3)
                for problem, team in zip((SECRET, OPEN, OPEN), teams, strict=True)
            )
            np.testing.assert_array_equal(hidden.actions, naive.actions)
            np.testing.assert_array_equal(hidden.actions, brain.actions)

    def test_plans_differ_where_rewards_do(self):
        problem = cb.Problem.gaussian(MEANS, [0.5, 0.5], sd=0.0, actions="hidden")
        match = Match(problem, cb.Team.of("mucb"), 200, 1, 0)
        for _ in match.rounds():
            pass
        agents: list[Any] = [partner.agent for partner in match.partners]
        first, second = (agent._memory.sums for agent in agents)
        assert not np.array_equal(first, second)


class TestPartner:
    SETTING: ClassVar[dict[str, Any]] = {"arms": (2, 2), "seat": 1, "horizon": 50, "actions": "hidden", "seed": 5}

    @pytest.mark.parametrize("name", ["mucb", "mdsee", "very-naive-ucb"])
    def test_plays_a_seat_of_the_simulation_without_the_other_arms(self, name):
        rounds = cb.simulate(SECRET, name, 50, runs=1, seed=5).trajectory(0)
        partner = cb.Partner(name, **self.SETTING)
        for t in range(50):
            assert partner.choose() == rounds.actions[t, 1]
            partner.observe((None, partner.choose()), rounds.seen[t, 1])

    @pytest.mark.parametrize("name", ["mucb", "mdsee", "very-naive-ucb"])
    def test_state_and_log(self, name):
        partner = cb.Partner(name, **self.SETTING)
        log = []
        for t in range(13):
            log.append(((None, partner.choose()), float(t % 3 == 0)))
            partner.observe(*log[-1])
        partner.choose()
        again = cb.Partner.from_state(json.loads(json.dumps(partner.state())))
        replayed = cb.Partner.from_log(name, log, **self.SETTING)
        assert again.briefing.actions == "hidden"
        for t in range(13, 30):
            arm = partner.choose()
            assert (again.choose(), replayed.choose()) == (arm, arm)
            for each in (partner, again, replayed):
                each.observe((HIDDEN, arm), float(t % 3 == 0))

    def test_a_state_with_observed_actions_is_written_as_before(self):
        state = cb.Partner("mucb", **(self.SETTING | {"actions": "observed"})).state()
        assert "actions" not in state["briefing"]["briefing"]

    def test_a_person_may_overrule_the_plan(self):
        partner = cb.Partner("mucb", **self.SETTING)
        assert partner.choose() == 0
        partner.observe((None, 1), 1.0, override=True)
        agent: Any = partner.agent
        assert agent._memory.counts.tolist() == [[0, 1], [0, 0]]


def test_a_compiled_form_of_your_own_plays_on_the_reference_engine():
    def factory(agent, seat):
        return very_naive_ucb(agent, seat)

    class Own(cb.VeryNaiveUCB):
        compiled: ClassVar[Any] = staticmethod(factory)

    result = cb.simulate(SECRET, Own, 6000, runs=2)
    assert result.engine == "reference"
    assert "could read the arms that are hidden" in result.engine_reason
    with pytest.raises(cb.InvalidInput, match="could read the arms that are hidden"):
        cb.simulate(SECRET, Own, 6000, runs=2, engine="fast")
    assert cb.simulate(OPEN, Own, 6000, runs=2, engine="fast").engine == "fast"


def test_ties_and_index_of_mucb_must_be_agreed():
    with pytest.raises(cb.UnknownName, match="ties"):
        cb.MUCB(ties="random")
    with pytest.raises(cb.UnknownName, match="index"):
        cb.MUCB(index="companion")
    with pytest.raises(cb.InvalidInput, match="mucb needs feedback on each"):
        cb.simulate(dataclasses.replace(SECRET, delay=1), "mucb", 9, runs=1)
