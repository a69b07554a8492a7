"""Which code a kind's methods are: the class's own, found by type while compiling.

The loops walk over a tuple of squads. Each function below exists twice: as plain Python, for play without the compiler,
and as the code that takes its place in compiled loops, which is made anew for each set of kinds, so that nothing
but the kinds present is ever compiled.
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from numba import extending, njit, types

from cobandit.base.errors import AgentError
from cobandit.engine.fast.pipeline import PART_OPTIONS
from cobandit.engine.fast.random import inlined
from cobandit.engine.fast.rows import RowType, player, squad_at
from cobandit.engine.fast.world import LateWorld, own_arm

overload: Any = extending.overload
overload_method: Any = extending.overload_method

_INLINED = PART_OPTIONS | {"forceinline": True}


def is_joint(kind: Any) -> bool:
    """Whether a kind is a joint controller, which chooses a cell for the whole team."""
    return bool(getattr(kind, "joint", False))


def call_own_method(name: str, arguments: str, options: dict[str, Any]) -> None:
    """Let compiled code call a method of kinds by its name: each class's own is compiled."""

    def own_method(self: Any, *_: Any) -> Any:
        method = getattr(self.instance_class, name, None)
        is_ours = self.instance_class.__module__.startswith("cobandit.")
        return method if is_ours or name != "choose" else _bounded(self.instance_class)

    parameters = [Parameter(word, Parameter.POSITIONAL_OR_KEYWORD) for word in f"self {arguments}".split()]
    own_method.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    for kind in (RowType, types.NamedTuple):
        overload_method(kind, name, jit_options=options, strict=False)(own_method)


def _bounded(kind: Any) -> Any:
    """The ``choose`` of a kind that somebody else wrote, with a look at what it chose: pointers know no bounds."""
    choose = njit(**_INLINED)(kind.choose)
    if is_joint(kind):
        no_cell = f"The compiled form {kind.__name__} chose a team action that does not exist."

        def choose_cell(self: Any, world: Any, t: int) -> Any:
            cell = choose(self, world, t)
            if cell < 0 or cell >= world.cells:
                raise AgentError(no_cell)
            return cell

        return choose_cell
    no_arm = f"The compiled form {kind.__name__} chose an arm that does not exist."

    def choose_arm(self: Any, world: Any, t: int) -> Any:
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


def keep_in(self: Any, world: Any, t: int, played: int, reward: float) -> None:
    """Let a record keep round t."""
    self.keep(world, t, played, reward)


@overload(keep_in, jit_options=_INLINED, strict=False)
def _keep_in(self: Any, world: Any, t: Any, played: Any, reward: Any) -> Any:
    # A call hands over every field of record and world: too much for one that has something to do in every round.
    if getattr(self.instance_class, "busy", False):
        return self.instance_class.keep
    return lambda self, world, t, played, reward: self.keep(world, t, played, reward)


def known_rounds(world: Any, t: int) -> int:
    """How many rounds the players have been told of before round t."""
    return max(t - 1 - int(world.late[0]), 0)


@overload(known_rounds, jit_options=_INLINED, strict=False)
def _known_rounds(world: Any, t: Any) -> Any:
    def late(world: Any, t: int) -> Any:
        return t - 1 - world.late[0] if t - 1 > world.late[0] else 0

    return late if issubclass(world.instance_class, LateWorld) else lambda world, t: t - 1


def squads_of(tags: Any, sizes: Any, memory: Any, row: int) -> Any:
    """The squads of a tuple of tags, whose rows start at ``row``."""
    return tuple(squad_at(tag, memory, row + sum(sizes[:k])) for k, tag in enumerate(tags))


def begin_all(squads: Any, sizes: Any, world: Any) -> None:
    """Let every player that wants to get ready for a run."""
    for squad, size in zip(squads, sizes, strict=True):
        if hasattr(squad, "begin"):
            for k in range(size):
                player(squad, k).begin(world)


