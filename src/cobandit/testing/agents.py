"""The contract of agents, as checks for authors of agents.

One call::

    from cobandit.testing import check_agent

    check_agent(Mine(window=3))

or, under pytest, one test for each rule::

    from cobandit.testing import AgentContract

    class TestMine(AgentContract):
        def make(self):
            return Mine(window=3)

A broken rule raises `AgentError` with one sentence about the observation, the place and the requirement. The agent
plays in every seat and in every rank, with partners who play at random, so it must not rely on their behaviour. pytest
itself is not required.
"""

from __future__ import annotations

import copy
import itertools
import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cobandit.agents.base import Agent, Briefing, Controller, TeamAction
from cobandit.agents.checks import is_arm
from cobandit.agents.team import Team
from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import AgentError, CobanditError, InvalidInput
from cobandit.base.streams import checked_seed, generator
from cobandit.engine import Environment, simulate
from cobandit.engine.environment import run_streams
from cobandit.problem import Problem

Player = Agent | Controller

SHAPES = ((2, 2), (2, 3), (3, 2), (1, 3), (2, 3, 2))
"""The arms of the agents in the default problems: even, uneven, one agent without a choice, three agents."""

_SIGHT = (0.6, 0.4, 0.5)
_MANY_SEATS = 30
_SEAT_STRIDE = 5  # shares no factor with the 4 seats of two agents or the 18 of three, so each kind of seat comes up
_PARTNERS, _ELSEWHERE = 1, 2  # spawn keys and offsets that keep the check's own streams apart


def contract_problems() -> list[Problem]:
    """Return the default problems: every shape of `SHAPES` under every observation model, random means.

    An agent that declares ``needs_actions = False`` is checked in all of them with hidden actions, too.
    """
    problems = []
    for arms in SHAPES:
        sight = _SIGHT[: len(arms)]
        problems += [Problem.bernoulli(arms=arms, observability=sight, observation="missed")]
        problems += [Problem.bernoulli(arms=arms, observability=sight, observation="missed-known")]
        problems += [Problem.bernoulli(arms=arms, observability=sight, observation="flipped")]
        problems += [Problem.gaussian(arms=arms, noise=sight)]
    return problems


def check_agent(
    agent: Agent | Controller, *, problems: Iterable[Problem] | None = None, horizon: int = 60, seed: int = 0
) -> None:
    """Check an agent or a joint controller against every rule of the contract; stop at the first broken one.

    ``problems`` replaces the default ones (`contract_problems`), for an agent made for some settings only; it
    still meets every place and every rank of each. The agent itself is left as it is: its clones play.
    """
    chosen = _checked(agent, problems)
    for rule in RULES.values():
        rule(agent, chosen, whole(2)("horizon", horizon), checked_seed(seed))


class AgentContract:
    """A mixin for a test class: one test per rule. The test class writes `make`, which gives a fresh agent.

    ``problems``, ``horizon`` and ``seed`` may be set on the class; they mean what they mean for `check_agent`.
    """

    problems: Sequence[Problem] | None = None
    horizon: int = 60
    seed: int = 0

    def make(self) -> Agent | Controller:
        """Return a fresh agent (or joint controller) to check."""
        raise NotImplementedError(f"{type(self).__name__} must write make(self), which returns the agent to check.")

    def test_plays_legal_arms_everywhere(self) -> None:
        """Check that arms are integers in range, in every seat, in every rank, under every observation model."""
        self._check("legal arms")

    def test_rounds_move_on(self) -> None:
        """``self.round`` counts the rounds in a plain loop of `choose` and `observe`."""
        self._check("rounds move on")

    def test_reset_forgets_everything(self) -> None:
        """Check that a run after other runs is like the first."""
        self._check("reset forgets")

    def test_clone_is_independent(self) -> None:
        """Check that playing with a clone changes neither the original nor other clones."""
        self._check("clone is independent")

    def test_pickles_in_mid_run(self) -> None:
        """Check that a pickled copy continues as the original would have."""
        self._check("pickles in mid-run")

    def test_draws_from_its_own_stream_only(self) -> None:
        """Check that ``self.rng`` is the only source of randomness."""
        self._check("own stream only")

    def test_leaves_what_it_is_told_alone(self) -> None:
        """Check that the briefing is never changed."""
        self._check("briefing untouched")

    def test_plays_in_a_team_of_its_kind(self) -> None:
        """Check that a simulation of a team of such agents runs, and is the same twice with one seed."""
        self._check("plays in a team")

    def _check(self, rule: str) -> None:
        player = self.make()
        RULES[rule](player, _checked(player, self.problems), self.horizon, self.seed)


