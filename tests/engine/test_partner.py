"""A partner: one agent in one seat, driven from outside, written to JSON and brought back."""

from __future__ import annotations

import copy
import inspect
import json
import pickle
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, replace

import numpy as np
import pytest

import cobandit as cb
from cobandit import AGENTS, Agent, AgentError, Briefing, InvalidInput, Partner, Problem, UnknownName
from cobandit.engine.reference import run_trajectory
from cobandit.engine.state import FORMAT, _checksum
from cobandit.studies import PEOPLE

ARMS = (2, 3)
MEANS = [[0.8, 0.4, 0.3], [0.2, 0.6, 0.5]]
SEATED = {name: kind for name, kind in AGENTS.items() if issubclass(kind, Agent)}


def made(agent="partner-aware-ucb", **changes):
    setting = {"arms": ARMS, "seat": 1, "horizon": 500, "observability": (1.0, 0.4), "seed": 7} | changes
    return Partner(agent, **setting)


class World:
    """Somebody at every other seat and what each round pays, repeatable from any point by a deep copy."""

    def __init__(self, arms=ARMS, seat=1, seed=11, missing=False, spread=None):
        self.arms, self.seat, self.missing, self.spread = arms, seat, missing, spread
        self.rng = np.random.default_rng(seed)

    def round(self, arm):
        action = tuple(arm if i == self.seat else int(self.rng.integers(size)) for i, size in enumerate(self.arms))
        hit = float(self.rng.random() < 0.2 + 0.6 * (sum(action) % 2))
        if self.spread is not None:
            hit += float(self.spread * self.rng.standard_normal())
        return action, None if self.missing and self.rng.random() < 0.5 else hit


def play(partner, world, rounds):
    """The own arms and the predictions of so many rounds."""
    played = []
    for _ in range(rounds):
        arm = partner.choose()
        played.append((arm, dict(partner.predictions)))
        partner.observe(*world.round(arm))
    return played


def travelled(state):
    """A state that went through strict JSON, and a database that keeps the members of objects in its own order."""
    return json.loads(json.dumps(state, allow_nan=False, sort_keys=True))


def goes_on(partner, world, agent=None, rounds=60):
    """The partner and the one made of its state play the same rounds."""
    again = Partner.from_state(travelled(partner.state()), agent)
    assert again.round == partner.round
    assert again.state() == partner.state()
    assert play(again, copy.deepcopy(world), rounds) == play(partner, copy.deepcopy(world), rounds)
    assert again.state() == partner.state()
    return again


