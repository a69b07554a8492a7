"""Whether the agents of a loaded result are those that played it: by the identity of their classes, or by a replay."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.stats import StreamedSummary

if TYPE_CHECKING:
    from cobandit.engine.result import Result

LONGEST_REPLAY = 200_000
"""Agent-rounds of a replay that a file without identities may cost, about a second."""


def check_agents(result: Result, stored: Any) -> None:
    """Refuse a loaded result whose agents are not those that played it; ``stored`` holds their identities.

    Where a class has changed since, or the file is older than identities, the first run is played again and compared.
    """
    loaded = result.team.identities()
    if stored is None:
        _check_old(result, own=not all(entry["registered"] for entry in loaded))
        return
    if (
        not isinstance(stored, list)
        or len(stored) != len(loaded)
        or not all(isinstance(entry, Mapping) and entry.keys() >= loaded[0].keys() for entry in stored)
    ):
        raise InvalidInput(f"agents must be the identities of {len(loaded)} agents, got {short_repr(stored)}.")
    for was, now in zip(stored, loaded, strict=True):
        if was["registered"] and now["registered"]:
            continue
        same_class = (was["module"], was["class"]) == (now["module"], now["class"])
        if not same_class and was["registered"] != now["registered"]:
            raise InvalidInput(
                f"The result was played by {_path(was)}, but {was['agent']!r} is now {_path(now)}; "
                "own must hold the class that played it."
            )
        changed = not same_class or was["digest"] is None or was["digest"] != now["digest"]
        if changed and (difference := _difference(result)) is not None:
            raise InvalidInput(
                f"The result was played by {_path(was)}, and {_path(now)} plays differently: {difference}. "
                "own must hold the class that played it, unchanged."
            )


def _check_old(result: Result, own: bool) -> None:
    if not own and result.horizon * result.problem.agents > LONGEST_REPLAY:
        return
    difference = _difference(result)
    if difference is None:
        return
    message = f"The file does not say which classes played, and {result.team.label} plays differently now: {difference}"
    if own:
        raise InvalidInput(f"{message}. own must hold the class that played it, unchanged.")
    warnings.warn(
        f"{message}. Another version may have played it, or an agent of the same name: then own must hold its class.",
        UserWarning,
        stacklevel=4,
    )


def _difference(result: Result) -> str | None:
    """Return how the first run, played again, differs from the stored one; None if it does not."""
    again = dataclasses.replace(result, engine="reference").trajectory(result.first_run)
    regret = again.task_regret[result.checkpoints - 1]
    if isinstance(result.kept, StreamedSummary):
        slack = 1e-9 * (1.0 + np.abs(regret))
        wrong = (regret < result.kept.least - slack) | (regret > result.kept.most + slack)
        stored = [f"from {low:g} to {high:g}" for low, high in zip(result.kept.least, result.kept.most, strict=True)]
    else:
        wrong = ~np.isclose(regret, result.kept[0], rtol=1e-9, atol=1e-9)
        stored = [f"{value:g}" for value in result.kept[0]]
    if not wrong.any():
        return None
    at = int(np.argmax(wrong))
    when = f"run {result.first_run} after {result.checkpoints[at]:,} rounds"
    return f"the task regret of {when} is {stored[at]} in the file and {regret[at]:g} in the replay"


def _path(identity: Mapping[str, object]) -> str:
    return f"{identity['module']}.{identity['class']}"
