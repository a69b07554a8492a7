"""Select the code of a kind's methods by type while compiling.

The loops iterate over a tuple of squads. Each function below exists twice: as plain Python, for play without the
compiler, and as the code that replaces it in compiled loops. That code is generated for each set of kinds, so that only
the kinds in use are compiled.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

import numpy as np
from numba import extending, njit, types
from numpy.typing import NDArray

from cobandit.base.errors import AgentError
from cobandit.engine.fast.pipeline import PART_OPTIONS
from cobandit.engine.fast.protocols import Code, Player, Record, Sight, Sizes, Squads, TeamWorld
from cobandit.engine.fast.random import inlined
from cobandit.engine.fast.rows import RowType, Tag, player, squad_at
from cobandit.engine.fast.world import LateWorld, World, own_arm

overload: Any = extending.overload
overload_method: Any = extending.overload_method

_INLINED = PART_OPTIONS | {"forceinline": True}


def is_joint(kind: object) -> bool:
    """Return whether a kind is a joint controller, which chooses a cell for the whole team."""
    return bool(getattr(kind, "joint", False))


def call_own_method(name: str, arguments: str, options: dict[str, bool]) -> None:
    """Let compiled code call a method of kinds by its name: each class's own is compiled."""

    def own_method(self: types.Type, *_: types.Type) -> Code | None:
        # Numba asks this while it types a call: the answer is the method of the very class, so a loop contains the
        # code of the kinds that play in it and of no others.
        method = getattr(self.instance_class, name, None)
        is_ours = self.instance_class.__module__.startswith("cobandit.")
        return method if is_ours or name != "choose" else _bounded(self.instance_class)

    parameters = [Parameter(word, Parameter.POSITIONAL_OR_KEYWORD) for word in f"self {arguments}".split()]
    own_method.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    for kind in (RowType, types.NamedTuple):
        overload_method(kind, name, jit_options=options, strict=False)(own_method)


def _bounded(kind: type[Player]) -> Code:
    """Return the ``choose`` of a user-defined kind with a bounds check of its result: pointers have no bounds."""
    choose = njit(**_INLINED)(kind.choose)
    if is_joint(kind):
        no_cell = f"The compiled form {kind.__name__} chose a team action that does not exist."

        def choose_cell(self: Player, world: TeamWorld, t: int) -> int:
            cell = choose(self, world, t)
            if cell < 0 or cell >= world.cells:
                raise AgentError(no_cell)
            return cell

        return choose_cell
    no_arm = f"The compiled form {kind.__name__} chose an arm that does not exist."

    def choose_arm(self: Player, world: TeamWorld, t: int) -> int:
        arm = choose(self, world, t)
        if arm < 0 or arm >= world.arms[self.seat]:
            raise AgentError(no_arm)
        return arm

    return choose_arm


call_own_method("choose", "world t", _INLINED)
call_own_method("learn", "world t played seen", _INLINED)
call_own_method("draw", "world played", _INLINED)
call_own_method("see", "world agent reward", _INLINED)
call_own_method("fuse", "world", PART_OPTIONS)
call_own_method("begin", "world", PART_OPTIONS)
call_own_method("drift", "world t", PART_OPTIONS)
call_own_method("keep", "world t played reward", PART_OPTIONS)
call_own_method("keep_round", "world episode k reward", PART_OPTIONS)


def keep_in(self: Record, world: TeamWorld, t: int, played: int, reward: float) -> None:
    """Let a record keep round t."""
    self.keep(world, t, played, reward)


@overload(keep_in, jit_options=_INLINED, strict=False)
def _keep_in(self: types.Type, world: types.Type, t: types.Type, played: types.Type, reward: types.Type) -> Code:
    # A call hands over every field of record and world: too much for one that has something to do in every round.
    if getattr(self.instance_class, "busy", False):
        return self.instance_class.keep
    return lambda self, world, t, played, reward: self.keep(world, t, played, reward)


def known_rounds(world: World, t: int) -> int:
    """Return the number of rounds on which the players have feedback before round t."""
    return max(t - 1 - int(world.late[0]), 0)


@overload(known_rounds, jit_options=_INLINED, strict=False)
def _known_rounds(world: types.Type, t: types.Type) -> Code:
    def late(world: LateWorld, t: int) -> int:
        return t - 1 - world.late[0] if t - 1 > world.late[0] else 0

    return late if issubclass(world.instance_class, LateWorld) else lambda world, t: t - 1


