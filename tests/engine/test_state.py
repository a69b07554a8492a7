"""The state of a partner: written to JSON and brought back, and refused where it is broken."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import pytest

import cobandit as cb
from cobandit import AGENTS, Briefing, InvalidInput, Partner, UnknownName
from cobandit.engine.state import FORMAT, _checksum
from cobandit.studies import PEOPLE
from tests.engine.partners import (
    ARMS,
    EVERY_KIND,
    KINDS,
    SEATED,
    World,
    goes_on,
    new_partner,
    partner_of_kind,
    play,
    travelled,
)


class TestState:
    @EVERY_KIND
    @pytest.mark.parametrize("seat", [0, 1])
    def test_goes_on_from_any_round(self, name, kind, options, seat):
        partner, world = partner_of_kind(name, kind, options, seat=seat), World(seat=seat)
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
            partner = partner_of_kind(name, kind, options, **setting)
            play(partner, world, 70)
            goes_on(partner, world, given)

    def test_of_three_agents_in_the_middle(self):
        partner = new_partner(arms=(2, 3, 2), observability=(0.2, 0.6, 0.9), seat=1, window=4)
        world = World((2, 3, 2))
        play(partner, world, 50)
        goes_on(partner, world)

    @pytest.mark.parametrize("name", SEATED | PEOPLE)
    def test_does_not_grow(self, name):
        """One number for each of a thousand rounds would take 2,000 characters."""
        kind = (SEATED | PEOPLE)[name]
        partner, world = partner_of_kind(name, kind, {}, horizon=2_100), World()
        play(partner, world, 1_000)
        early = len(json.dumps(partner.state()))
        play(partner, world, 1_000)
        assert len(json.dumps(partner.state())) < early + 200, "the state grows by the digits of its counts at most"
        goes_on(partner, world, None if name in AGENTS else kind, rounds=100)

    def test_is_what_the_docs_say(self):
        partner = new_partner(window=5)
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
            partner, world = partner_of_kind(name, kind, options), World()
            play(partner, world, 50)
            again = Partner.from_state(rewritten(travelled(partner.state())), None if name in AGENTS else kind)
            assert play(again, copy.deepcopy(world), 50) == play(partner, world, 50)

    def test_leaves_the_partner_as_it_is(self):
        partner, other, world = new_partner("naive-ts"), new_partner("naive-ts"), World()
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
    partner = new_partner(window=3)
    play(partner, World(), 25)
    return partner.state()


class TestBrokenStates:
    @pytest.mark.parametrize("given", [None, 3, [], "x", b"x", {}, {"cobandit": "0.1.0"}, json.dumps({"format": 1})])
    def test_no_state_at_all(self, given):
        with pytest.raises(InvalidInput, match=r"state must be the dict that Partner\.state\(\) returned") as caught:
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
        with pytest.raises(InvalidInput, match="The format of the state must be"):
            Partner.from_state(state | {"format": number})

    @pytest.mark.parametrize("key", ["cobandit", "agent", "class", "options", "briefing", "random", "round", "pending",
                                     "memory", "checksum"])  # fmt: skip
    def test_cut_short(self, state, key):
        with pytest.raises(InvalidInput, match="The checksum of the state does not fit"):
            Partner.from_state({name: value for name, value in state.items() if name != key})

    def test_with_more_than_belongs(self, state):
        with pytest.raises(InvalidInput, match="The checksum of the state does not fit"):
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
        with pytest.raises(InvalidInput, match="state must be plain JSON"):
            Partner.from_state(state | {"memory": {**state["memory"], "_arm": value}})

    MEMORY = ("memory", "_memory", "memory")
    MISFIT = "state must be a complete state of partner-aware-ucb, got one that does not fit ("

    @pytest.mark.parametrize(
        ("path", "value", "sentence"),
        [
            (
                ("agent",),
                "partner-aware-uct",
                "There is no agent 'partner-aware-uct'. Did you mean 'partner-aware-ucb'?",
            ),
            (("agent",), "centralised-ucb", "must be the class of an agent, or an agent"),
            (("agent",), "naive-ucb", "There is no option of naive-ucb called"),
            (("agent",), 3, "There is no agent 3"),
            (("class",), "os.system", "is not an agent of the library"),
            (("options", "window"), 0, "window must be"),
            (("options", "window"), {"tuple": 3}, MISFIT),
            (("options", "spare"), 1, "There is no option of partner-aware-ucb called 'spare'"),
            (("round",), 0, "round of the state must be"),
            (("round",), None, "round of the state must be"),
            (("briefing",), None, "must be a cobandit.Briefing"),
            (("briefing",), {}, MISFIT),
            (("briefing",), {"tuple": []}, "must be a cobandit.Briefing"),
            (("briefing", "briefing", "agent"), 5, "agent must be"),
            (("briefing", "briefing", "arms"), {"tuple": [2, -3]}, "arms[1] must be"),
            (("briefing", "briefing", "extra"), 5, MISFIT),
            (("random", "generator"), "RANDU", MISFIT),
            (("random", "state"), None, MISFIT),
            (("random", "seeds"), [1], MISFIT),
            (("random",), {"dict": []}, "must be a random generator"),
            (("memory", "_arm"), KeyError, "complete state of partner-aware-ucb, got one whose memory differs in _arm"),
            (("memory", "spare"), 0, "complete state of partner-aware-ucb, got one whose memory differs in spare"),
            (("memory", "_window"), {"same": 99}, MISFIT),
            (("memory", "_window"), {"pickle": "gANj"}, MISFIT),
            ((*MEMORY, "counts", "array", 0), "many", MISFIT),
            ((*MEMORY, "counts", "array", 0), 10**30, MISFIT),
            ((*MEMORY, "counts", "array", 0), KeyError, MISFIT),
            ((*MEMORY, "counts", "shape"), [10**9, 10**9], MISFIT),
            ((*MEMORY, "counts", "dtype"), "O", MISFIT),
            ((*MEMORY, "sums", "array", 0), None, MISFIT),
            (("memory", "_predictions"), {"dict": [[[], 1]]}, MISFIT),
        ],
    )
    def test_changed_with_a_checksum_that_fits(self, state, path, value, sentence):
        with pytest.raises(InvalidInput) as caught:
            Partner.from_state(changed(state, path, value))
        assert sentence in str(caught.value)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("name", "memory"),
        [
            ("steered", {"predictions": 3}),
            ("steered", {"steering": {"dict": [["course", 1]]}}),
            ("elected", {"election": None}),
            ("bank", {"bank": {"dict": [[0, 1]]}}),
            ("handshake", {"shake": KeyError}),
        ],
    )
    def test_a_memory_with_other_parts(self, name, memory):
        """As a version may have written it that remembers something else."""
        whole = Partner(name, (2, 3), seat=1, horizon=100, seed=0).state()
        for part, value in memory.items():
            whole = changed(whole, ("memory", part), value)
        with pytest.raises(
            InvalidInput, match=rf"^state must be a complete state of {name}, got one that does not fit \(.*\)\.$"
        ):
            Partner.from_state(whole)

    def test_nested_without_end(self, state):
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        with pytest.raises(InvalidInput, match="state must be plain JSON"):
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
