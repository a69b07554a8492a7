"""Every error that the package raises on purpose.

::

    CobanditError
    ├── InvalidInput (also ValueError)   an argument is wrong; the message names requirement and value
    │   ├── UnknownName                  unknown name; the message suggests the nearest known one
    │   └── TooLarge                     the requested sizes do not fit into this machine
    ├── MissingExtra (also ImportError)  optional parts are not installed; the message has the command
    ├── RunsNotKept                      single runs of a result that stores only a summary
    ├── AgentError                       an agent broke the contract while playing
    ├── ModelError                       a model of means, reward or observation returned an invalid value
    └── PluginError                      a plugin cannot be used; the message names its package

The command line prints these without a traceback and exits with 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


def short_repr(value: object) -> str:
    """Return the value as an error message shows it: short, on one line."""
    try:
        text = " ".join(repr(value).split())
    except ValueError:  # an integer of thousands of digits
        text = f"a {type(value).__name__} too long to show"
    return text if len(text) <= 60 else text[:57] + "..."


class CobanditError(Exception):
    """The root: catching it catches everything the package raises on purpose."""


class InvalidInput(CobanditError, ValueError):
    """An argument is wrong; the message names the requirement and the value."""


class UnknownName(InvalidInput):
    """A name that is not among the known ones; the nearest right one is offered."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        choices = list(known)
        near = difflib.get_close_matches(str(name).lower().replace("_", "-")[:100], choices, n=1, cutoff=0.6)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"There is no {what} {short_repr(name)}.{hint} Known: {', '.join(choices)}.")

    def __reduce__(self) -> tuple[Any, ...]:
        # Rebuilt from the sentence alone: the value itself may be something that cannot travel.
        return _rebuilt, (UnknownName, str(self))


class TooLarge(InvalidInput):
    """The sizes asked for cannot fit into this machine."""


class MissingExtra(CobanditError, ImportError):
    """Optional parts of the package are not installed; the message has the one command that installs them all."""

    def __init__(self, extras: str | Iterable[str], purpose: str) -> None:
        missing = [extras] if isinstance(extras, str) else list(extras)
        *first, last = map(repr, missing)
        named = f"extras {', '.join(first)} and {last}" if first else f"extra {last}"
        super().__init__(f"{purpose} needs the {named}: pip install 'cobandit[{','.join(missing)}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (MissingExtra, str(self))


def _rebuilt(kind: type[CobanditError], message: str) -> CobanditError:
    """Return an error as it was before it travelled to another process."""
    error = kind.__new__(kind)
    error.args = (message,)
    return error


class RunsNotKept(CobanditError):
    """Single runs were asked for where there were too many to keep them all; the message says how to get them."""


class AgentError(CobanditError):
    """An agent broke the contract while playing, for instance by choosing an arm it does not have."""


class ModelError(CobanditError):
    """A model of means, reward or observation gave what it must not give, for instance a reward that is no number."""


class PluginError(CobanditError):
    """An agent, a problem or a design that another package brings cannot be used; the message names the package."""
