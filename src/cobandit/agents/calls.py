"""The checks around `reset`, `choose` and `observe`, so that an agent plays the same in any loop.

`agents.base.Player` applies these three decorators to its subclasses. They refuse bad values and calls before `reset`,
and they count the rounds, whether or not the methods call ``super()``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from cobandit.agents.checks import checked_action, masked_action
from cobandit.base.errors import AgentError

Method = Callable[..., Any]


def check_calls(cls: type, root: type) -> None:
    """Apply the checks to the methods of a subclass of ``root``, also to those of a mixin or assigned since."""
    for name, check in (("reset", _check_reset), ("choose", _check_choose), ("observe", _check_observe)):
        owner = next((base for base in cls.__mro__ if name in vars(base)), root)
        method: Any = vars(owner).get(name)
        # The mark is the function itself: a user's decorator may copy the attribute to another function.
        if owner is root or getattr(method, "__isabstractmethod__", False) or getattr(method, "checked", 0) is method:
            continue
        checked = functools.update_wrapper(check(_as_function(method)), method)
        vars(checked)["checked"] = checked
        setattr(owner if issubclass(owner, root) else cls, name, checked)


def _check_reset(method: Method) -> Method:
    def reset(self: Any, *args: Any, **keywords: Any) -> Any:
        if type(self).reset is not reset:  # called by super(): the reset of the subclass starts the run
            return method(self, *args, **keywords)
        if keywords or len(args) < 2:
            args, keywords = _by_position(method, self, args, keywords)
        self._start(args[0], args[1])
        try:
            return method(self, *args, **keywords)
        except BaseException:
            self._current_round = 0
            raise

    return reset


def _check_choose(method: Method) -> Method:
    def choose(self: Any, *args: Any, **keywords: Any) -> Any:
        if not self._current_round:
            raise _not_ready(self, "choose")
        return method(self, *args, **keywords) if args or keywords else method(self)

    return choose


def _check_observe(method: Method) -> Method:
    def observe(self: Any, *args: Any, **keywords: Any) -> Any:
        if type(self).observe is not observe:  # called by super(): the observe of the subclass checks
            return method(self, *args, **keywords)
        if not self._current_round:
            raise _not_ready(self, "observe")
        if keywords or len(args) < 2:
            args, keywords = _by_position(method, self, args, keywords)
        briefing = self.briefing
        if briefing.actions == "hidden":
            action = masked_action(args[0], briefing.arms, briefing.agent)
        else:
            action = checked_action(args[0], briefing.arms)
        seen = self._checked_seen(args[1])
        if keywords or len(args) > 2:
            answer = method(self, action, seen, *args[2:], **keywords)
        else:
            answer = method(self, action, seen)  # without unpacking, which would cost .2 microseconds in every round
        self._current_round += 1
        return answer

    return observe


def _as_function(attribute: Any) -> Method:
    """Return a method that is not a function, such as a partialmethod or a callable object, as one."""
    if inspect.isfunction(attribute):
        return attribute
    bind = getattr(attribute, "__get__", lambda player: attribute)
    return lambda player, *args, **keywords: bind(player)(*args, **keywords)


def _by_position(method: Method, player: object, args: Any, keywords: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call by position, whatever a subclass calls them."""
    call = inspect.signature(method).bind(player, *args, **keywords)  # a TypeError, as Python itself would raise it
    return call.args[1:], call.kwargs


def _not_ready(player: object, what: str) -> AgentError:
    return AgentError(
        f"{player} was asked to {what} before its first reset; call reset(briefing, rng) once before the first round."
    )
