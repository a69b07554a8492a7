"""Every error the package raises on purpose.

::

    CobanditError
    ├── InvalidInput (also ValueError)   an argument is wrong: what came, what was needed
    │   ├── UnknownName                  no such name; the nearest right one is offered
    │   └── TooLarge                     the sizes asked for cannot fit into this machine
    ├── MissingExtra (also ImportError)  an optional part is not installed; the command to get it
    └── AgentError                       an agent broke the contract while playing

The command line prints these without a traceback and exits with 2.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CobanditError(Exception):
    """The root: catching it catches everything the package raises on purpose."""


class InvalidInput(CobanditError, ValueError):
    """An argument is wrong; the message says what came and what was needed."""


class UnknownName(InvalidInput):
    """A name that is not among the known ones; the nearest right one is offered."""

    def __init__(self, what: str, name: object, known: Iterable[str]) -> None:
        choices = list(known)
        self._parts = (what, name, choices)
        near = difflib.get_close_matches(str(name).lower().replace("_", "-"), choices, n=1, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        super().__init__(f"There is no {what} {name!r}.{hint} Known: {', '.join(choices)}.")

    def __reduce__(self) -> tuple[type[UnknownName], tuple[str, object, list[str]]]:
        return UnknownName, self._parts


class TooLarge(InvalidInput):
    """The sizes asked for cannot fit into this machine."""


class MissingExtra(CobanditError, ImportError):
    """An optional part of the package is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self._parts = (extra, purpose)
        super().__init__(f"{purpose} needs the extra {extra!r}: pip install 'cobandit[{extra}]'")

    def __reduce__(self) -> tuple[type[MissingExtra], tuple[str, str]]:
        return MissingExtra, self._parts


class AgentError(CobanditError):
    """An agent broke the contract while playing, for instance by choosing an arm it does not have."""
