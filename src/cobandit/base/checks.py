"""Checks at the public door: one value in, the clean value out, or one clear error."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.errors import short_repr as short_repr

Check = Callable[[str, Any], Any]
JsonSchema = dict[str, Any]

MOST = 2**31 - 1
"""The largest count anybody may ask for."""


def with_schema(check: Check, schema: JsonSchema | Callable[[], JsonSchema]) -> Check:
    """Return the check, labelled with the JSON Schema of the values that it accepts (`cobandit.base.schema`).

    Values inside the schema may be checks, which stand for their own schemas. A schema that depends on what is
    installed is given as a function.
    """
    vars(check)["schema"] = schema
    return check


def whole(low: int, high: int | None = None) -> Check:
    """Return a check for an integer from ``low`` to ``high``."""

    def check(name: str, value: Any) -> int:
        if type(value) is int and low <= value and (high is None or value <= high):
            return value  # as nearly always, and some numbers come every round
        integral = isinstance(value, numbers.Integral) or (
            isinstance(value, (float, np.floating)) and float(value).is_integer()
        )
        number = int(value) if integral and not isinstance(value, (bool, np.bool_)) else None
        too_high = number is not None and high is not None and number > high
        if number is None or number < low or too_high:
            # A limit that only protects the machine is named only in errors about values above it.
            has_limit = high is not None and (high != MOST or too_high)
            span = f"from {low} to {high:,}" if has_limit else f"of at least {low}"
            raise InvalidInput(f"{name} must be an integer {span}, got {short_repr(value)}.")
        return number

    schema: JsonSchema = {"type": "integer", "minimum": low}
    return with_schema(check, schema if high is None else schema | {"maximum": high})


def real(low: float, high: float = math.inf, *, above: bool = False, below: bool = False) -> Check:
    """Return a check for a finite number from ``low`` to ``high`` (``above``, ``below``: the ends excluded)."""

    def check(name: str, value: object) -> float:
        if math.isinf(low) and math.isinf(high):
            span = "a finite number"
        else:
            left = f"above {low:g}" if above else f"of at least {low:g}"
            right = "" if math.isinf(high) else f" and {'below' if below else 'at most'} {high:g}"
            span = f"a finite number {left}{right}"
        if isinstance(value, (bool, np.bool_, str)) or not isinstance(value, numbers.Real):
            raise InvalidInput(f"{name} must be {span}, got {short_repr(value)}.")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        too_low = number <= low if above else number < low
        too_high = number >= high if below else number > high
        if not math.isfinite(number) or too_low or too_high:
            raise InvalidInput(f"{name} must be {span}, got {short_repr(value)}.")
        return number

    limits = {"exclusiveMinimum" if above else "minimum": low, "exclusiveMaximum" if below else "maximum": high}
    return with_schema(
        check, {"type": "number"} | {key: limit for key, limit in limits.items() if math.isfinite(limit)}
    )


def one_of(known: Sequence[str], what: str | None = None) -> Check:
    """Return a check for one of the known names; ``what`` is what the message calls them."""

    def check(name: str, value: object) -> str:
        if not isinstance(value, str) or value not in known:
            raise UnknownName(what or name, value, known)
        return value

    return with_schema(check, {"type": "string", "enum": [*known]})


def is_list(values: object) -> TypeGuard[Iterable[Any]]:
    """Return whether there are entries in an order: not a string, a dict or a set, and not an array of no dimension."""
    unordered = str, bytes, Mapping, AbstractSet
    return isinstance(values, Iterable) and not isinstance(values, unordered) and getattr(values, "ndim", 1) > 0


def numeric(name: str, values: object, needed: str) -> NDArray[np.float64]:
    """Return an array of plain numbers; strings, booleans and ragged lists are refused."""
    try:
        array = np.asarray(values)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iuf" or _holds_truth_values(values):
        raise InvalidInput(f"{name} must be {needed}, got {short_repr(values)}.")
    return array.astype(np.float64)


def _holds_truth_values(values: object) -> bool:
    if isinstance(values, (list, tuple)):
        return any(_holds_truth_values(value) for value in values)
    return isinstance(values, (bool, np.bool_))


def one_per_agent(name: str, values: object, agents: int | None, check: Check) -> tuple[Any, ...]:
    """Return a list with one entry for each agent, each entry checked."""
    if not is_list(values):
        raise InvalidInput(f"{name} must be a list with one number per agent, got {short_repr(values)}.")
    entries = list(values)
    if agents is not None and len(entries) != agents:
        raise InvalidInput(
            f"{name} has {len(entries)} entries ({short_repr(entries)}); "
            f"the team has {agents} agents, so {agents} are needed."
        )
    return tuple(check(f"{name}[{i}]", entry) for i, entry in enumerate(entries))