class TestMaking:
    def test_from_an_agent(self):
        agent = cb.PartnerAwareUCB(window=5)
        partner = Partner(agent, arms=(2, 2), seat=1, horizon=1000, observability=(1.0, 0.4), seed=7)
        assert partner.briefing == Briefing(1, (2, 2), (0, 1), 1000)
        assert (partner.seat, partner.round, partner.agent.window) == (1, 1, 5)
        assert agent.round == 0
        assert repr(partner).startswith("<Partner partner-aware-ucb(exploration=0.025")
        assert repr(partner).endswith("at seat 1: round 1 of 1000>")

    def test_from_a_name_with_options(self):
        assert made("partner-aware-ucb", window=5).agent.options == cb.PartnerAwareUCB(window=5).options

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
        assert made(**setting).briefing == replace(Briefing(1, ARMS, (0, 1), 500), **briefing)

    def test_for_a_problem(self):
        problem = Problem.gaussian(MEANS, noise=[0.5, 0.1])
        partner = Partner.for_problem("partner-aware-ts", problem, seat=0, horizon=30, seed=1, window=3)
        assert partner.briefing == Briefing(0, ARMS, (1, 0), 30, binary=False, observation="noisy")
        assert partner.agent.window == 3

    def test_for_a_problem_whose_roles_are_drawn(self):
        problem = Problem.bernoulli(MEANS, roles="random")
        with pytest.raises(InvalidInput, match=r"must know who leads: give each seat's rank, such as roles=\(0, 1\)"):
            Partner.for_problem("naive-ucb", problem, 0, 30)
        assert Partner.for_problem("naive-ucb", problem, 0, 30, roles=(1, 0)).briefing.rank == 1

    def test_an_oracle(self):
        assert made("optimal", means=MEANS).choose() == 0
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
        with pytest.raises(InvalidInput, match="an agent that has been reset is needed"):
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
            ({"agent": None}, "a registry name or an agent is needed"),
            ({"agent": "centralised-ucb"}, "is one brain for the whole team; a partner sits in one seat"),
            ({"agent": "optimal"}, "plays by the true means; means=..., an array of shape (2, 3), is needed"),
            ({"agent": "optimal", "means": [[1, 2], [3, 4]]}, "finite numbers in an array of shape (2, 3)"),
            ({"agent": "optimal", "means": [[1, 2, np.nan], [3, 4, 5]]}, "finite numbers in an array of shape (2, 3)"),
            ({"agent": "optimal", "means": "high"}, "means is 'high'"),
            ({"means": MEANS}, "may not know them; leave means out"),
            ({"arms": 2}, "arms is 2"),
            ({"arms": (2,), "observability": None}, "arms"),
            ({"arms": (2, 0)}, "arms"),
            ({"seat": 2}, "seat is 2; a whole number from 0 to 1 is needed"),
            ({"seat": -1}, "seat is -1"),
            ({"seat": "1"}, "seat is '1'"),
            ({"horizon": 0}, "horizon is 0"),
            ({"horizon": None}, "horizon is None"),
            ({"observability": (1.0,)}, "observability has 1 entries"),
            ({"observability": (1.0, 1.4)}, "observability[1] is 1.4"),
            ({"observation": "mist"}, "There is no observation model 'mist'"),
            ({"roles": "random"}, "a partner must know who leads"),
            ({"roles": (0, 0)}, "each rank from 0 (the leader) to 1 is needed once"),
            ({"binary": "yes"}, "binary is 'yes'"),
            ({"seed": -1}, "seed is -1"),
            ({"seed": "seven"}, "seed is 'seven'"),
        ],
    )
    def test_everything_is_checked_at_the_door(self, change, sentence):
        with pytest.raises(InvalidInput) as caught:
            made(**change)
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_for_something_that_is_no_problem(self):
        with pytest.raises(InvalidInput, match="a Problem is needed"):
            Partner.for_problem("naive-ucb", ARMS, 0, 30)


class TestRounds:
    def test_the_same_answer_until_the_round_is_over(self):
        partner, other, world = made("naive-ts"), made("naive-ts"), World()
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
        asked, silent, world = made("naive-ts"), made("naive-ts"), World()
        for _ in range(30):
            action, seen = world.round(asked.choose())
            asked.observe(action, seen)
            silent.observe(action, seen)
        assert silent.state() == asked.state()

    def test_predictions_are_those_of_the_latest_choice(self):
        partner = made(window=1)
        partner.observe((1, partner.choose()), 1.0)
        partner.choose()
        assert dict(partner.predictions) == {0: 1}
        assert dict(made("naive-ucb").predictions) == {}

    def test_an_arm_that_was_overridden_must_be_said(self):
        partner = made("naive-ucb")
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
        partner, world = made(name, means=MEANS if name == "optimal" else None), World()
        for t in range(200):
            arm = (partner.choose() + t % 3) % 3
            partner.observe(*world.round(arm), override=True)
        goes_on(partner, world)

    @pytest.mark.parametrize(
        ("action", "seen", "sentence"),
        [
            ((0,), 1.0, "a tuple of 2 arms, one for each agent, is needed"),
            ((2, 0), 1.0, "the arms of agent 0 are the whole numbers from 0 to 1"),
            ("00", 1.0, "a tuple of 2 arms"),
            (None, 1.0, "a tuple of 2 arms"),
            ((0, 0), float("nan"), "reward is nan; a finite number is needed"),
            ((0, 0), "1", "reward is '1'"),
            ((0, 0), 3.0, "the briefing says that rewards are 0 or 1"),
        ],
    )
    def test_a_round_that_cannot_have_been(self, action, seen, sentence):
        partner = made("naive-ucb")
        before = partner.choose(), partner.state()
        with pytest.raises(InvalidInput) as caught:
            partner.observe(action, seen)
        assert sentence in str(caught.value)
        assert (partner.choose(), partner.state()) == before

    def test_it_goes_on_beyond_its_horizon(self):
        partner, world = made("knowledge-gradient", horizon=10), World()
        play(partner, world, 40)
        goes_on(partner, world)

    def test_an_agent_that_chooses_what_it_does_not_have(self):
        class Astray(Agent):
            def choose(self):
                return 3

            def observe(self, team_action, reward):
                pass

        with pytest.raises(AgentError, match=r"at place 1 chose 3 in round 1; its arms are .* from 0 to 2"):
            made(Astray()).choose()

    def test_copies_and_pickles(self):
        partner, world = made("naive-ts"), World()
        play(partner, world, 20)
        for other in (copy.deepcopy(partner), pickle.loads(pickle.dumps(partner))):
            assert play(other, copy.deepcopy(world), 20) == play(copy.deepcopy(partner), copy.deepcopy(world), 20)


