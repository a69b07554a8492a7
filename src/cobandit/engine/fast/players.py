"""From agents to what compiled loops take: one player each, then squads of one kind, then one block of state.

An agent's class names its compiled form in ``compiled``, as ``"module:function"`` or the function itself. The function
takes the agent and its `Seat` and returns a kind: a NamedTuple of numbers and one-dimensional arrays, with the methods
``choose(self, world, t)`` and ``learn(self, world, t, played, seen)`` and, where it needs one, ``begin(self, world)``.
The first two fields are ``seat`` and ``stream``. Arrays start every run as the function made them; one that was made
by `table` never changes and is shared.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Agent, Briefing, Controller
from cobandit.base.checks import short_repr
from cobandit.base.errors import AgentError, CobanditError
from cobandit.base.streams import FIRST_OBSERVATION
from cobandit.engine.choice import NotCompiled
from cobandit.engine.fast import world as worlds
from cobandit.engine.fast.models import require_class_methods
from cobandit.engine.fast.rows import MOST_FIELDS, Tag, memory_of
from cobandit.problem import Problem

Player = Agent | Controller
Fields = TypeVar("Fields", bound=Any)
"""A NamedTuple."""

SEATED = ("seat", "stream")
"""The fields with which every kind of player begins."""


@dataclass(frozen=True)
class Seat:
    """The seat of a compiled player: its agent's briefing, and its random stream.

    With ``drawn_roles`` the ranks of the briefing are not those of the runs, which are in ``world.ranks``.
    """

    briefing: Briefing
    stream: int
    drawn_roles: bool = False

    @property
    def number(self) -> int:
        """The agent's own index."""
        return self.briefing.agent

    @property
    def cells(self) -> int:
        """The number of team actions."""
        return math.prod(self.briefing.arms)

    def zeros(self, dtype: type[Any] = np.float64) -> NDArray[Any]:
        """Return one number for each team action."""
        return np.zeros(self.cells, dtype=dtype)


def table(values: Any) -> NDArray[Any]:
    """Return an array that never changes while playing, so that it is shared and not reset."""
    constant = np.ascontiguousarray(values)
    constant.flags.writeable = False
    return constant


def with_tables(fields: Fields, *names: str) -> Fields:
    """Return the same NamedTuple with some of its arrays as `table`."""
    changed: Fields = fields._replace(**{name: table(getattr(fields, name)) for name in names})
    return changed


def factory_of(player: Player) -> Callable[[Any, Seat], Any] | None:
    """Return the function that makes a player's compiled form; None where its very class names none.

    A subclass does not inherit it: its methods may be others.
    """
    named = type(player).__dict__.get("compiled")
    if not isinstance(named, str):
        factory = getattr(named, "__func__", named)
        if factory is None or callable(factory):
            return factory
    module, _, function = str(named).partition(":")
    if not module or not function:
        raise AgentError(
            f"{type(player).__name__} names {short_repr(named)} as its compiled form; a function, or "
            "'module:function', is needed."
        )
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise AgentError(
            f"{type(player).__name__} names {named!r} as its compiled form, which cannot be had: {error}"
        ) from error


def compiled_player(player: Player, seat: Seat) -> Any:
    """Return a player's compiled form, or `NotCompiled`."""
    factory = factory_of(player)
    if factory is None:
        raise NotCompiled(f"{player.title} has no compiled form")
    if seat.briefing.actions == "hidden" and not factory.__module__.startswith("cobandit."):
        # The world of the compiled loops has the arms of all agents, for every player to read.
        raise NotCompiled(f"the compiled form of {player.title} could read the arms that are hidden from it")
    require_class_methods(player, player.title)
    try:
        kind = factory(player, seat)
    except CobanditError:
        raise
    except Exception as error:  # whatever goes wrong in a function of the user's
        raise AgentError(
            f"The compiled form of {player.title} could not be made: {type(error).__name__}: {error}"
        ) from error
    methods = [name for name in ("choose", "learn") if not callable(getattr(kind, name, None))]
    if not isinstance(kind, tuple) or getattr(kind, "_fields", ())[:2] != SEATED or methods:
        raise AgentError(
            f"The compiled form of {player.title} is {type(kind).__name__}; a NamedTuple is needed whose first fields "
            "are seat and stream, with the methods choose and learn."
        )
    if len(kind) > MOST_FIELDS:
        raise AgentError(
            f"The compiled form of {player.title} has {len(kind)} fields, but at most {MOST_FIELDS} are allowed. "
            "Put numbers of one type into one array."
        )
    if (kind[0], kind[1]) != (seat.number, seat.stream):
        raise AgentError(
            f"The compiled form of {player.title} has seat {short_repr(kind[0])} and stream {short_repr(kind[1])}; "
            f"seat.number and seat.stream are needed, which are {seat.number} and {seat.stream}."
        )
    for name, value in kind._asdict().items():  # type: ignore[attr-defined]
        if not _is_field(value):
            raise AgentError(
                f"The compiled form of {player.title} has {short_repr(value)} as {name}; a number, or an array of "
                "numbers of one dimension, is needed."
            )
    return kind


