"""What stands before and after `reset`, `choose` and `observe` of every agent, the user's own included.

The number of the round moves on here, and what comes in is checked here, so an agent plays alike in an engine and in
anybody's own loop, whether or not its methods call ``super()``. `put_on` wraps the methods when a class is made, and
those that were assigned to it since with every reset. Only the outermost call of an object counts: what a method passes
on to ``super()`` goes straight through.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from cobandit.base.checks import is_list, short_repr
from cobandit.base.errors import AgentError, InvalidInput

# Which objects are at it, by id: a mark on the object itself would travel into clones that it makes meanwhile.
_observing: set[int] = set()
_resetting: set[int] = set()

Method = Callable[..., Any]


def put_on(cls: type) -> None:
    """Wrap the methods that a new class brings along, also those of a mixin that knows nothing of agents."""
    for name, guard in _GUARDS.items():
        method = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        if method is None or getattr(method, "__isabstractmethod__", False) or _is_guard(method):
            continue
        setattr(cls, name, guard(method if inspect.isfunction(method) else _bound_late(method)))


def put_on_late(cls: type, root: type) -> None:
    """Wrap the methods that were assigned to a class, or to one above it and below ``root``, since it was made."""
    if all(_is_guard(getattr(cls, name)) for name in _GUARDS):
        return
    for base in reversed(cls.__mro__):
        if issubclass(base, root) and base is not root:
            put_on(base)


def refuse_own_observe(player: object) -> None:
    """An ``observe`` that was assigned to an object has no guard, so that its rounds would not be counted."""
    if "observe" in vars(player):
        raise AgentError(
            f"{player} has an observe of its own, assigned to the object, which would not count its rounds; "
            "write a subclass with that observe."
        )


def is_resetting(player: object) -> bool:
    """Whether the player is inside its own reset."""
    return id(player) in _resetting


def checked_action(team_action: Any, arms: tuple[int, ...]) -> tuple[int, ...]:
    """A team action as a tuple of whole numbers, one legal arm for each agent."""
    if type(team_action) is tuple and len(team_action) == len(arms):
        agent = 0  # counted by hand: every round comes this way, and zip or enumerate would cost more than the rest
        for arm in team_action:
            if type(arm) is not int or not 0 <= arm < arms[agent]:
                break
            agent += 1  # noqa: SIM113
        else:
            return team_action
    return _cleaned_action(team_action, arms)


def _cleaned_action(team_action: Any, arms: tuple[int, ...]) -> tuple[int, ...]:
    if not is_list(team_action) or len(given := list(team_action)) != len(arms):
        raise InvalidInput(
            f"team_action is {short_repr(team_action)}; a tuple of {len(arms)} arms, one for each agent, is needed."
        )
    for agent, (arm, size) in enumerate(zip(given, arms, strict=True)):
        if not is_arm(arm, size):
            raise InvalidInput(
                f"team_action is {short_repr(team_action)}; "
                f"the arms of agent {agent} are the whole numbers from 0 to {size - 1}."
            )
    return tuple(int(arm) for arm in given)


def is_arm(arm: Any, size: int) -> bool:
    """Whether this is one of ``size`` arms."""
    return isinstance(arm, numbers.Integral) and not isinstance(arm, bool) and 0 <= int(arm) < size


def checked_reward(name: str, reward: Any, binary: bool) -> float | None:
    """One seen reward as a finite float, or None; where rewards are 0 and 1, nothing beyond them."""
    if reward is None or (type(reward) is float and 0.0 <= reward <= 1.0):
        return reward
    number = np.nan
    if isinstance(reward, (numbers.Real, np.bool_)):
        with contextlib.suppress(OverflowError):
            number = float(reward)
    if not np.isfinite(number):
        raise InvalidInput(
            f"{name} is {short_repr(reward)}; "
            "a finite number is needed, or None where nothing was seen and that is known."
        )
    if binary and not 0.0 <= number <= 1.0:
        raise InvalidInput(
            f"{name} is {short_repr(reward)}; the briefing says that rewards are 0 or 1. "
            "Where they are not, brief the agent with binary=False."
        )
    return number


def _guard_choose(method: Method) -> Method:
    @functools.wraps(method)
    def choose(self: Any, *args: Any, **keywords: Any) -> Any:
        if not self._current_round:
            raise _not_ready(self, "choose")
        return method(self, *args, **keywords) if args or keywords else method(self)

    return choose


def _guard_observe(method: Method) -> Method:
    @functools.wraps(method)
    def observe(self: Any, *args: Any, **keywords: Any) -> Any:
        if len(args) == 2 and not keywords:
            return _observe(method, self, args[0], args[1])
        return _observe(*_in_order(method, self, args, keywords))

    return observe


def _guard_reset(method: Method) -> Method:
    @functools.wraps(method)
    def reset(self: Any, *args: Any, **keywords: Any) -> Any:
        if len(args) == 2 and not keywords:
            return _reset(method, self, args[0], args[1])
        return _reset(*_in_order(method, self, args, keywords))

    return reset


_GUARDS: dict[str, Callable[[Method], Method]] = {
    "reset": _guard_reset,
    "choose": _guard_choose,
    "observe": _guard_observe,
}


# What follows are functions of the module, not of the guards: a class may travel to another process by value and its
# guards with it, and they must find the two sets of that process.


def _observe(method: Method, player: Any, team_action: Any, seen: Any) -> Any:
    me = id(player)
    if me in _observing:
        return method(player, team_action, seen)
    if not player._current_round:
        raise _not_ready(player, "observe")
    team_action = checked_action(team_action, player.briefing.arms)
    seen = player._checked_seen(seen)
    _observing.add(me)
    try:
        answer = method(player, team_action, seen)
    finally:
        _observing.discard(me)
    player._current_round += 1
    return answer


def _reset(method: Method, player: Any, briefing: Any, rng: Any) -> Any:
    me = id(player)
    if me in _resetting:
        return method(player, briefing, rng)
    player._start(briefing, rng)
    _resetting.add(me)
    try:
        return method(player, briefing, rng)
    except BaseException:
        player._current_round = 0
        raise
    finally:
        _resetting.discard(me)


def _in_order(
    method: Method, player: Any, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[Method, Any, Any, Any]:
    """A call by position, however it was written: the method, the player and the two arguments that count."""
    call = inspect.signature(method).bind(player, *args, **keywords)  # a TypeError, as Python itself would raise it
    if len(call.args) < 3:
        raise TypeError(f"{method.__qualname__}() must take its first two arguments by position, too")
    rest = call.args[3:]
    if rest or call.kwargs:
        return lambda *first: method(*first, *rest, **call.kwargs), *call.args[:3]
    return method, *call.args[:3]


def _not_ready(player: Any, what: str) -> AgentError:
    return AgentError(
        f"{player} was asked to {what} before its first reset; call reset(briefing, rng) once before the first round."
    )


def _is_guard(method: Any) -> bool:
    # Told by its code: functools.wraps would carry a mark over to a decorator of the user's.
    return getattr(method, "__code__", None) in _GUARD_CODES


def _bound_late(attribute: Any) -> Method:
    """A method that is not a plain function (a partialmethod, a staticmethod), as one."""

    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        bound = attribute.__get__(self, type(self)) if hasattr(attribute, "__get__") else attribute
        return bound(*args, **keywords)

    return functools.update_wrapper(call, attribute) if callable(attribute) else call


_GUARD_CODES = tuple(guard(lambda self: None).__code__ for guard in _GUARDS.values())