KINDS: list[tuple[str, type[Agent], dict[str, object]]] = [(name, kind, {}) for name, kind in (SEATED | PEOPLE).items()]
KINDS += [(name, kind, {"index": "companion", "ties": "random"}) for name, kind in SEATED.items() if "ucb" in name
          and name != "mucb-intervals"]  # fmt: skip
KINDS += [("partner-aware-ucb", SEATED["partner-aware-ucb"], {"repeat": 3, "window": 1})]
EVERY_KIND = pytest.mark.parametrize(
    ("name", "kind", "options"), KINDS, ids=[f"{name}-{len(o)}" for name, _, o in KINDS]
)


def one(name, kind, options, **changes):
    if name == "optimal":
        changes |= {"means": MEANS}
    return made(kind(**options), **changes)


class TestState:
    @EVERY_KIND
    @pytest.mark.parametrize("seat", [0, 1])
    def test_goes_on_from_any_round(self, name, kind, options, seat):
        partner, world = one(name, kind, options, seat=seat), World(seat=seat)
        given = None if name in AGENTS else kind
        for rounds in (0, 1, 2, 5, 40):
            play(partner, world, rounds)
            goes_on(copy.deepcopy(partner), copy.deepcopy(world), given)
            partner.choose()  # and with a choice that is pending
            goes_on(copy.deepcopy(partner), copy.deepcopy(world), given)

    @EVERY_KIND
    def test_under_every_observation_model(self, name, kind, options):
        given = None if name in AGENTS else kind
        for setting, world in (
            ({"observation": "missed-known"}, World(missing=True)),
            ({"observation": "flipped"}, World()),
            ({"observation": "noisy", "observability": None, "noise": (0.1, 0.5)}, World(spread=0.5)),
        ):
            partner = one(name, kind, options, **setting)
            play(partner, world, 70)
            goes_on(partner, world, given)

    def test_of_three_agents_in_the_middle(self):
        partner = made(arms=(2, 3, 2), observability=(0.2, 0.6, 0.9), seat=1, window=4)
        world = World((2, 3, 2))
        play(partner, world, 50)
        goes_on(partner, world)

    @pytest.mark.slow
    @pytest.mark.parametrize("name", SEATED | PEOPLE)
    def test_after_a_hundred_thousand_rounds(self, name):
        kind = (SEATED | PEOPLE)[name]
        partner, world = one(name, kind, {}, horizon=101_000), World()
        play(partner, world, 1_000)
        early = len(json.dumps(partner.state()))
        play(partner, world, 99_000)
        assert len(json.dumps(partner.state())) < early + 200, "the state grows by the digits of its counts at most"
        goes_on(partner, world, None if name in AGENTS else kind, rounds=1_000)

    def test_is_what_the_docs_say(self):
        partner = made(window=5)
        partner.choose()
        state = partner.state()
        assert list(state)[:4] == ["cobandit", "format", "agent", "class"]
        assert (state["cobandit"], state["format"], state["agent"], state["class"]) == (
            cb.__version__, FORMAT, "partner-aware-ucb", None,
        )  # fmt: skip
        assert state["options"]["window"] == 5
        assert (state["round"], state["pending"]) == (1, partner.choose())
        assert set(state["memory"]) == {"_arm", "_memory", "_predictions", "_window"}
        json.dumps(state, allow_nan=False)

    def test_a_reader_that_knows_one_kind_of_number_only(self):
        """JavaScript writes 1.0 as 1, and is not sure of whole numbers beyond 2^53."""

        def rewritten(value):
            if isinstance(value, dict):
                return {key: rewritten(entry) for key, entry in value.items()}
            if isinstance(value, list):
                return [rewritten(entry) for entry in value]
            assert not (isinstance(value, int) and abs(value) > 2**53)
            return int(value) if isinstance(value, float) and value.is_integer() else value

        for name, kind, options in KINDS:
            partner, world = one(name, kind, options), World()
            play(partner, world, 50)
            again = Partner.from_state(rewritten(travelled(partner.state())), None if name in AGENTS else kind)
            assert play(again, copy.deepcopy(world), 50) == play(partner, world, 50)

    def test_leaves_the_partner_as_it_is(self):
        partner, other, world = made("naive-ts"), made("naive-ts"), World()
        for _ in range(20):
            partner.state()
            arm = partner.choose()
            partner.state()
            assert other.choose() == arm
            action, seen = world.round(arm)
            partner.observe(action, seen)
            other.observe(action, seen)

    @pytest.mark.parametrize("bits", ["SFC64", "PCG64", "PCG64DXSM", "MT19937", "Philox"])
    def test_any_generator_of_numpy(self, bits):
        agent = cb.NaiveTS()
        agent.reset(Briefing(1, ARMS, (0, 1), 50), np.random.Generator(getattr(np.random, bits)(5)))
        agent.rng.integers(7, dtype=np.int32)  # half of a 64-bit draw is left over
        partner, world = Partner.around(agent), World()
        play(partner, world, 20)
        goes_on(partner, world)