@inlined
def choose_squad(squad: Any, size: int, world: Any, t: int) -> Any:
    """Put the arms of the players of one kind into the world; return their share of the cell."""
    # The cell is added up here, not from ``world.arm``: every round waits for it, and memory is slow to give back.
    cell = 0
    for k in range(size):
        me = player(squad, k)
        arm = me.choose(world, t)
        world.arm[me.seat] = arm
        cell += arm * world.strides[me.seat]
    return cell


@inlined
def choose_jointly(squad: Any, world: Any, t: int) -> Any:
    """Put the arms that a joint controller chooses into the world; return the cell."""
    cell = player(squad, 0).choose(world, t)
    for j in range(world.agents):
        world.arm[j] = own_arm(world, j, cell)
    return cell


@inlined
def learn_squad(squad: Any, size: int, world: Any, t: int, played: int, sight: Any, reward: float) -> None:
    """Let the players of one kind see what they can of a reward, and learn from it."""
    for k in range(size):
        me = player(squad, k)
        seen = sight.see(world, me.seat, reward)
        world.seen[me.seat] = seen
        me.learn(world, t, played, seen)


@inlined
def learn_jointly(squad: Any, world: Any, t: int, played: int, sight: Any, reward: float) -> None:
    """Let a joint controller learn from what all agents see."""
    for j in range(world.agents):
        world.seen[j] = sight.see(world, j, reward)
    player(squad, 0).learn(world, t, played, sight.fuse(world))


def choose_all(squads: Any, sizes: Any, world: Any, t: int) -> int:
    """Put everybody's arm of round t into the world; the cell that they play together."""
    if is_joint(squads[0]):
        return int(choose_jointly(squads[0], world, t))
    return sum(choose_squad(squad, size, world, t) for squad, size in zip(squads, sizes, strict=True))


def learn_all(squads: Any, sizes: Any, world: Any, t: int, played: int, sight: Any, reward: float) -> None:
    """Let everybody see what it can of the reward of round t, and learn from it."""
    if is_joint(squads[0]):
        learn_jointly(squads[0], world, t, played, sight, reward)
        return
    for squad, size in zip(squads, sizes, strict=True):
        learn_squad(squad, size, world, t, played, sight, reward)


def begin_one(squads: Any, sizes: Any, number: int, world: Any) -> None:
    """Let one player get ready for a run, by its number over all squads."""
    for squad, size in zip(squads, sizes, strict=True):
        if number < size:
            if hasattr(squad, "begin"):
                player(squad, number).begin(world)
            return
        number -= size
    raise IndexError(number)


def choose_one(squads: Any, sizes: Any, number: int, world: Any, t: int) -> Any:
    """The arm of one player by its number over all squads."""
    for squad, size in zip(squads, sizes, strict=True):
        if number < size:
            return player(squad, number).choose(world, t)
        number -= size
    raise IndexError(number)


def learn_one(squads: Any, sizes: Any, number: int, world: Any, t: int, played: int, seen: float) -> None:
    """Let one player learn, by its number over all squads."""
    for squad, size in zip(squads, sizes, strict=True):
        if number < size:
            player(squad, number).learn(world, t, played, seen)
            return
        number -= size
    raise IndexError(number)


@overload(squads_of, jit_options=_INLINED, strict=False)
def _squads_of(tags: Any, sizes: Any, memory: Any, row: Any) -> Any:
    if len(tags) == 1:
        return lambda tags, sizes, memory, row: (squad_at(tags[0], memory, row),)

    def more(tags: Any, sizes: Any, memory: Any, row: int) -> Any:
        return (squad_at(tags[0], memory, row), *squads_of(tags[1:], sizes[1:], memory, row + sizes[0]))

    return more