@dataclass(frozen=True)
class _Seat:
    """A place in a problem whose roles are settled."""

    problem: Problem
    place: int
    ranks: tuple[int, ...]
    joint: bool

    def __str__(self) -> str:
        who = "for all agents" if self.joint else f"as agent {self.place} with rank {self.ranks[self.place]}"
        return f"{who} ({_setting(self.problem)})"


class _Play:
    """One run of a player on a seat, in a world that the seed alone settles; the partners play at random."""

    def __init__(self, player: Player, seat: _Seat, horizon: int, seed: int) -> None:
        self.player = player
        self.seat = seat
        self.name = str(player)
        self.arms: list[TeamAction] = []
        problem = seat.problem
        streams = run_streams(problem, seed, 0)
        self._world = Environment(problem, streams)
        self._partners = generator(seed, _PARTNERS)
        means = self._world.instance.means.copy() if player.oracle else None
        self.briefing = Briefing(
            seat.place,
            problem.arms,
            seat.ranks,
            horizon,
            problem.binary,
            problem.observation.name,
            means,
            problem.best_observer if seat.joint else -1,
            "observed" if seat.joint else problem.actions,
        )
        self.original_briefing = copy.deepcopy(self.briefing)
        rng = streams.choices[seat.place]
        with self._no_crash("reset"):
            player.reset(self.briefing, rng)
        memory = (getattr(player, "briefing", None), getattr(player, "rng", None), getattr(player, "round", None))
        if memory[0] is not self.briefing or memory[1] is not rng or memory[2] != 1:
            raise AgentError(
                f"{self.name} does not keep its briefing, rng and round 1 on reset; "
                f"its reset must leave self.briefing, self.rng and self.round as they came."
            )

    def advance(self, rounds: int) -> list[TeamAction]:
        """Play on; the own arms of all rounds so far (of a joint controller: the team actions)."""
        for _ in range(rounds):
            t = len(self.arms) + 1
            others = [int(self._partners.random() * size) for size in self.seat.problem.arms]
            if self._world.begin_round() and self.player.oracle:
                self.player.briefing = replace(self.player.briefing, means=self._world.means.copy())
            with self._no_crash(f"choose in round {t}"):
                chosen: Any = self.player.choose()
                foreseen = {} if isinstance(self.player, Controller) else dict(self.player.predictions)
            action = self._team_action(chosen, others, t)
            self._check_predictions(foreseen, t)
            seen = self._world.step(action).seen
            reward = seen if self.seat.joint else seen[self.seat.place]
            silent = None in seen if self.seat.joint else reward is None
            with self._no_crash(
                f"observe in round {t}" + (", with a reward of None (nothing was seen)" if silent else "")
            ):
                self.player.observe(action, reward)  # type: ignore[arg-type]
            self.arms.append(action if self.seat.joint else (action[self.seat.place],))
        return self.arms

    def _team_action(self, chosen: Any, others: list[int], t: int) -> TeamAction:
        sizes = self.seat.problem.arms
        if self.seat.joint:
            if not isinstance(chosen, tuple) or len(chosen) != len(sizes):
                raise AgentError(
                    f"{self.name} chose {short_repr(chosen)} in round {t} {self.seat}; "
                    f"a tuple of {len(sizes)} arms, one for each agent, is needed."
                )
            action = chosen
        else:
            action = tuple(chosen if i == self.seat.place else arm for i, arm in enumerate(others))
        for arm, size in zip(action, sizes, strict=True):
            if not is_arm(arm, size):
                raise AgentError(
                    f"{self.name} chose {short_repr(arm)} in round {t} {self.seat}; "
                    f"an integer from 0 to {size - 1} is needed."
                )
        return tuple(int(arm) for arm in action)

    def _check_predictions(self, foreseen: dict[int, int], t: int) -> None:
        sizes = self.seat.problem.arms
        for other, arm in foreseen.items():
            if not is_arm(other, len(sizes)) or other == self.seat.place or not is_arm(arm, sizes[other]):
                raise AgentError(
                    f"{self.name} foresaw arm {short_repr(arm)} of agent {short_repr(other)} in round {t} {self.seat}; "
                    f"its predictions must map other agents to arms they have."
                )

    @contextmanager
    def _no_crash(self, what: str) -> Iterator[None]:
        try:
            yield
        except CobanditError:
            raise
        except Exception as error:
            raise AgentError(
                f"{self.name} raised {type(error).__name__} ({error}) in {what} {self.seat}; it must play on."
            ) from error