def squads_of(tags: tuple[Tag, ...], sizes: Sizes, memory: NDArray[np.int64], row: int) -> Squads:
    """Return the squads of a tuple of tags, whose rows start at ``row``."""
    return tuple(squad_at(tag, memory, row + sum(sizes[:k])) for k, tag in enumerate(tags))


def begin_all(squads: Squads, sizes: Sizes, world: TeamWorld) -> None:
    """Let every player that wants to get ready for a run."""
    for squad, size in zip(squads, sizes, strict=True):
        if hasattr(squad, "begin"):
            for k in range(size):
                player(squad, k).begin(world)


# The next four are plain: numba compiles each in the place of `choose_all` or `learn_all`. A function of
# their own behind these would be typed and compiled as well, .15 CPU seconds of a cold start.
def choose_first(squads: Squads, sizes: Sizes, world: TeamWorld, t: int) -> int:
    """Put the arms of the players of the first kind into the world; return their share of the cell."""
    # The cell is added up here, not from ``world.arm``: every round waits for it, and memory is slow to give back.
    cell = 0
    for k in range(sizes[0]):
        me = player(squads[0], k)
        arm = me.choose(world, t)
        world.arm[me.seat] = arm
        cell += arm * world.strides[me.seat]
    return cell


def choose_jointly(squads: Squads, sizes: Sizes, world: TeamWorld, t: int) -> int:
    """Put the arms that a joint controller chooses into the world; return the cell."""
    cell = player(squads[0], 0).choose(world, t)
    for j in range(world.agents):
        world.arm[j] = own_arm(world, j, cell)
    return cell


def learn_first(
    squads: Squads, sizes: Sizes, world: TeamWorld, t: int, played: int, sight: Sight, reward: float
) -> None:
    """Let the players of the first kind see what they can of a reward, and learn from it."""
    for k in range(sizes[0]):
        me = player(squads[0], k)
        seen = sight.see(world, me.seat, reward)
        world.seen[me.seat] = seen
        me.learn(world, t, played, seen)


def learn_jointly(
    squads: Squads, sizes: Sizes, world: TeamWorld, t: int, played: int, sight: Sight, reward: float
) -> None:
    """Let a joint controller learn from what all agents see."""
    for j in range(world.agents):
        world.seen[j] = sight.see(world, j, reward)
    player(squads[0], 0).learn(world, t, played, sight.fuse(world))


_choose_first, _learn_first = inlined(choose_first), inlined(learn_first)


def choose_all(squads: Squads, sizes: Sizes, world: TeamWorld, t: int) -> int:
    """Store the arms of all agents for round t in the world; return the cell that they play together."""
    if is_joint(squads[0]):
        return choose_jointly(squads, sizes, world, t)
    return sum(choose_first(squads[k:], sizes[k:], world, t) for k in range(len(squads)))


def learn_all(squads: Squads, sizes: Sizes, world: TeamWorld, t: int, played: int, sight: Sight, reward: float) -> None:
    """Let all agents observe the reward of round t and learn from it."""
    if is_joint(squads[0]):
        learn_jointly(squads, sizes, world, t, played, sight, reward)
        return
    for k in range(len(squads)):
        learn_first(squads[k:], sizes[k:], world, t, played, sight, reward)


def begin_one(squads: Squads, sizes: Sizes, number: int, world: TeamWorld) -> None:
    """Let one player get ready for a run, by its number over all squads."""
    for squad, size in zip(squads, sizes, strict=True):
        if number < size:
            if hasattr(squad, "begin"):
                player(squad, number).begin(world)
            return
        number -= size
    raise IndexError(number)


def choose_one(squads: Squads, sizes: Sizes, number: int, world: TeamWorld, t: int) -> int:
    """Return the arm of one player by its number over all squads."""
    for squad, size in zip(squads, sizes, strict=True):
        if number < size:
            return player(squad, number).choose(world, t)
        number -= size
    raise IndexError(number)


def learn_one(squads: Squads, sizes: Sizes, number: int, world: TeamWorld, t: int, played: int, seen: float) -> None:
    """Let one player learn, by its number over all squads."""
    for squad, size in zip(squads, sizes, strict=True):
        if number < size:
            player(squad, number).learn(world, t, played, seen)
            return
        number -= size
    raise IndexError(number)


