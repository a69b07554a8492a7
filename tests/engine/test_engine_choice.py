"""Which engine plays: exact types only, and the result says which one and why."""

import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass

import pytest

import cobandit as cb
from cobandit.engine import choice
from cobandit.studies import simulate_participants

MEANS = [[0.8, 0.4], [0.2, 0.6]]
PROBLEM = cb.Problem.bernoulli(MEANS, [1.0, 0.5])
TEAM = cb.Team.of("partner-aware-ucb", window=5)


@pytest.fixture(autouse=True)
def _no_job_is_small(monkeypatch):
    monkeypatch.setattr(choice, "SMALL_JOB", 0)
    monkeypatch.setattr(choice, "READY_SECONDS", {"memory": 0.0, "disk": 0.0, "none": 0.0})


def played(problem=PROBLEM, team=TEAM) -> tuple[str, str]:
    result = cb.simulate(problem, team, 30, 2, 0)
    plain = cb.simulate(problem, team, 30, 2, 0, engine="reference")
    assert (result.task_regret == plain.task_regret).all()
    assert plain.engine_reason == "asked for"
    assert result.provenance()["engine_reason"] == result.engine_reason
    return result.engine, result.engine_reason


def test_what_has_a_compiled_form_is_played_by_it() -> None:
    assert played() == ("fast", "everything has a compiled form")


@dataclass(frozen=True)
class Blinking(cb.Missed):
    """Looks the same as `Missed`, but sees another thing."""

    def see(self, t, agent, reward, rng):
        return 0.0 if rng.random() < 0.5 else reward


@dataclass(frozen=True)
class Coin(cb.Bernoulli):
    """Looks the same as `Bernoulli`, but pays otherwise."""

    def draw(self, t, mean, spread, rng):
        return 1.0 if rng.random() < 0.5 else 0.0


@dataclass(frozen=True)
class Easy(cb.FixedMeans):
    """Looks the same as `FixedMeans`, but has other means."""

    def draw(self, t, previous, rng):
        return super().draw(t, previous, rng) / 2


class Backwards(cb.Problem):
    """A problem with roles of its own."""

    def known_ranks(self):
        return super().known_ranks()[::-1]


@dataclass
class Reckless(cb.PartnerAwareUCB):
    """A subclass of a compiled agent: its methods are not those that were compiled."""

    def choose(self):
        return super().choose() ^ 1