def _is_field(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "biuf"
    return isinstance(value, (bool, int, float, np.integer, np.floating))


def briefings_of(problem: Problem, horizon: int) -> list[Briefing]:
    """Return the briefing of each agent of a problem (`engine.match.Match`); indices replace drawn ranks."""
    drawn = problem.draws_roles
    ranks = tuple(range(problem.agents)) if drawn else problem.known_ranks()
    return [
        Briefing(
            i,
            problem.arms,
            ranks,
            horizon,
            binary=problem.binary,
            observation=problem.observation.name,
            actions=problem.actions,
        )
        for i in range(problem.agents)
    ]


def compiled_team(problem: Problem, players: Sequence[Player], horizon: int) -> list[Any]:
    """Return the compiled forms of a team's players."""
    briefings = briefings_of(problem, horizon)
    drawn = problem.draws_roles
    first = FIRST_OBSERVATION + problem.agents
    if isinstance(players[0], Controller):
        briefing = Briefing(**(vars(briefings[0]) | {"best_observer": problem.best_observer, "actions": "observed"}))
        return [compiled_player(players[0], Seat(briefing, first, drawn))]
    return [
        compiled_player(player, Seat(briefing, first + i, drawn))
        for i, (player, briefing) in enumerate(zip(players, briefings, strict=True))
    ]


class Squads(NamedTuple):
    """Players by kind: the kinds in the order of their names, each with rows; and the number each player got."""

    kinds: tuple[Any, ...]
    sizes: tuple[int, ...]
    numbers: tuple[int, ...]


def make_squads(players: Sequence[Any]) -> Squads:
    """Stack players of one kind; ``numbers[i]`` is the position of player i in the order of all squads."""
    by_name = sorted(range(len(players)), key=lambda i: (type(players[i]).__module__, type(players[i]).__qualname__, i))
    groups = [list(group) for _, group in itertools.groupby(by_name, key=lambda i: type(players[i]))]
    numbers = [0] * len(players)
    for number, i in enumerate(by_name):
        numbers[i] = number
    kinds = tuple(
        type(players[group[0]])(*(_stacked([players[i][f] for i in group]) for f in range(len(players[group[0]]))))
        for group in groups
    )
    return Squads(kinds, tuple(map(len, groups)), tuple(numbers))


def _stacked(values: list[Any]) -> NDArray[Any]:
    """Return one field of several players: a number each, or a row each, as long as the longest needs."""
    if not isinstance(values[0], np.ndarray):
        whole = all(isinstance(value, (bool, int, np.integer)) for value in values)
        return np.array(values, dtype=np.int64 if whole else np.float64)
    longest = max(len(value) for value in values)
    rows = np.zeros((len(values), longest), dtype=values[0].dtype)
    for row, value in zip(rows, values, strict=True):
        row[: len(value)] = value
    rows.flags.writeable = values[0].flags.writeable
    return rows


class Stage(NamedTuple):
    """What one thread plays on, as compiled loops take it.

    ``tags`` are those of the world and of the models, ``team`` those of the squads; ``memory`` has a row for each. All
    that changes in a run lies in one block: a run starts by copying ``fresh`` to ``state``.
    """

    tags: tuple[Tag, ...]
    team: tuple[Tag, ...]
    sizes: tuple[int, ...]
    memory: NDArray[np.int64]
    fresh: NDArray[np.uint64]
    state: NDArray[np.uint64]


def make_stage(squads: Squads, world: Any, *models: Any, state: NDArray[np.uint64] | None = None) -> Stage:
    """Return a separate stage for one thread; ``state`` is memory for the changing parts of a run, if the caller has
    it.
    """
    changing = [(k, name) for k, kind in enumerate(squads.kinds) for name in kind._fields if _changes(kind, name)]
    fields = [getattr(squads.kinds[k], name) for k, name in changing]
    starting = getattr(world, "starting", worlds.STATE)  # the fields of a world that are reset with every run
    fields += [getattr(world, name) for name in starting]
    words = [-(-field.nbytes // 8) for field in fields]
    fresh = np.zeros(sum(words), dtype=np.uint64)
    state = fresh.copy() if state is None else state
    views, at = [], 0
    for field, size in zip(fields, words, strict=True):
        fresh[at : at + size].view(field.dtype)[: field.size] = field.ravel()
        views.append(state[at : at + size].view(field.dtype)[: field.size].reshape(field.shape))
        at += size
    own: dict[int, dict[str, Any]] = {k: {} for k in range(len(squads.kinds))}
    for (k, name), view in zip(changing, views, strict=False):
        own[k][name] = view
    own_arrays = {
        name: value.copy() for name, value in world._asdict().items() if name not in worlds.SHARED and _array(value)
    }
    own_arrays |= dict(zip(starting, views[len(changing) :], strict=True))
    tags = tuple(map(Tag, (world._replace(**own_arrays), *models)))
    team = tuple(Tag(kind._replace(**own[k]), squads.sizes[k]) for k, kind in enumerate(squads.kinds))
    return Stage(tags, team, squads.sizes, memory_of(tags + team), fresh, state)


def _array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _changes(kind: Any, name: str) -> bool:
    value = getattr(kind, name)
    return bool(value.ndim == 2 and value.flags.writeable)
