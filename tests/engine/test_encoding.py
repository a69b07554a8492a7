"""Agents of somebody's own: what of their memory can be written as plain data, and how the rest is told."""

from __future__ import annotations

import copy
from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pytest

import cobandit as cb
from cobandit import Agent, AgentError, Briefing, InvalidInput, Partner
from tests.engine.partners import (
    ARMS,
    World,
    goes_on,
    new_partner,
    play,
    travelled,
)


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
        self.last: deque[Any] = deque(maxlen=4)
        self.table: dict[Any, Any] = {(0, 1): [0.0], "a": {}, 3: "x", None: 1.5}
        self.lazy = defaultdict(float)
        self.tally: Counter[int] = Counter()
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
        partner, world = new_partner(Plain(start=4)), World()
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
        state = new_partner(Plain()).state()
        with pytest.raises(InvalidInput, match=r"not an agent of the library; give its class, .*agent=Plain\)"):
            Partner.from_state(state)
        wrong: Any
        for wrong, sentence in (
            (cb.NaiveUCB, r"agent is <class .*NaiveUCB'>, but the state is that of 'plain'"),
            (cb.NaiveUCB(), r"agent is NaiveUCB\(.*\), but the state is that of 'plain'"),
            (cb.CentralisedUCB, "must be the class of an agent, or an agent"),
            (Plain(start=9), "but the state was written with options"),
            ("plain", "must be the class of an agent, or an agent"),
            (dict, "must be the class of an agent, or an agent"),
        ):
            with pytest.raises(InvalidInput, match=sentence):
                Partner.from_state(state, wrong)
        Partner.from_state(state, Plain())

    def test_what_cannot_be_written_is_named(self):
        with pytest.raises(AgentError) as caught:
            new_partner(Custom(1)).state()
        assert str(caught.value) == (
            "Custom cannot be written as plain data: its rule holds a function; override dump_memory and load_memory "
            "in Custom to leave it out and create it again. Numbers, strings, None, tuples, lists, dicts, deques and "
            "numpy arrays can be written."
        )

    @pytest.mark.parametrize(
        ("value", "sentence"),
        [
            ({1, 2}, "its thing holds a set;"),
            ([0, {"a": object()}], "its thing holds a object;"),
            (np.array([None]), "its thing holds numbers of type object;"),
            (np.zeros((4, 4))[::2, ::2], "its thing holds a view into another array"),
            (np.float128(1) if hasattr(np, "float128") else 1j, "its thing "),
            (b"abc", "its thing holds a bytes;"),
            (defaultdict(lambda: 1), "its thing holds a defaultdict of something else"),
            pytest.param(10**5000, "its thing holds an integer of too many digits;", id="huge"),
            (Custom(1), "its thing holds a Custom;"),
            (cb.CentralisedUCB(), "its thing holds a CentralisedUCB;"),
            (np.random.RandomState(1), "its thing holds a RandomState;"),
        ],
    )
    def test_other_things_that_cannot(self, value, sentence):
        partner = new_partner(Mended(1))
        partner.agent.thing = value
        with pytest.raises(AgentError) as caught:
            partner.state()
        assert sentence in str(caught.value)

    def test_things_that_hold_themselves_and_views(self):
        partner = new_partner(Mended(1))
        loop: list[Any] = []
        partner.agent.thing = loop
        loop.append(loop)
        with pytest.raises(AgentError, match="its thing holds itself"):
            partner.state()
        partner.agent.thing = np.zeros((2, 3))
        partner.agent.view = partner.agent.thing[0]
        with pytest.raises(AgentError, match="its view holds an array that shares its memory"):
            partner.state()
        deep: list[Any] = []
        partner.agent.view = deep
        for _ in range(5000):
            deep.append([])
            deep = deep[0]
        with pytest.raises(AgentError, match="its view holds values that are nested too deeply"):
            partner.state()

    def test_an_option_that_cannot(self):
        person = cb.Human(ask=lambda human: 0, tell=lambda *_: None)
        with pytest.raises(
            AgentError, match="human cannot be written as plain data: its option ask holds a function; make"
        ):
            new_partner(person).state()

    def test_a_stream_that_cannot(self):
        agent = cb.NaiveUCB()
        agent.reset(Briefing(1, ARMS, (0, 1), 50), cast("Any", np.random.RandomState(0)))
        with pytest.raises(AgentError, match=r"its rng holds a RandomState; reset it with a numpy.random.Generator"):
            Partner.around(agent).state()

    def test_a_constructor_of_its_own(self):
        partner, world = new_partner(Mended(1)), World()
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
        partner, world = new_partner(kind()), World()
        play(partner, world, rounds)
        state = travelled(partner.state())
        again = Partner.from_state(state, kind)
        assert play(again, copy.deepcopy(world), 20) == play(partner, copy.deepcopy(world), 20)
