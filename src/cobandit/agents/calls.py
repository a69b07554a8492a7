"""The checks around `reset`, `choose` and `observe`, so that an agent plays the same in any loop.

`agents.base.Player` applies these decorators to its subclasses. They refuse bad values and calls before `reset`, and
they count the rounds, whether or not the methods call ``super()``. Only the method of the object's own class checks and
counts: one that ``super()`` reaches runs as it was written.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from cobandit.agents.checks import checked_action
from cobandit.base.errors import AgentError

Method = Callable[..., Any]


def check_calls(cls: type, root: type) -> None:
    """Apply the checks to the methods of a subclass of ``root``, also to those of a mixin or assigned since."""
    if all(_is_checked(getattr(cls, name, None)) for name in _CHECKS):
        return
    for name, check in _CHECKS.items():
        owner = next((base for base in cls.__mro__ if name in vars(base)), root)
        method = vars(owner).get(name)
        if owner is not root and not getattr(method, "__isabstractmethod__", False) and not _is_checked(method):
            setattr(owner if issubclass(owner, root) else cls, name, _marked(check(_as_function(method))))


def _check_reset(method: Method) -> Method:
    @functools.wraps(method)
    def reset(self: Any, *args: Any, **keywords: Any) -> Any:
        if type(self).reset is not reset:
            return method(self, *args, **keywords)
        args, keywords = _by_position(method, self, args, keywords)
        self._start(*args[:2])
        try:
            return method(self, *args, **keywords)
        except BaseException:
            self._current_round = 0
            raise

    return reset


def _check_choose(method: Method) -> Method:
    @functools.wraps(method)
    def choose(self: Any, *args: Any, **keywords: Any) -> Any:
        if not self._current_round:
            raise _not_ready(self, "choose")
        return method(self, *args, **keywords) if args or keywords else method(self)

    return choose


def _check_observe(method: Method) -> Method:
    @functools.wraps(method)
    def observe(self: Any, *args: Any, **keywords: Any) -> Any:
        if type(self).observe is not observe:
            return method(self, *args, **keywords)
        if not self._current_round:
            raise _not_ready(self, "observe")
        if keywords or len(args) != 2:
            (team_action, seen, *rest), keywords = _by_position(method, self, args, keywords)
            action = checked_action(team_action, self.briefing.arms)
            answer = method(self, action, self._checked_seen(seen), *rest, **keywords)
        else:
            answer = method(self, checked_action(args[0], self.briefing.arms), self._checked_seen(args[1]))
        self._current_round += 1
        return answer

    return observe


_CHECKS: dict[str, Callable[[Method], Method]] = {
    "reset": _check_reset,
    "choose": _check_choose,
    "observe": _check_observe,
}


def _marked(method: Method) -> Method:
    vars(method)["checked"] = method  # itself, as a user's decorator may copy the attribute to another function
    return method


def _is_checked(method: object) -> bool:
    return getattr(method, "checked", None) is method


def _as_function(attribute: Any) -> Method:
    """Return a method that is not a function, such as a static method or a partialmethod, as one."""
    if inspect.isfunction(attribute):
        return attribute

    def method(self: Any, *args: Any, **keywords: Any) -> Any:
        bound = attribute.__get__(self, type(self)) if hasattr(attribute, "__get__") else attribute
        return bound(*args, **keywords)

    return method


def _by_position(
    method: Method, player: object, args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call, the first two of them by position."""
    if len(args) >= 2:
        return args, keywords
    call = inspect.signature(method).bind(player, *args, **keywords)  # a TypeError, as Python itself would raise it
    if len(call.args) < 3:
        raise TypeError(f"{method.__qualname__}() must take its first two arguments by position, too")
    return call.args[1:], call.kwargs


def _not_ready(player: object, what: str) -> AgentError:
    return AgentError(
        f"{player} was asked to {what} before its first reset; call reset(briefing, rng) once before the first round."
    )