@overload(begin_all, jit_options=_INLINED, strict=False)
def _begin_all(squads: Any, sizes: Any, world: Any) -> Any:
    if not any(hasattr(squad.instance_class, "begin") for squad in squads):
        return lambda squads, sizes, world: None
    if not hasattr(squads[0].instance_class, "begin"):
        return lambda squads, sizes, world: begin_all(squads[1:], sizes[1:], world)

    def code(squads: Any, sizes: Any, world: Any) -> None:
        for k in range(sizes[0]):
            player(squads[0], k).begin(world)
        begin_all(squads[1:], sizes[1:], world)

    return code


@overload(choose_all, jit_options=_INLINED, strict=False)
def _choose_all(squads: Any, sizes: Any, world: Any, t: Any) -> Any:
    if is_joint(squads[0].instance_class):
        return lambda squads, sizes, world, t: choose_jointly(squads[0], world, t)
    if len(squads) == 1:
        return lambda squads, sizes, world, t: choose_squad(squads[0], sizes[0], world, t)

    def more(squads: Any, sizes: Any, world: Any, t: int) -> Any:
        return choose_squad(squads[0], sizes[0], world, t) + choose_all(squads[1:], sizes[1:], world, t)

    return more


@overload(learn_all, jit_options=_INLINED, strict=False)
def _learn_all(squads: Any, sizes: Any, world: Any, t: Any, played: Any, sight: Any, reward: Any) -> Any:
    def joint(squads: Any, sizes: Any, world: Any, t: int, played: int, sight: Any, reward: float) -> None:
        learn_jointly(squads[0], world, t, played, sight, reward)

    def last(squads: Any, sizes: Any, world: Any, t: int, played: int, sight: Any, reward: float) -> None:
        learn_squad(squads[0], sizes[0], world, t, played, sight, reward)

    def more(squads: Any, sizes: Any, world: Any, t: int, played: int, sight: Any, reward: float) -> None:
        learn_squad(squads[0], sizes[0], world, t, played, sight, reward)
        learn_all(squads[1:], sizes[1:], world, t, played, sight, reward)

    if is_joint(squads[0].instance_class):
        return joint
    return last if len(squads) == 1 else more


@overload(begin_one, jit_options=_INLINED, strict=False)
def _begin_one(squads: Any, sizes: Any, number: Any, world: Any) -> Any:
    if not any(hasattr(squad.instance_class, "begin") for squad in squads):
        return lambda squads, sizes, number, world: None
    if not hasattr(squads[0].instance_class, "begin"):
        return lambda squads, sizes, number, world: begin_one(squads[1:], sizes[1:], number - sizes[0], world)

    def code(squads: Any, sizes: Any, number: int, world: Any) -> None:
        if 0 <= number < sizes[0]:
            player(squads[0], number).begin(world)
        begin_one(squads[1:], sizes[1:], number - sizes[0], world)

    return code


@overload(choose_one, jit_options=_INLINED, strict=False)
def _choose_one(squads: Any, sizes: Any, number: Any, world: Any, t: Any) -> Any:
    def last(squads: Any, sizes: Any, number: int, world: Any, t: int) -> Any:
        return player(squads[0], number).choose(world, t)

    def more(squads: Any, sizes: Any, number: int, world: Any, t: int) -> Any:
        if number < sizes[0]:
            return player(squads[0], number).choose(world, t)
        return choose_one(squads[1:], sizes[1:], number - sizes[0], world, t)

    return last if len(squads) == 1 else more


@overload(learn_one, jit_options=_INLINED, strict=False)
def _learn_one(squads: Any, sizes: Any, number: Any, world: Any, t: Any, played: Any, seen: Any) -> Any:
    def last(squads: Any, sizes: Any, number: int, world: Any, t: int, played: int, seen: float) -> None:
        player(squads[0], number).learn(world, t, played, seen)

    def more(squads: Any, sizes: Any, number: int, world: Any, t: int, played: int, seen: float) -> None:
        if number < sizes[0]:
            player(squads[0], number).learn(world, t, played, seen)
        else:
            learn_one(squads[1:], sizes[1:], number - sizes[0], world, t, played, seen)

    return last if len(squads) == 1 else more