@dataclass
class Plain(Agent):
    """Remembers in every way that can be written, and lets all of it decide."""

    name = "plain"

    start: int = 3
    weights: tuple[float, ...] = (0.5, 1.5)

    def reset(self, briefing, rng):
        self.nothing = None
        self.count, self.huge = self.start, 2**70
        self.worst, self.best = float("-inf"), float("nan")
        self.words = "größer \ud800 \0"
        self.flags = [True, False]
        self.pair = (1, (2.5, None))
        self.last = deque(maxlen=4)
        self.table = {(0, 1): [0.0], "a": {}, 3: "x", None: 1.5}
        self.lazy = defaultdict(float)
        self.tally = Counter()
        self.ordered = OrderedDict(b=1, a=2)
        self.array = np.zeros((2, 3), dtype=np.float32)
        self.columns = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
        self.mask = np.zeros(3, dtype=bool)
        self.wide = np.array([2**63 + 5, 1], dtype=np.uint64)
        self.special = np.array([np.nan, np.inf, -np.inf, -0.0])
        self.empty = np.zeros((0, 2))
        self.scalar, self.small = np.float64(0.1), np.int8(-3)
        self.shared = self.flags
        self.child = self.rng.spawn(1)[0]
        self.same_rng = rng
        self.told = briefing
        self.inner = cb.PartnerAwareUCB(window=2, ties="random")
        self.inner.reset(briefing, rng)

    def choose(self):
        spawned = self.rng.spawn(1)[0].random() if self.round % 5 == 0 else 0.0
        mixed = (
            self.count + len(self.last) + self.lazy[self.round % 3] + self.tally[1] + self.array.sum()
            + self.columns.sum() + self.wide[1] + sum(self.shared) + self.child.random() * 9 + spawned * 9
            + self.same_rng.random() * 9 + self.scalar * self.small + sum(self.weights) + self.inner.choose()
        )  # fmt: skip
        return int(mixed) % self.briefing.own_arms

    def observe(self, team_action, reward):
        self.count += 1
        self.huge += 1
        self.last.append((team_action, reward))
        self.lazy[self.round % 3] += reward
        self.tally[team_action[0]] += 1
        self.table[(0, 1)].append(reward) if len(self.table[(0, 1)]) < 5 else self.table[(0, 1)].clear()
        self.array[team_action] += reward
        self.columns[team_action] += 1
        self.wide += np.uint64(1)
        self.mask[team_action[1]] ^= True
        self.flags[0] = not self.flags[0]
        self.small = np.int8((int(self.small) + 1) % 5)
        self.inner.observe(team_action, reward)


class Custom(Agent):
    """A plain class with a constructor of its own, something that cannot be written, and an attribute called state."""

    def __init__(self, favourite, rule=lambda t: t % 2):
        self.favourite = favourite
        self.rule = rule
        self.state = "new"

    def reset(self, briefing, rng):
        self.good = 0

    def choose(self):
        return (self.favourite + self.rule(self.good)) % self.briefing.own_arms

    def observe(self, team_action, reward):
        self.good += bool(reward)
        self.state = "old"


