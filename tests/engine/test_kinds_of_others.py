"""Compiled forms that users write: what is wrong with one is said before, or instead of, a crash."""

import types
from typing import Any, NamedTuple

import numpy as np
import pytest

import cobandit as cb
from cobandit.engine import choice
from cobandit.engine.choice import NotCompiled
from cobandit.testing import check_compiled

pytest.importorskip("numba")

from cobandit.engine.fast.copies import Copies
from cobandit.engine.fast.digests import kind_digest

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])


@pytest.fixture(autouse=True)
def _no_job_is_small(monkeypatch):
    monkeypatch.setattr(choice, "SMALL_JOB", 0)
    monkeypatch.setattr(choice, "READY_SECONDS", {"memory": 0.0, "disk": 0.0, "none": 0.0})


class First(NamedTuple):
    seat: Any
    stream: Any

    def choose(self, world, t):
        return 0

    def learn(self, world, t, played, seen):
        pass


class Far(First):
    def choose(self, world, t):
        return 100_000_000


class Negative(First):
    def choose(self, world, t):
        return -1


class FarCell(First):
    joint = True

    def choose(self, world, t):
        return 4


class Undefined(First):
    def choose(self, world, t):
        return nobody_knows(t)  # type: ignore[name-defined]  # noqa: F821


class WithField(NamedTuple):
    seat: Any
    stream: Any
    extra: Any

    def choose(self, world, t):
        return 0

    def learn(self, world, t, played, seen):
        pass


def agent_with(factory: Any) -> cb.Agent:
    class Own(cb.Agent):
        compiled = factory

        def choose(self):
            return 0

        def observe(self, team_action, reward):
            pass

    return Own()


def simulate(agent: cb.Agent) -> cb.Result:
    return cb.simulate(PROBLEM, cb.Team([agent, cb.NaiveUCB()]), 100, 4, 0, engine="fast", threads=1)


@pytest.mark.parametrize("kind", [Far, Negative])
def test_arms_that_do_not_exist(kind) -> None:
    agent = agent_with(lambda agent, seat: kind(seat.number, seat.stream))
    for play in (simulate, check_compiled):
        with pytest.raises(cb.AgentError, match=f"The compiled form {kind.__name__} chose an arm that does not exist"):
            play(agent)


def test_team_actions_that_do_not_exist() -> None:
    class Brain(cb.Controller):
        def compiled(agent, seat):  # noqa: N805
            return FarCell(seat.number, seat.stream)

        def choose(self):
            return 0, 0

        def observe(self, team_action, rewards):
            pass

    with pytest.raises(cb.AgentError, match="The compiled form FarCell chose a team action that does not exist"):
        cb.simulate(PROBLEM, cb.Team.of(Brain()), 100, 4, 0, engine="fast", threads=1)


def test_arms_that_exist() -> None:
    check_compiled(agent_with(lambda agent, seat: First(seat.number, seat.stream)))


def test_seat_and_stream_are_not_exchanged() -> None:
    with pytest.raises(cb.AgentError, match=r"has seat 4 and stream 0; seat.number and seat.stream are needed"):
        simulate(agent_with(lambda agent, seat: First(seat.stream, seat.number)))


@pytest.mark.parametrize(
    "extra", [[1, 2], None, "one", np.zeros((2, 2)), np.array(1.0), np.array(["one"]), np.array([None])]
)
def test_fields_that_are_no_numbers(extra) -> None:
    with pytest.raises(cb.AgentError, match="as extra; a number, or an array of numbers of one dimension, is needed"):
        simulate(agent_with(lambda agent, seat: WithField(seat.number, seat.stream, extra)))


@pytest.mark.parametrize("named", ["", 5, "module_alone"])
def test_names_that_name_nothing(named) -> None:
    with pytest.raises(cb.AgentError, match=r"as its compiled form; a function, or 'module:function', is needed"):
        simulate(agent_with(named))


def test_a_function_that_fails() -> None:
    with pytest.raises(cb.AgentError, match="The compiled form of Own could not be made: ZeroDivisionError"):
        simulate(agent_with(lambda agent, seat: 1 // 0))


def test_what_numba_cannot_compile_is_told_in_one_line() -> None:
    with pytest.raises(cb.AgentError, match=r"^Own \+ naive-ucb cannot be compiled: .*'nobody_knows' is not defined$"):
        simulate(agent_with(lambda agent, seat: Undefined(seat.number, seat.stream)))


def test_methods_assigned_to_an_object_are_played() -> None:
    agent = cb.NaiveUCB()
    agent.choose = lambda: 1  # type: ignore[method-assign]
    result = cb.simulate(PROBLEM, cb.Team([agent, cb.NaiveUCB()]), 100, 4, 0)
    assert result.engine == "reference"
    assert result.engine_reason == "naive-ucb has a choose of its own, assigned to the object"


def test_models_with_methods_of_their_own_are_played() -> None:
    blind = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
    object.__setattr__(blind.observation, "see", lambda *_: 0.0)
    result = cb.simulate(blind, cb.Team.of("naive-ucb"), 100, 4, 0)
    assert (result.engine, "has a see of its own" in result.engine_reason) == ("reference", True)
    with pytest.raises(NotCompiled, match="has a see of its own"):
        Copies(blind, [None, cb.NaiveUCB()], 100, 2)


def kind_with(function: Any) -> Any:
    return type("Kind", (First,), {"choose": function})


def test_a_digest_knows_what_is_taken_from_modules() -> None:
    helpers = types.ModuleType("helpers")
    package = types.ModuleType("package")
    package.helpers = helpers  # type: ignore[attr-defined]
    digests = set()
    for share in (0.1, 0.2):
        helpers.SHARE = share  # type: ignore[attr-defined]
        for scope in ({"helpers": helpers}, {"package": package}):
            text = "helpers.SHARE" if "helpers" in scope else "package.helpers.SHARE"
            exec(f"def choose(self, world, t): return {text}", scope)
            digests.add(kind_digest(kind_with(scope["choose"])))
    assert len(digests) == 4


@pytest.mark.parametrize("star", ["", "*, "])
def test_a_digest_knows_defaults(star) -> None:
    digests = set()
    for default in (0, 1):
        scope: dict[str, Any] = {}
        exec(f"def pick(t, {star}add={default}): return t + add\ndef choose(self, world, t): return pick(t)", scope)
        digests.add(kind_digest(kind_with(scope["choose"])))
    assert len(digests) == 2


def test_a_digest_knows_constants_of_classes() -> None:
    digests = set()
    for value in (1, 2):
        scope: dict[str, Any] = {"Options": type("Options", (), {"SHARE": value, "__module__": "mine"})}
        exec("def choose(self, world, t): return Options.SHARE", scope)
        digests.add(kind_digest(kind_with(scope["choose"])))
    assert len(digests) == 2