def _setting(problem: Problem) -> str:
    hidden = ", hidden actions" if problem.hides_actions else ""
    return f"{'x'.join(str(size) for size in problem.arms)} arms, {problem.observation.name} observation{hidden}"


def _checked(player: Any, problems: Iterable[Problem] | None) -> list[Problem]:
    if not isinstance(player, (Agent, Controller)):
        hint = f" Call it: {player.__name__}()." if isinstance(player, type) else ""
        raise InvalidInput(f"agent must be an Agent or a Controller, got {short_repr(player)}.{hint}")
    if problems is None:
        open_problems = contract_problems()
        blind = isinstance(player, Agent) and not player.needs_actions
        return open_problems + [replace(problem, actions="hidden") for problem in open_problems if blind]
    chosen = list(problems)
    if not chosen or not all(isinstance(problem, Problem) for problem in chosen):
        raise InvalidInput(f"problems must be a list of at least one Problem, got {short_repr(chosen)}.")
    return chosen


@dataclass(frozen=True)
class _Bench:
    """A player to be checked on a seat: its clones play there, in one and the same world."""

    player: Player
    seat: _Seat
    horizon: int
    seed: int

    def start(self, player: Player | None = None) -> _Play:
        """Return a run of the given player, or of a fresh clone."""
        return _Play(self.player.clone() if player is None else player, self.seat, self.horizon, self.seed)

    def run(self, player: Player | None = None) -> list[TeamAction]:
        """Return the arms of a whole run."""
        return self.start(player).advance(self.horizon)

    def elsewhere(self, seat: _Seat | None = None) -> _Bench:
        """Return the same player in another world."""
        return replace(self, seat=self.seat if seat is None else seat, seed=self.seed + _ELSEWHERE)

    def same(self, expected: list[TeamAction], played: list[TeamAction], what: str, needed: str) -> None:
        """Raise an error that names the first round in which two runs differ."""
        for t, (old, new) in enumerate(zip(expected, played, strict=True), start=1):
            if old != new:
                raise AgentError(
                    f"{self.player} {what}: {_brief(new)} in place of {_brief(old)} in round {t} {self.seat}; {needed}."
                )


