"""An agent in anybody's own loop: `reset`, then `choose` and `observe` in turn, plays as in the engine."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

from cobandit import Agent, AgentError, Briefing, Controller, InvalidInput, NaiveUCB, Optimal, Problem, Team
from cobandit.agents.base import pass_over
from cobandit.base.streams import Streams
from cobandit.engine import Environment
from cobandit.engine.reference import run_trajectory
from cobandit.studies import PEOPLE
from tests.agent_table import CASES, label

HORIZON = 120
PROBLEM = Problem.bernoulli([[0.8, 0.4, 0.1], [0.2, 0.6, 0.5]], observability=[1.0, 0.5])
BRIEFING = Briefing(1, (2, 3), (0, 1), HORIZON)


HUGE = pytest.param(10**400, id="huge")


def rng():
    return np.random.default_rng(5)


def ready(agent, briefing=BRIEFING):
    agent.reset(briefing, rng())
    return agent


def looped(team, problem=PROBLEM, seed=3):
    """A run in a plain loop, as a reader of the docs would write it."""
    streams = Streams.of(seed, 0, problem.agents)
    world = Environment(problem, streams)
    players = team.players(problem.agents)
    for place, player in enumerate(players):
        player.reset(
            Briefing(
                place,
                problem.arms,
                world.instance.ranks,
                HORIZON,
                problem.binary,
                problem.observation.name,
                means=world.instance.means if player.oracle else None,
                best_observer=problem.best_observer if team.controller else -1,
            ),
            streams.choices[place],
        )
    actions = []
    for _ in range(HORIZON):
        action = players[0].choose() if team.controller else tuple(player.choose() for player in players)
        seen = world.step(action).seen
        for place, player in enumerate(players):
            player.observe(action, seen if team.controller else seen[place])
        actions.append(action)
    assert [player.round for player in players] == [HORIZON + 1] * len(players)
    return actions


class TestAsInTheEngine:
    @pytest.mark.parametrize(("name", "options"), CASES, ids=map(label, CASES))
    def test_every_registered_agent(self, name, options):
        team = Team.of(name, **options)
        played = run_trajectory(PROBLEM, team, HORIZON, 3, 0).actions
        assert looped(team) == [tuple(action) for action in played.tolist()]

    @pytest.mark.parametrize("kind", PEOPLE.values(), ids=PEOPLE)
    def test_the_simulated_people(self, kind):
        team = Team([kind(), NaiveUCB()])
        played = run_trajectory(PROBLEM, team, HORIZON, 3, 0).actions
        assert looped(team) == [tuple(action) for action in played.tolist()]


class Counting(Agent):
    """Calls nothing of its base class, and tells what it got."""

    def reset(self, briefing, rng):
        self.got = []

    def choose(self):
        return self.round % self.briefing.own_arms

    def observe(self, team_action, reward):
        self.got.append((self.round, team_action, reward))


class Calling(Counting):
    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        self.calls = 0

    def choose(self):
        self.calls += 1
        return super().choose()

    def observe(self, team_action, reward):
        super().observe(team_action, reward)
        self.calls += 1
        super().observe(team_action, reward)


class Eyes:
    """A mixin that knows nothing of agents."""

    def observe(self, team_action, reward):
        self.last = team_action, reward


class Mixed(Eyes, Counting):
    pass


class Renamed(Counting):
    def observe(self, arms, pay, weight=1.0, *, note=""):
        self.got.append((arms, pay, weight, note))


class Partly(Counting):
    def _learn(self, how, team_action, reward):
        self.got.append((how, team_action, reward))

    observe = functools.partialmethod(_learn, "partly")


def logged(method):
    @functools.wraps(method)
    def call(self, *args):
        self.log = [*getattr(self, "log", []), method.__name__]
        return method(self, *args)

    return call


class Decorated(Counting):
    """Its methods are made of checked ones, by a decorator that copies their attributes."""

    choose = logged(Counting.choose)
    observe = logged(Counting.observe)


class Dreaming(Counting):
    """Plays a clone of itself ahead while it chooses and while it observes."""

    asleep = False

    def _ahead(self):
        clone = copy.deepcopy(self)
        clone.asleep = True
        for _ in range(4):
            clone.observe((0, 0), 0.0)
        return clone.round

    def choose(self):
        self.dreamt = self._ahead()
        return 0

    def observe(self, team_action, reward):
        if not self.asleep:
            self.got.append(self._ahead())


@dataclass
class Inner(Agent):
    """Hands everything on to another agent."""

    def reset(self, briefing, rng):
        self.inner = NaiveUCB(index="companion")
        self.inner.reset(briefing, rng)

    def choose(self):
        return self.inner.choose()

    def observe(self, team_action, reward):
        self.inner.observe(team_action, reward)


class Callable:
    """Not a function, and bound to nothing."""

    def __call__(self):
        return 1


class Borrowing(Counting):
    choose = Callable()


class TestWhateverASubclassDoes:
    @pytest.mark.parametrize("kind", [Counting, Calling, Mixed, Renamed, Partly, Decorated, Dreaming, Inner, Borrowing])
    def test_the_round_moves_on_by_one(self, kind):
        agent = ready(kind())
        rounds = []
        for _ in range(4):
            rounds.append(agent.round)
            agent.observe((0, agent.choose()), 1.0)
        assert rounds == [1, 2, 3, 4]
        assert agent.round == 5
        agent.reset(BRIEFING, rng())
        assert agent.round == 1

    @pytest.mark.parametrize("kind", [Counting, Calling, Mixed, Renamed, Partly, Decorated, Dreaming, Inner])
    def test_nothing_wrong_comes_in(self, kind):
        with pytest.raises(AgentError, match="before its first reset"):
            kind().choose()
        agent = ready(kind())
        with pytest.raises(InvalidInput, match="reward is nan"):
            agent.observe((0, 1), float("nan"))
        assert agent.round == 1
        assert not getattr(agent, "got", [])

    def test_briefing_and_stream_are_there_without_super(self):
        agent = ready(Counting())
        assert agent.briefing is BRIEFING
        assert isinstance(agent.rng, np.random.Generator)

    def test_the_round_is_still_the_old_one_inside_observe(self):
        agent = ready(Calling())
        agent.observe((0, 1), 1.0)
        assert agent.got == [(1, (0, 1), 1.0)] * 2
        assert agent.calls == 1

    def test_clones_played_inside_move_on_by_themselves(self):
        agent = ready(Dreaming())
        agent.choose()
        agent.observe((0, 1), 1.0)
        assert agent.dreamt == agent.got[0] == 5

    def test_arguments_by_name_and_more_of_them(self):
        agent = ready(Renamed())
        agent.observe(pay=1, arms=[0, 2])
        agent.observe((0, 1), 0.0, 2.5, note="late")
        agent.observe((0, 1), pay=None)
        assert agent.got == [((0, 2), 1.0, 1.0, ""), ((0, 1), 0.0, 2.5, "late"), ((0, 1), None, 1.0, "")]
        assert agent.round == 4
        with pytest.raises(TypeError, match="pay"):
            agent.observe((0, 1))
        with pytest.raises(TypeError, match="reward"):
            ready(Counting()).observe((0, 1))

    def test_a_method_put_on_the_class_later(self, monkeypatch):
        seen, original = [], NaiveUCB.observe

        def spy(self, team_action, reward):
            seen.append(reward)
            original(self, team_action, reward)

        monkeypatch.setattr(NaiveUCB, "observe", spy)
        agent = ready(NaiveUCB())
        agent.observe((0, 1), 1.0)
        assert (agent.round, seen) == (2, [1.0])

    def test_names_words_and_signatures_stay(self):
        assert NaiveUCB.choose.__doc__ == "Return the own coordinate of the team action with the best index."
        assert NaiveUCB.choose.__qualname__ == "NaiveUCB.choose"
        assert list(inspect.signature(Renamed.observe).parameters) == ["self", "arms", "pay", "weight", "note"]
        assert list(inspect.signature(NaiveUCB.reset).parameters) == ["self", "briefing", "rng"]

    def test_abstract_ones_stay_abstract(self):
        class Half(Agent):
            def choose(self):
                return 0

        with pytest.raises(TypeError, match="observe"):
            Half()  # type: ignore[abstract]

    def test_copies_and_pickles_go_on_where_they_are(self):
        agent = ready(NaiveUCB(index="companion"))
        for _ in range(7):
            agent.observe((0, agent.choose()), 1.0)
        for same in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent)), agent.clone()):
            assert same.round == 8
            same.observe((0, same.choose()), 0.0)
            assert same.round == 9
        assert agent.round == 8

    def test_a_class_that_travels_by_value(self):
        """As Dask sends the classes of a notebook to its workers."""
        cloudpickle = pytest.importorskip("cloudpickle")

        def make():
            class Local(NaiveUCB):
                def observe(self, team_action, reward):
                    super().observe(team_action, reward)

            return Local(index="companion")

        agent = ready(cloudpickle.loads(cloudpickle.dumps(make())))
        agent.observe((0, 1), 1.0)
        assert agent.round == 2
        assert agent._memory.counts.sum() == 1


class Grumpy(Counting):
    def reset(self, briefing, rng):
        super().reset(briefing, rng)
        if briefing.horizon == 13:
            raise RuntimeError("not with me")

    def observe(self, team_action, reward):
        if reward == 0.0:
            raise RuntimeError("not this one")


class TestWhenSomethingGoesWrong:
    def test_a_round_that_could_not_be_learnt_from_is_not_over(self):
        agent = ready(Grumpy())
        agent.observe((0, 1), 1.0)
        with pytest.raises(RuntimeError):
            agent.observe((0, 1), 0.0)
        assert agent.round == 2
        agent.observe((0, 1), 1.0)
        assert agent.round == 3

    def test_a_reset_that_failed_is_none(self):
        agent = ready(Grumpy())
        with pytest.raises(RuntimeError):
            agent.reset(Briefing(1, (2, 3), (0, 1), 13), rng())
        with pytest.raises(AgentError, match="before its first reset"):
            agent.choose()
        with pytest.raises(AgentError):
            Optimal().reset(BRIEFING, rng())

    def test_before_reset(self):
        for act in (lambda: NaiveUCB().choose(), lambda: NaiveUCB().observe((0, 1), 1.0)):
            with pytest.raises(AgentError, match=r"^naive-ucb\(.*\) was asked to .*; call reset\(briefing, rng\) once"):
                act()
        assert NaiveUCB().round == 0

    @pytest.mark.parametrize("reward", [np.nan, float("inf"), -float("inf"), "1", "", [1.0], 1j, HUGE])
    @pytest.mark.parametrize("binary", [True, False])
    def test_rewards_that_are_none(self, reward, binary):
        agent = ready(NaiveUCB(), Briefing(1, (2, 3), (0, 1), HORIZON, binary))
        with pytest.raises(InvalidInput, match=r"reward is .*; a finite number is needed, or None where") as caught:
            agent.observe((0, 1), reward)
        assert "\n" not in str(caught.value)
        assert agent.round == 1
        assert not agent._memory.counts.any()

    def test_rewards_beyond_0_and_1_where_the_briefing_says_so(self):
        agent = ready(NaiveUCB())
        for reward in (2, -0.5, 1.0000001):
            with pytest.raises(InvalidInput, match=r"the briefing says that rewards are 0 or 1.*binary=False"):
                agent.observe((0, 1), reward)
        agent = ready(NaiveUCB(), Briefing(1, (2, 3), (0, 1), HORIZON, binary=False))
        agent.observe((0, 1), -3)
        assert agent._memory.sums[0, 1] == -3.0

    @pytest.mark.parametrize("reward", [True, 1, np.float32(1), np.int8(1), np.bool_(True)])
    def test_a_hit_in_other_words(self, reward):
        agent = ready(Counting())
        agent.observe((0, 1), reward)
        assert agent.got == [(1, (0, 1), 1.0)]
        assert type(agent.got[0][2]) is float

    @pytest.mark.parametrize("action", [(0,), (0, 1, 0), (), 1, None, "01", {}, np.zeros((2, 2))])
    def test_team_actions_of_another_length(self, action):
        with pytest.raises(InvalidInput, match=r"^team_action"):
            ready(NaiveUCB()).observe(action, 1.0)

    @pytest.mark.parametrize("action", [{0: 1, 1: 2}, {1, 2}, frozenset({0, 1}), {0: 1, 1: 2}.keys()])
    def test_arms_in_no_order(self, action):
        """The keys of a dict, or a set as it happens to be sorted, would be taken for the arms."""
        with pytest.raises(InvalidInput, match=r"team_action must be a tuple of 2 arms, one for each agent"):
            ready(NaiveUCB()).observe(action, 1.0)

    @pytest.mark.parametrize("arm", [3, -1, 1.0, True, None, "1", np.nan])
    def test_arms_that_are_not_there(self, arm):
        with pytest.raises(InvalidInput, match="the arms of agent 1 are the integers from 0 to 2"):
            ready(NaiveUCB()).observe((0, arm), 1.0)

    @pytest.mark.parametrize("action", [[0, 2], np.array([0, 2]), (np.int8(0), np.int64(2)), iter((0, 2))])
    def test_a_team_action_in_another_form(self, action):
        """A list would count three cells as tried, were it taken for an index."""
        agent = ready(NaiveUCB())
        agent.observe(action, 1.0)
        assert agent._memory.counts.tolist() == [[0, 0, 1], [0, 0, 0]]

    @pytest.mark.parametrize(
        "rewards", [1.0, (1.0,), (1.0, 0.0, 1.0), None, (1.0, np.nan), (1.0, "0"), "10", {0: 1, 1: 0}]
    )
    def test_what_a_joint_controller_is_told(self, rewards):
        class Still(Controller):
            def choose(self):
                return 0, 0

            def observe(self, team_action, rewards):
                self.got = rewards

        brain = ready(Still())
        with pytest.raises(InvalidInput, match="rewards"):
            brain.observe((0, 0), rewards)
        brain.observe((0, 0), [1, None])
        assert brain.got == (1.0, None)
        assert brain.round == 2

    @pytest.mark.parametrize(
        ("briefing", "stream", "sentence"),
        [
            ({"agent": 0}, np.random.default_rng(0), "must be a cobandit.Briefing"),
            (BRIEFING, 7, r"rng must be a random generator, such as numpy.random.default_rng\(0\), got 7"),
            (BRIEFING, None, "must be a random generator"),
        ],
    )
    def test_resets_with_something_else(self, briefing, stream, sentence):
        with pytest.raises(InvalidInput, match=sentence):
            NaiveUCB().reset(briefing, stream)


class TestTheRoundIsReadOnly:
    def test_an_old_loop_is_told(self):
        agent = ready(NaiveUCB())
        agent.observe((0, 1), 1.0)
        with pytest.raises(AgentError, match=r"had its round set to 3 in round 2; .* leave that line out") as caught:
            agent.round += 1
        assert "\n" not in str(caught.value)
        assert agent.round == 2

    def test_a_reset_by_hand_may_say_1(self):
        class ByHand(Counting):
            def reset(self, briefing, rng):
                self.got, self.briefing, self.rng, self.round = [], briefing, rng, 1

        assert ready(ByHand()).round == 1

    def test_a_reset_by_hand_may_say_nothing_else(self):
        class Late(Counting):
            def reset(self, briefing, rng):
                self.round = 5

        with pytest.raises(AgentError, match="had its round set to 5"):
            ready(Late())

    def test_rounds_that_nobody_told_of(self):
        agent = ready(NaiveUCB())
        pass_over(agent, 3)
        assert agent.round == 4
        with pytest.raises(InvalidInput, match=r"rounds must be .*got -1"):
            pass_over(agent, -1)


class TestBriefings:
    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"agent": 2}, "agent must be an integer from 0 to 1"),
            ({"arms": ()}, "arms is empty"),
            ({"ranks": (0, 0)}, r"ranks is \(0, 0\); each rank from 0 \(the leader\) to 1 is needed once"),
            ({"binary": "no"}, "binary must be"),
            ({"observation": 3}, "observation must be"),
            ({"means": np.zeros((2, 2))}, r"an array of shape \(2, 3\) or None"),
            ({"best_observer": 2}, "best_observer must be"),
        ],
    )
    def test_are_checked(self, change, sentence):
        with pytest.raises(InvalidInput, match=sentence):
            Briefing(**({"agent": 0, "arms": (2, 3), "ranks": (1, 0), "horizon": 9} | change))

    def test_lists_become_tuples(self):
        briefing = Briefing(np.int64(0), [2, 3], [1, 0], 9.0)  # type: ignore[arg-type]
        assert briefing == Briefing(0, (2, 3), (1, 0), 9)
        assert type(briefing.horizon) is int