@overload(squads_of, jit_options=_INLINED, strict=False)
def _squads_of(tags: types.Type, sizes: types.Type, memory: types.Type, row: types.Type) -> Code:
    if len(tags) == 1:
        return lambda tags, sizes, memory, row: (squad_at(tags[0], memory, row),)

    def more(tags: tuple[Tag, ...], sizes: Sizes, memory: NDArray[np.int64], row: int) -> Squads:
        return (squad_at(tags[0], memory, row), *squads_of(tags[1:], sizes[1:], memory, row + sizes[0]))

    return more


@overload(begin_all, jit_options=_INLINED, strict=False)
def _begin_all(squads: types.Type, sizes: types.Type, world: types.Type) -> Code:
    if not any(hasattr(squad.instance_class, "begin") for squad in squads):
        return lambda squads, sizes, world: None
    if not hasattr(squads[0].instance_class, "begin"):
        return lambda squads, sizes, world: begin_all(squads[1:], sizes[1:], world)

    def code(squads: Squads, sizes: Sizes, world: TeamWorld) -> None:
        for k in range(sizes[0]):
            player(squads[0], k).begin(world)
        begin_all(squads[1:], sizes[1:], world)

    return code


@overload(choose_all, jit_options=_INLINED, strict=False)
def _choose_all(squads: types.Type, sizes: types.Type, world: types.Type, t: types.Type) -> Code:
    def more(squads: Squads, sizes: Sizes, world: TeamWorld, t: int) -> int:
        return _choose_first(squads, sizes, world, t) + choose_all(squads[1:], sizes[1:], world, t)

    if is_joint(squads[0].instance_class):
        return choose_jointly
    return choose_first if len(squads) == 1 else more


@overload(learn_all, jit_options=_INLINED, strict=False)
def _learn_all(
    squads: types.Type,
    sizes: types.Type,
    world: types.Type,
    t: types.Type,
    played: types.Type,
    sight: types.Type,
    reward: types.Type,
) -> Code:
    def more(squads: Squads, sizes: Sizes, world: TeamWorld, t: int, played: int, sight: Sight, reward: float) -> None:
        _learn_first(squads, sizes, world, t, played, sight, reward)
        learn_all(squads[1:], sizes[1:], world, t, played, sight, reward)

    if is_joint(squads[0].instance_class):
        return learn_jointly
    return learn_first if len(squads) == 1 else more


@overload(begin_one, jit_options=_INLINED, strict=False)
def _begin_one(squads: types.Type, sizes: types.Type, number: types.Type, world: types.Type) -> Code:
    if not any(hasattr(squad.instance_class, "begin") for squad in squads):
        return lambda squads, sizes, number, world: None
    if not hasattr(squads[0].instance_class, "begin"):
        return lambda squads, sizes, number, world: begin_one(squads[1:], sizes[1:], number - sizes[0], world)

    def code(squads: Squads, sizes: Sizes, number: int, world: TeamWorld) -> None:
        if 0 <= number < sizes[0]:
            player(squads[0], number).begin(world)
        begin_one(squads[1:], sizes[1:], number - sizes[0], world)

    return code


@overload(choose_one, jit_options=_INLINED, strict=False)
def _choose_one(squads: types.Type, sizes: types.Type, number: types.Type, world: types.Type, t: types.Type) -> Code:
    def last(squads: Squads, sizes: Sizes, number: int, world: TeamWorld, t: int) -> int:
        return player(squads[0], number).choose(world, t)

    def more(squads: Squads, sizes: Sizes, number: int, world: TeamWorld, t: int) -> int:
        if number < sizes[0]:
            return player(squads[0], number).choose(world, t)
        return choose_one(squads[1:], sizes[1:], number - sizes[0], world, t)

    return last if len(squads) == 1 else more


@overload(learn_one, jit_options=_INLINED, strict=False)
def _learn_one(
    squads: types.Type,
    sizes: types.Type,
    number: types.Type,
    world: types.Type,
    t: types.Type,
    played: types.Type,
    seen: types.Type,
) -> Code:
    def last(squads: Squads, sizes: Sizes, number: int, world: TeamWorld, t: int, played: int, seen: float) -> None:
        player(squads[0], number).learn(world, t, played, seen)

    def more(squads: Squads, sizes: Sizes, number: int, world: TeamWorld, t: int, played: int, seen: float) -> None:
        if number < sizes[0]:
            player(squads[0], number).learn(world, t, played, seen)
        else:
            learn_one(squads[1:], sizes[1:], number - sizes[0], world, t, played, seen)

    return last if len(squads) == 1 else more
