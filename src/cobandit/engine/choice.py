"""Which engine plays: the compiled one where that is possible and worth its compilation, else the reference engine."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from typing import Generic, Literal, NamedTuple, TypeVar

from cobandit.base.checks import one_of
from cobandit.base.errors import CobanditError, InvalidInput
from cobandit.base.extras import installed, require_extras

Engine = Literal["auto", "fast", "reference"]
ENGINES = ("auto", "fast", "reference")

NO_NUMBA = "numba is not installed"
"""Why the reference engine plays in an install without the extra ``fast``."""

SMALL_JOB = 10_000
"""Up to this many agent-rounds the reference engine finishes before the fast one would be loaded from disk."""

ROUND_SECONDS = 2e-5
"""About what an agent-round takes on the reference engine, and as much again for every `CELLS` team actions."""
CELLS = 100

READY_SECONDS = {"memory": 0.0, "disk": 0.3, "none": 4.0}
"""About how long it takes until the compiled loop is ready: by where its code is."""

_spent: dict[object, float] = {}
"""Seconds that the reference engine has played in this process in place of each loop that is not compiled yet."""

Game = TypeVar("Game")


class NotCompiled(CobanditError):
    """Why the fast engine cannot play something; the reference engine can."""


class Choice(NamedTuple, Generic[Game]):
    """The engine that will play, ``fast`` or ``reference``, the reason, and what the fast engine prepared, or None."""

    engine: str
    reason: str
    game: Game | None = None


def engine_for(
    engine: str,
    prepare: Callable[[], Game],
    agent_rounds: int,
    cells: int = 1,
    readiness: Callable[[Game], tuple[str, object]] | None = None,
) -> Choice[Game]:
    """Return the engine that will play, why, and the game that ``prepare()`` made where the fast engine plays.

    ``prepare()`` raises `NotCompiled` where something has no compiled form. ``agent_rounds`` and ``cells``, the number
    of team actions, estimate the cost of the reference engine. ``readiness(game)`` returns where the code of the
    compiled loop is (a key of `READY_SECONDS`), and a name of that loop.
    """
    asked = one_of(ENGINES)("engine", engine)
    if asked == "reference":
        return Choice("reference", "asked for")
    if asked == "auto":
        if not installed("fast"):
            return Choice("reference", NO_NUMBA)
        if agent_rounds <= SMALL_JOB and "cobandit.engine.fast" not in sys.modules:
            return Choice("reference", "a small job is done before the fast engine has been loaded")
    require_extras("The fast engine", fast=True)
    fault = fast_fault()
    if fault is not None:
        if asked == "fast":
            raise InvalidInput(
                f"engine must be 'auto' or 'reference' here, got 'fast': {fault}. "
                "Install it again: pip install --force-reinstall 'cobandit[fast]'"
            )
        return Choice("reference", fault)
    try:
        game = prepare()
    except NotCompiled as obstacle:
        if asked == "fast":
            raise InvalidInput(
                f"The fast engine cannot play this: {obstacle}. Use engine='auto' or engine='reference'."
            ) from None
        return Choice("reference", str(obstacle))
    if asked == "fast":
        return Choice("fast", "asked for", game)
    seconds = agent_rounds * ROUND_SECONDS * (1.0 + cells / CELLS)
    may_be_faster = seconds < max(READY_SECONDS.values())
    if readiness is not None and may_be_faster and not worth_loading(seconds, *readiness(game)):
        return Choice("reference", "a small job is done before the fast engine is compiled or loaded for it")
    return Choice("fast", "everything has a compiled form", game)


def worth_loading(seconds: float, where: str, loop: object) -> bool:
    """Return whether to make a compiled loop ready, given the ``seconds`` that the reference engine would take.

    Jobs of the same loop add up: once the reference engine has played as long as it takes to make the loop ready, the
    next job does that. Therefore, small jobs never cost much more than twice the cheaper way.
    """
    spent = _spent.get(loop, 0.0) + seconds
    if spent >= READY_SECONDS[where]:
        _spent.pop(loop, None)
        return True
    _spent[loop] = spent
    return False


@cache
def fast_fault() -> str | None:
    """Return why the fast engine cannot be loaded, where numba is installed and broken; None if it can be."""
    try:
        importlib.import_module("cobandit.engine.fast")
    except Exception as error:  # a broken installation may raise anything
        return f"numba is installed but cannot be imported ({type(error).__name__}: {' '.join(str(error).split())})"
    return None


def can_play_fast() -> bool:
    """Return whether the fast engine is installed and can be loaded."""
    return installed("fast") and fast_fault() is None