class Mended(Custom):
    def dump_memory(self):
        memory = super().dump_memory()
        del memory["rule"]
        return memory


class Rebuilt(Agent):
    """Makes something anew that cannot be written, out of what can."""

    def reset(self, briefing, rng):
        self.index = 0
        self.cycle = iter([0, 1, 1])

    def choose(self):
        return next(self.cycle)

    def observe(self, team_action, reward):
        self.index = (self.index + 1) % 3
        if self.index == 0:
            self.cycle = iter([0, 1, 1])

    def dump_memory(self):
        return {"index": self.index}

    def load_memory(self, memory):
        super().load_memory(memory)
        assert self.round > 1
        self.cycle = iter([0, 1, 1][self.index :])


class Dropping(Agent):
    """Drops an attribute that reset makes, and plays by whether it is there."""

    def reset(self, briefing, rng):
        self.young = True

    def choose(self):
        return int(hasattr(self, "young"))

    def observe(self, team_action, reward):
        self.__dict__.pop("young", None)


class Slotted(Agent):
    __slots__ = ("deep",)

    def reset(self, briefing, rng):
        self.deep = 0

    def choose(self):
        return self.deep % self.briefing.own_arms

    def observe(self, team_action, reward):
        self.deep += 1


class TestAgentsOfYourOwn:
    def test_everything_that_is_plain(self):
        partner, world = made(Plain(start=4)), World()
        for rounds in (0, 1, 30):
            play(partner, world, rounds)
            again = goes_on(copy.deepcopy(partner), copy.deepcopy(world), Plain)
        for name, value in vars(Partner.from_state(travelled(partner.state()), Plain).agent).items():
            original = vars(partner.agent)[name]
            assert type(value) is type(original)
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(value, original)
                assert (value.dtype, value.flags.c_contiguous) == (original.dtype, original.flags.c_contiguous)
        assert again.agent.shared is again.agent.flags
        assert again.agent.same_rng is again.agent.rng
        assert again.agent.inner.rng is again.agent.rng
        assert again.agent.told is again.agent.briefing
        assert again.agent.last.maxlen == 4
        assert list(again.agent.ordered) == ["b", "a"]
        assert str(again.agent.special[3]) == "-0.0"

    def test_the_class_must_be_given(self):
        state = made(Plain()).state()
        with pytest.raises(InvalidInput, match=r"not an agent of the library; give its class, .*agent=Plain\)"):
            Partner.from_state(state)
        for wrong, sentence in (
            (cb.NaiveUCB, r"agent is <class .*NaiveUCB'>, but the state is that of 'plain'"),
            (cb.NaiveUCB(), r"agent is NaiveUCB\(.*\), but the state is that of 'plain'"),
            (cb.CentralisedUCB, "the class of an agent, or an agent, is needed"),
            (Plain(start=9), "but the state was written with options"),
            ("plain", "the class of an agent, or an agent, is needed"),
            (dict, "the class of an agent, or an agent, is needed"),
        ):
            with pytest.raises(InvalidInput, match=sentence):
                Partner.from_state(state, wrong)
        Partner.from_state(state, Plain())

    def test_what_cannot_be_written_is_named(self):
        with pytest.raises(AgentError) as caught:
            made(Custom(1)).state()
        assert str(caught.value) == (
            "Custom cannot be written as plain data: its rule is a function; override dump_memory and load_memory in "
            "Custom to leave it out and make it anew. Numbers, strings, None, tuples, lists, dicts, deques and numpy "
            "arrays can be written."
        )

    @pytest.mark.parametrize(
        ("value", "sentence"),
        [
            ({1, 2}, "its thing is a set;"),
            ([0, {"a": object()}], "its thing[1]['a'] is a object;"),
            (np.array([None]), "its thing holds numbers of type object;"),
            (np.zeros((4, 4))[::2, ::2], "its thing is a view into another array"),
            (np.float128(1) if hasattr(np, "float128") else 1j, "its thing "),
            (b"abc", "its thing is a bytes;"),
            (defaultdict(lambda: 1), "its thing is a defaultdict of something else"),
            pytest.param(10**5000, "its thing is a whole number of too many digits;", id="huge"),
            (Custom(1), "its thing is a Custom;"),
            (cb.CentralisedUCB(), "its thing is a CentralisedUCB;"),
            (np.random.RandomState(1), "its thing is a RandomState;"),
        ],
    )
    def test_other_things_that_cannot(self, value, sentence):
        partner = made(Mended(1))
        partner.agent.thing = value
        with pytest.raises(AgentError) as caught:
            partner.state()
        assert sentence in str(caught.value)

    def test_things_that_hold_themselves_and_views(self):
        partner = made(Mended(1))
        partner.agent.thing = loop = []
        loop.append(loop)
        with pytest.raises(AgentError, match=r"its thing\[0\] holds itself"):
            partner.state()
        partner.agent.thing = np.zeros((2, 3))
        partner.agent.view = partner.agent.thing[0]
        with pytest.raises(AgentError, match="its view shares its memory with thing"):
            partner.state()
        partner.agent.view = deep = []
        for _ in range(5000):
            deep.append([])
            deep = deep[0]
        with pytest.raises(AgentError, match="its view is nested too deeply"):
            partner.state()

    def test_an_option_that_cannot(self):
        person = cb.Human(ask=lambda human: 0, tell=lambda *_: None)
        with pytest.raises(
            AgentError, match="human cannot be written as plain data: its option ask is a function; make"
        ):
            made(person).state()

    def test_a_stream_that_cannot(self):
        agent = cb.NaiveUCB()
        agent.reset(Briefing(1, ARMS, (0, 1), 50), np.random.RandomState(0))
        with pytest.raises(AgentError, match=r"its rng is a RandomState; reset it with a numpy.random.Generator"):
            Partner.around(agent).state()

    def test_a_constructor_of_its_own(self):
        partner, world = made(Mended(1)), World()
        play(partner, world, 10)
        with pytest.raises(
            InvalidInput, match=r"Mended cannot be made from its options alone .*agent=Mended\(\.\.\.\)"
        ):
            Partner.from_state(partner.state(), Mended)
        again = goes_on(partner, world, Mended(5))
        assert (again.agent.favourite, again.agent.state) == (1, "old")

    @pytest.mark.parametrize("kind", [Rebuilt, Dropping, Slotted])
    @pytest.mark.parametrize("rounds", [1, 2, 7])
    def test_hooks_and_odd_attributes(self, kind, rounds):
        partner, world = made(kind()), World()
        play(partner, world, rounds)
        state = travelled(partner.state())
        again = Partner.from_state(state, kind)
        assert play(again, copy.deepcopy(world), 20) == play(partner, copy.deepcopy(world), 20)