def _benches(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> list[_Bench]:
    """Return every place and every order of ranks of every problem; for a joint controller, every order of ranks."""
    joint = isinstance(player, Controller)
    return [
        _Bench(player, _Seat(replace(problem, roles=ranks), place, ranks, joint), horizon, seed)
        for problem in problems
        for place in range(1 if joint else problem.agents)
        for ranks in itertools.permutations(range(problem.agents))
    ]


def _some(benches: list[_Bench]) -> list[_Bench]:
    """Return all of them, or a spread of them where they are many."""
    return benches if len(benches) <= _MANY_SEATS else benches[::_SEAT_STRIDE]


def _legal_arms(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    for bench in _benches(player, problems, horizon, seed):
        bench.run()


def _rounds_move_on(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    for bench in _some(_benches(player, problems, horizon, seed)):
        play = bench.start()
        for t in range(1, horizon + 1):
            play.advance(1)
            if play.player.round != t + 1:
                raise AgentError(
                    f"{player} is at round {short_repr(play.player.round)} after observe in round {t} {bench.seat}; "
                    f"its round must be the one that Agent counts."
                )


def _reset_forgets(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    needed = "reset must forget every run"
    benches = _some(_benches(player, problems, horizon, seed))
    for bench, other in zip(benches, benches[1:] + benches[:1], strict=True):
        used = player.clone()
        first = bench.run(used)
        bench.same(first, bench.run(used), "after a reset plays otherwise than when new", needed)
        bench.elsewhere(other.seat).start(used).advance(horizon // 2)
        bench.same(first, bench.run(used), "after half a run and a reset plays otherwise than when new", needed)


def _clone_is_independent(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    needed = "clones must share nothing"
    before = _frozen(player)
    for bench in _some(_benches(player, problems, horizon, seed)):
        clone = player.clone()
        if clone is player:
            raise AgentError(f"{player} returns itself from clone(); a new one like it is needed.")
        if type(clone) is not type(player) or clone.options != player.options:
            raise AgentError(f"{player} has {clone} for a clone; the same class with the same options is needed.")
        alone = bench.run(clone)

        ours, theirs = bench.start(), bench.elsewhere().start()
        for _ in range(horizon):
            ours.advance(1)
            theirs.advance(1)
        bench.same(alone, ours.arms, "plays otherwise while another clone plays", needed)

        ours = bench.start()
        ours.advance(horizon // 2)
        late = ours.player.clone()
        bench.elsewhere().run(late)
        ours.advance(horizon - horizon // 2)
        bench.same(alone, ours.arms, "plays otherwise after it was cloned in mid-run", needed)
        bench.same(alone, bench.run(late), "cloned in mid-run and reset, plays otherwise than when new", needed)
    if before is not None and _frozen(player) != before:
        raise AgentError(f"{player} was changed by what its clones played; {needed}.")


def _pickles_in_mid_run(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    for bench in _some(_benches(player, problems, horizon, seed)):
        straight = bench.run()
        copied = bench.run(_pickled(player, "before its first run"))
        bench.same(straight, copied, "plays otherwise once pickled", "a pickle must carry the options")
        broken = bench.start()
        broken.advance(horizon // 2)
        broken.player = _pickled(broken.player, "in mid-run")
        broken.advance(horizon - horizon // 2)
        needed = "a pickle must carry its memory and its rng"
        bench.same(straight, broken.arms, "plays otherwise once pickled in mid-run", needed)


def _own_stream_only(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    needed = "all random numbers must come from self.rng"
    states = random.getstate(), np.random.get_state()
    try:
        for bench in _some(_benches(player, problems, horizon, seed)):
            runs = []
            for global_seed in (1, 2):
                random.seed(global_seed)
                np.random.seed(global_seed)
                before = global_state()
                runs.append(bench.run())
                if global_state() != before:
                    raise AgentError(f"{player} draws from the global random or numpy.random; {needed}.")
            bench.same(runs[0], runs[1], "plays otherwise in a second run with one seed", needed)
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])


def _briefing_untouched(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    for bench in _some(_benches(player, problems, horizon, seed)):
        play = bench.start()
        play.advance(horizon)
        for name, before in vars(play.original_briefing).items():
            now = getattr(play.briefing, name)
            if not (np.array_equal(now, before) if isinstance(before, np.ndarray) else now == before):
                raise AgentError(
                    f"{player} changed {name} of its briefing from {short_repr(before)} to {short_repr(now)} "
                    f"{bench.seat}; "
                    f"it must copy what it wants to change."
                )


def _plays_in_a_team(player: Player, problems: Sequence[Problem], horizon: int, seed: int) -> None:
    team = Team.of(player)
    for problem in problems:
        where = f"in a team of its kind ({_setting(problem)})"
        try:
            results = [simulate(problem, team, horizon, runs=2, seed=seed, engine="reference") for _ in range(2)]
        except CobanditError:
            raise
        except Exception as error:
            raise AgentError(f"{player} raised {type(error).__name__} ({error}) {where}; it must play on.") from error
        if not np.array_equal(results[0].task_regret, results[1].task_regret):
            raise AgentError(f"{player} plays otherwise in a second simulation with one seed {where}.")


Rule = Callable[[Player, Sequence[Problem], int, int], None]

RULES: dict[str, Rule] = {
    "legal arms": _legal_arms,
    "rounds move on": _rounds_move_on,
    "reset forgets": _reset_forgets,
    "clone is independent": _clone_is_independent,
    "pickles in mid-run": _pickles_in_mid_run,
    "own stream only": _own_stream_only,
    "briefing untouched": _briefing_untouched,
    "plays in a team": _plays_in_a_team,
}
"""Every rule of the contract by name, in the order in which `check_agent` goes through them."""


def _brief(action: TeamAction) -> str:
    return f"arm {action[0]}" if len(action) == 1 else f"arms {action}"


def _pickled(player: Player, when: str) -> Player:
    try:
        copied: Player = pickle.loads(pickle.dumps(player))
    except Exception as error:
        raise AgentError(
            f"{player} cannot be pickled {when}: {type(error).__name__} ({error}); everything it holds must pickle."
        ) from error
    return copied


def _frozen(player: Player) -> bytes | None:
    """Return the state of a player as bytes, where it pickles."""
    try:
        return pickle.dumps(player)
    except Exception:
        return None


def global_state() -> tuple[Any, ...]:
    """Return the state of the global random generators."""
    name, keys, *rest = np.random.get_state(legacy=True)
    return random.getstate(), name, np.asarray(keys).tobytes(), *rest