@pytest.mark.parametrize(
    ("problem", "team", "named"),
    [
        (cb.Problem.bernoulli(MEANS, observation=Blinking((1.0, 0.5))), TEAM, "Blinking"),
        (cb.Problem.of(PROBLEM.means, Coin(), PROBLEM.observation), TEAM, "Coin"),
        (cb.Problem.bernoulli(Easy((2, 2), cb.FixedMeans.of(MEANS).values), [1.0, 0.5]), TEAM, "Easy"),
        (Backwards(PROBLEM.means, PROBLEM.reward, PROBLEM.observation), TEAM, "Backwards"),
        (PROBLEM, cb.Team([Reckless(), cb.NaiveUCB()]), "Reckless"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_subclasses_are_not_taken_for_what_they_derive_from(problem, team, named) -> None:
    engine, reason = played(problem, team)
    assert engine == "reference"
    assert named in reason
    with pytest.raises(cb.InvalidInput, match=f"The fast engine cannot play this: .*{named}"):
        cb.simulate(problem, team, 30, 2, 0, engine="fast")


@dataclass
class Newcomer(cb.Agent):
    """Registered, but not compiled."""

    name = "newcomer"

    def choose(self):
        return self.round % self.briefing.own_arms

    def observe(self, team_action, reward):
        pass


def test_registered_does_not_mean_compiled(monkeypatch) -> None:
    monkeypatch.setitem(cb.AGENTS, "newcomer", Newcomer)
    assert played(team=cb.Team.of("newcomer")) == ("reference", "newcomer has no compiled form")
    crowd = simulate_participants("burger", Newcomer(), 2, 0)
    assert (crowd.engine, crowd.engine_reason) == ("reference", "newcomer has no compiled form")
    with pytest.raises(cb.InvalidInput, match="newcomer has no compiled form"):
        simulate_participants("burger", Newcomer(), 2, 0, engine="fast")


def test_a_compiled_form_that_is_not_there() -> None:
    class Lost(cb.NaiveUCB):
        compiled = "cobandit.engine.fast.kinds.nowhere:lost"

    with pytest.raises(cb.AgentError, match=r"Lost names 'cobandit.engine.fast.kinds.nowhere:lost' as its compiled"):
        cb.simulate(PROBLEM, cb.Team.of(Lost()), 30, 2, 0)


def test_a_compiled_form_that_is_none() -> None:
    class Odd(cb.NaiveUCB):
        def compiled(agent, seat):  # type: ignore[override]  # noqa: N805
            return (1, 2)

    with pytest.raises(cb.AgentError, match=r"The compiled form of Odd is tuple; a NamedTuple is needed"):
        cb.simulate(PROBLEM, cb.Team.of(Odd()), 30, 2, 0)


def test_a_compiled_form_with_more_fields_than_there_is_room_for() -> None:
    names = ("seat", "stream", *(f"number_{k}" for k in range(63)))

    class Crowded(namedtuple("Crowded", names)):  # type: ignore[misc]
        def choose(self, world, t):
            return 0

        def learn(self, world, t, played, seen):
            pass

    class Odd(cb.NaiveUCB):
        def compiled(agent, seat):  # type: ignore[override]  # noqa: N805
            return Crowded(seat.number, seat.stream, *range(63))  # type: ignore[call-arg]

    with pytest.raises(cb.AgentError, match=r"The compiled form of Odd has 65 fields, but at most 64 are allowed"):
        cb.simulate(PROBLEM, cb.Team.of(Odd()), 30, 2, 0)


def test_a_softmax_of_real_rewards_goes_to_the_reference_engine() -> None:
    engine, reason = played(cb.Problem.gaussian(MEANS, [0.1, 0.5]), cb.Team.of("softmax"))
    assert engine == "reference"
    assert reason == "softmax has a compiled form only where all seen rewards are 0 or 1"


def test_a_small_job_does_not_load_the_fast_engine() -> None:
    script = (
        "import sys, cobandit as cb\n"
        "problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]])\n"
        "result = cb.simulate(problem, cb.Team.of('naive-ucb'), 50, 100, 0)\n"
        "print(result.engine, '/', result.engine_reason, '/', 'numba' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "reference / a small job is done before the fast engine has been loaded / False\n"


def test_compiled_code_that_is_not_there_is_found_without_compiling() -> None:
    fast = pytest.importorskip("cobandit.engine.fast")
    game = fast.make_game(PROBLEM, TEAM, 30)
    where, loop = fast.readiness(game, 2, False)
    assert where in choice.READY_SECONDS
    assert fast.readiness(game, 2, False) == (where, loop)
    cb.simulate(PROBLEM, TEAM, 30, 2, 0, engine="fast")
    assert fast.readiness(game, 2, False) == ("memory", loop)
    assert fast.readiness(game, 2, True)[1] != loop


COST = 100_000 * choice.ROUND_SECONDS * (1.0 + 4 / choice.CELLS)
"""What 100,000 agent-rounds with four team actions are estimated to take on the reference engine."""


@pytest.mark.parametrize(
    ("seconds", "where", "engine"),
    [
        (COST * 2.0, "none", "reference"),
        (COST / 2.0, "none", "fast"),
        (COST * 2.0, "disk", "reference"),
        (COST / 2.0, "disk", "fast"),
        (0.0, "memory", "fast"),
    ],
)
def test_a_job_is_compiled_only_where_that_is_worth_it(
    monkeypatch: pytest.MonkeyPatch, seconds: float, where: str, engine: str
) -> None:
    monkeypatch.setattr(choice, "READY_SECONDS", {"memory": 0.0, "disk": 9.0, "none": 9.0, where: seconds})
    monkeypatch.setattr(choice, "_spent", {})
    chosen, reason, _ = choice.engine_for("auto", lambda: None, 100_000, 4, lambda _: (where, "loop"))
    assert chosen == engine
    assert ("compiled or loaded for it" in reason) == (engine == "reference")
    asked = choice.engine_for("fast", lambda: "a game", 100_000, 4, lambda _: (where, "loop"))
    assert asked == ("fast", "asked for", "a game")


def test_many_small_jobs_are_compiled_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "READY_SECONDS", {"memory": 0.0, "disk": 0.0, "none": 3.5 * COST})
    monkeypatch.setattr(choice, "_spent", {})
    asked = [choice.engine_for("auto", lambda: None, 100_000, 4, lambda _: ("none", "loop"))[0] for _ in range(4)]
    assert asked == ["reference", "reference", "reference", "fast"]
    assert choice.engine_for("auto", lambda: None, 100_000, 4, lambda _: ("none", "another"))[0] == "reference"


def test_a_trivial_job_after_the_fast_engine_was_loaded_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cobandit.engine.fast")
    monkeypatch.setattr(choice, "READY_SECONDS", {"memory": 0.0, "disk": 0.3, "none": 4.0})
    monkeypatch.setattr(choice, "_spent", {})
    odd = cb.Problem.bernoulli("random", [1.0, 0.9, 0.8, 0.7, 0.6], arms=(2, 1, 2, 1, 2), observation="flipped")
    mixed = cb.Team(["softmax", "naive-ts", "epsilon-greedy", "naive-ucb", "very-naive-ucb"])
    result = cb.simulate(odd, mixed, 20, 2, 0)
    assert result.engine_reason == "a small job is done before the fast engine is compiled or loaded for it"


BROKEN = """
import importlib.abc, sys
class Broken(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name == "numba":
            return importlib.util.spec_from_loader(name, self, origin="broken")
    def exec_module(self, module):
        raise {error}
import importlib.util
sys.meta_path.insert(0, Broken())
import cobandit as cb
problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]])
"""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("ImportError('Numba needs NumPy 1.26 or less')", "(ImportError: Numba needs NumPy 1.26 or less)"),
        ("SystemError('initialisation failed')", "(SystemError: initialisation failed)"),
    ],
)
def test_a_numba_that_cannot_be_imported_leaves_the_reference_engine(error: str, told: str) -> None:
    script = BROKEN.format(error=error) + (
        "result = cb.simulate(problem, cb.Team.of('naive-ucb'), 500, 20, 0)\n"
        "print(result.engine, '/', result.engine_reason)\n"
        "try:\n"
        "    cb.simulate(problem, cb.Team.of('naive-ucb'), 500, 20, 0, engine='fast')\n"
        "except cb.InvalidInput as error:\n"
        "    print(error)\n"
        "import dataclasses\n"
        "moved = dataclasses.replace(result, engine='fast')\n"
        "print((moved.trajectory(0).actions == result.trajectory(0).actions).all())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.splitlines()
    assert first == f"reference / numba is installed but cannot be imported {told}"
    assert second.startswith("engine must be 'auto' or 'reference' here, got 'fast': numba is installed but")
    assert told in second
    assert third == "True"


def test_a_simulation_prepares_its_game_once(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = pytest.importorskip("cobandit.engine.fast")
    prepare, settings = fast.make_game, []

    def counted(*setting: object) -> object:
        settings.append(setting)
        return prepare(*setting)

    monkeypatch.setattr(fast, "make_game", counted)
    cb.simulate(PROBLEM, TEAM, 30, 2, 0)
    cb.simulate(PROBLEM, TEAM, 30, 2, 0, engine="fast")
    cb.simulate(PROBLEM, TEAM, 30, 2, 0, engine="fast", diagnose=True)
    assert settings == [(PROBLEM, TEAM, 30)] * 3