def changed(state, path, value):
    """A copy with one entry changed, and a checksum that fits: what a clumsy hand would not manage."""
    copied = travelled(state)
    place = copied
    for key in path[:-1]:
        place = place[key]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    copied["checksum"] = _checksum({key: entry for key, entry in copied.items() if key != "checksum"})
    return copied


@pytest.fixture(scope="module")
def state():
    partner = made(window=3)
    play(partner, World(), 25)
    return partner.state()


class TestBrokenStates:
    @pytest.mark.parametrize("given", [None, 3, [], "x", b"x", {}, {"cobandit": "0.1.0"}, json.dumps({"format": 1})])
    def test_no_state_at_all(self, given):
        with pytest.raises(InvalidInput, match=r"state is .*Partner\.state\(\)") as caught:
            Partner.from_state(given)
        assert ("json.loads" in str(caught.value)) == isinstance(given, (str, bytes))

    @pytest.mark.parametrize("number", [FORMAT + 1, 10**30])
    def test_of_a_later_format(self, state, number):
        with pytest.raises(
            InvalidInput, match=r"has format .*, written by cobandit '9\.0'; this version reads format 1"
        ):
            Partner.from_state({"format": number, "cobandit": "9.0", "surprise": True})

    @pytest.mark.parametrize("number", [0, -1, "1", None, 1.5, True, float("nan")])
    def test_of_no_format(self, state, number):
        with pytest.raises(InvalidInput, match="The format of the state is"):
            Partner.from_state(state | {"format": number})

    @pytest.mark.parametrize("key", ["cobandit", "agent", "class", "options", "briefing", "random", "round", "pending",
                                     "memory", "checksum"])  # fmt: skip
    def test_cut_short(self, state, key):
        with pytest.raises(InvalidInput, match=f"The state has no {key}; a whole state"):
            Partner.from_state({name: value for name, value in state.items() if name != key})

    def test_with_more_than_belongs(self, state):
        with pytest.raises(InvalidInput, match="has a key 'note' that belongs to no state"):
            Partner.from_state(state | {"note": "mine"})

    @pytest.mark.parametrize(
        "path", [("round",), ("memory", "_arm"), ("options", "window"), ("briefing", "briefing", "agent")]
    )
    def test_changed_by_hand(self, state, path):
        edited = travelled(state)
        place = edited
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] += 1
        with pytest.raises(InvalidInput, match="The checksum of the state does not fit what it holds"):
            Partner.from_state(edited)

    @pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, object()])
    def test_with_what_json_cannot(self, state, value):
        with pytest.raises(InvalidInput, match="The state holds what JSON cannot"):
            Partner.from_state(state | {"memory": {**state["memory"], "_arm": value}})

    MEMORY = ("memory", "_memory", "memory")

    @pytest.mark.parametrize(
        ("path", "value", "sentence"),
        [
            (
                ("agent",),
                "partner-aware-uct",
                "There is no agent 'partner-aware-uct'. Did you mean 'partner-aware-ucb'?",
            ),
            (("agent",), "centralised-ucb", "the class of an agent, or an agent, is needed"),
            (("agent",), "naive-ucb", "There is no option of naive-ucb called"),
            (("agent",), 3, "agent of the state is 3"),
            (("class",), 3, "class of the state is 3"),
            (("class",), "os.system", "is not an agent of the library"),
            (("options",), [], "options of the state is []; an object is needed"),
            (("options", "window"), 0, "window is 0"),
            (("options", "window"), {"tuple": 3}, "The options of the state cannot be read"),
            (("options", "spare"), 1, "There is no option of partner-aware-ucb called 'spare'"),
            (("round",), 0, "round of the state is 0"),
            (("round",), "26", "round of the state is '26'"),
            (("round",), None, "round of the state is None"),
            (("pending",), 3, "The pending choice of the state is 3; None or an arm from 0 to 2"),
            (("pending",), True, "The pending choice of the state is True"),
            (("pending",), "0", "pending of the state is '0'"),
            (("briefing",), None, "briefing of the state is None"),
            (("briefing",), {}, "The briefing of the state cannot be read"),
            (("briefing",), {"tuple": []}, "holds no briefing"),
            (("briefing", "briefing", "agent"), 5, "agent is 5"),
            (("briefing", "briefing", "arms"), {"tuple": [2, -3]}, "arms[1] is -3"),
            (("briefing", "briefing", "arms"), {"tuple": [2, 4]}, "does not fit partner-aware-ucb"),
            (("briefing", "briefing", "extra"), 5, "The briefing of the state cannot be read"),
            (("random", "generator"), "RANDU", "there is no bit generator 'RANDU'"),
            (("random", "state"), None, "The random of the state cannot be read"),
            (("random", "seeds"), [1], "The random of the state cannot be read"),
            (("random",), {"dict": []}, "no random generator"),
            (("memory",), [], "memory of the state is []"),
            (("memory", "_arm"), KeyError, "does not fit partner-aware-ucb, see _arm"),
            (("memory", "_arm"), "0", "does not fit partner-aware-ucb, see _arm"),
            (("memory", "spare"), 0, "does not fit partner-aware-ucb, see spare"),
            (("memory", "_memory"), 0, "does not fit partner-aware-ucb, see _memory"),
            (("memory", "_window"), {"same": 99}, "The memory of the state cannot be read"),
            (("memory", "_window"), {"same": -1}, "-1 is not a count"),
            (("memory", "_window"), {"pickle": "gANj"}, "nothing is known of pickle"),
            ((*MEMORY, "counts"), KeyError, "does not fit partner-aware-ucb, see _memory"),
            ((*MEMORY, "counts", "array", 0), 1.5, "1.5 is not a whole number"),
            ((*MEMORY, "counts", "array", 0), "many", "The memory of the state cannot be read"),
            ((*MEMORY, "counts", "array", 0), 10**30, "The memory of the state cannot be read"),
            ((*MEMORY, "counts", "array", 0), KeyError, "an array has too few or too many numbers"),
            ((*MEMORY, "counts", "shape"), [10**9, 10**9], "an array has too few or too many numbers"),
            ((*MEMORY, "counts", "shape"), [3, 2], "does not fit partner-aware-ucb, see _memory"),
            ((*MEMORY, "counts", "dtype"), "O", "there is no array of 'O'"),
            ((*MEMORY, "counts", "dtype"), "<i4", "does not fit partner-aware-ucb, see _memory"),
            ((*MEMORY, "counts", "dtype"), ["<i8"], "there is no array of"),
            ((*MEMORY, "sums", "array", 0), None, "an array of numbers holds something else"),
            ((*MEMORY, "sums", "array", 0), "about 3", "The memory of the state cannot be read"),
            (("memory", "_predictions"), {"dict": [[[], 1]]}, "The memory of the state cannot be read"),
            (("memory", "_predictions"), {"dict": 5}, "The memory of the state cannot be read"),
        ],
    )
    def test_changed_with_a_checksum_that_fits(self, state, path, value, sentence):
        with pytest.raises(InvalidInput) as caught:
            Partner.from_state(changed(state, path, value))
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_nested_without_end(self, state):
        deep = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(InvalidInput, match="The state holds what JSON cannot"):
            Partner.from_state(state | {"memory": {"_arm": deep}})

    def test_an_unknown_agent_is_an_unknown_name(self, state):
        with pytest.raises(UnknownName):
            Partner.from_state(changed(state, ("agent",), "hal"))

    def test_any_single_character(self, state):
        """Whatever one flipped character makes of the file, it is refused or it is no JSON."""
        text = json.dumps(state)
        rng = np.random.default_rng(3)
        for place in rng.choice(len(text), 300, replace=False):
            broken = text[:place] + chr((ord(text[place]) ^ (1 << int(rng.integers(5)))) or 32) + text[place + 1 :]
            try:
                data = json.loads(broken)
            except ValueError:
                continue
            if data == state:
                continue
            with pytest.raises(InvalidInput):
                Partner.from_state(data)


class TestLog:
    def rounds_of(self, partner, world, rounds):
        log = []
        for _ in range(rounds):
            log.append(world.round(partner.choose()))
            partner.observe(*log[-1])
        return log

    @EVERY_KIND
    def test_gives_the_very_same_partner(self, name, kind, options):
        partner, world = one(name, kind, options), World()
        log = self.rounds_of(partner, world, 60)
        setting = {"arms": ARMS, "seat": 1, "horizon": 500, "observability": (1.0, 0.4), "seed": 7}
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
        partner, world = made(), World()
        log = self.rounds_of(partner, world, 20)
        state = partner.state()
        more = self.rounds_of(partner, world, 20)
        assert Partner.from_state(state).replay(more).state() == partner.state()
        assert made().replay(log).replay(iter(more)).state() == partner.state()

    def test_of_another_partner_is_refused(self):
        log = self.rounds_of(made("naive-ts"), World(), 60)
        with pytest.raises(
            InvalidInput, match=r"Round \d+ of the log cannot have been: .* chose \d in .* overrides=True"
        ):
            made("naive-ts", seed=8).replay(log)
        with pytest.raises(InvalidInput, match="of the log cannot have been"):
            Partner.from_log("naive-ts", log, arms=ARMS, seat=1, horizon=500, seed=8)

    def test_with_overrides_is_played_where_it_is_said(self):
        partner, world, log = made("naive-ts"), World(), []
        for t in range(40):
            log.append(world.round((partner.choose() + t % 2) % 3))
            partner.observe(*log[-1], override=True)
        setting = {"arms": ARMS, "seat": 1, "horizon": 500, "observability": (1.0, 0.4), "seed": 7}
        with pytest.raises(InvalidInput, match="Round 2 of the log"):
            Partner.from_log("naive-ts", log, **setting)
        assert Partner.from_log("naive-ts", log, overrides=True, **setting).state() == partner.state()

    def test_without_the_seed(self):
        with pytest.raises(InvalidInput, match="the seed that the partner was made with is needed"):
            Partner.from_log("naive-ts", [], arms=ARMS, seat=1, horizon=500)

    @pytest.mark.parametrize("entry", [None, 3, (1,), ((0, 0), 1.0, 2), "ab", ((0, 0), "1"), ((0, 9), 1.0)])
    def test_rounds_that_are_none(self, entry):
        with pytest.raises(InvalidInput, match="Round 1 of the log"):
            made().replay([entry])


def test_is_in_the_front_door():
    assert "Partner" in cb.__all__
    assert list(inspect.signature(cb.Partner).parameters)[:4] == ["agent", "arms", "seat", "horizon"]
