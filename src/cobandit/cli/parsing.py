"""Parse values from the command line, without ``eval``, with the library's own checks."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

from cobandit.base.errors import CobanditError, InvalidInput, UnknownName, short_repr

MATRIX = '"[[.8,.4],[.2,.6]]"'
NAMED_MEANS = ("fixed", "random", "local-optima", "corners")
"""The named means of `cobandit.problem.named`, repeated here so that ``--help`` need not import them."""

_GROUPED = re.compile(r"[1-9]\d{0,2}(,\d{3})+")


def literal(text: str) -> Any:
    """Return a number, a list, a string, true, false or null; raise ValueError for anything else.

    Python's literals are tried first, because people write ``.8``, which is not JSON.
    """
    stripped = text.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # "[1][2]" must be an error here, not a SyntaxWarning on the screen
            return ast.literal_eval(stripped)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, Warning):
        pass
    # Values without a Python literal: null, true, and NaN and infinity, which the library's checks then refuse.
    said = re.sub(r"(?<![\d.])\.(?=\d)", "0.", stripped)
    said = re.sub(r"\b(nan|inf)\b", lambda word: {"nan": "NaN", "inf": "Infinity"}[word[0].lower()], said, flags=re.I)
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        raise ValueError(text) from None


def value(text: str) -> Any:
    """Return the literal if the text is one (or ``none``), else the text itself."""
    if text.strip().lower() == "none":
        return None
    try:
        return literal(text)
    except ValueError:
        return text


def number(text: str) -> Any:
    """Return a single number, or the text if it is a list. 2,000 is a number, because our tables print it so."""
    single = value(text.replace(",", "") if _GROUPED.fullmatch(text.strip()) else text)
    return text if isinstance(single, (tuple, list, dict)) else single


class InvalidOption(CobanditError):
    """An option has a wrong value. This is not a ValueError, because Typer would replace its message."""


Parser: TypeAlias = Callable[[object], object]
"""What Typer calls with the text of an option, and with its default."""


def integer(name: str, low: int, high: int | None = None) -> Parser:
    """Return the parser of an option that takes an integer from ``low`` to ``high``."""
    return _parser(lambda given: _checks().whole(low, high)(name, given))


def positive_real(name: str, high: float = math.inf) -> Parser:
    """Return the parser of an option that takes a number above 0, up to ``high``."""
    return _parser(lambda given: _checks().real(0, high, above=True)(name, given))


def share(name: str, high: float = 1.0) -> Parser:
    """Return the parser of an option that takes a number from 0 to ``high``."""
    return _parser(lambda given: _checks().real(0.0, high)(name, given))


def seed() -> Parser:
    """Return the parser of an option that takes a seed; ``none`` draws a fresh one."""

    def check(given: object) -> int:
        from cobandit.base.streams import checked_seed

        return checked_seed(given)

    return _parser(check)


def _checks() -> ModuleType:
    from cobandit.base import checks

    return checks


def _parser(check: Parser) -> Parser:
    """Return a parser for Typer. Defaults are not parsed, so that a command without options imports no checks."""

    def parse(text: object) -> object:
        if not isinstance(text, str):
            return text
        try:
            return check(number(text))
        except InvalidInput as error:
            raise InvalidOption(str(error)) from None

    return parse


def numbers(flag: str, text: str, example: str) -> tuple[Any, ...]:
    """Return numbers separated by commas. The caller checks each of them."""
    try:
        values = literal(text)
    except ValueError:
        raise InvalidInput(
            f"{flag} must be numbers separated by commas, such as {example}, got {short_repr(text)}."
        ) from None
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def means(flag: str, text: str) -> Any:
    """Return a matrix, or the name of means: one of `NAMED_MEANS`, or one from another package."""
    word = text.strip()
    if word in NAMED_MEANS:
        return word
    if word[:1].isalpha():
        from cobandit.problem.named import known_means

        known = known_means()
        if word not in known:
            raise UnknownName("problem called", word, [*known, f"or a matrix such as {MATRIX}"])
        return word
    try:
        matrix = literal(word)
    except ValueError:
        matrix = None
    if not isinstance(matrix, (list, tuple)):
        raise InvalidInput(
            f"{flag} is {short_repr(text)}; a matrix with one level of brackets per agent is needed, such as {MATRIX}, "
            f"or one of {', '.join(NAMED_MEANS)}."
        )
    return matrix


def setting(text: str) -> tuple[str, Any]:
    """Return the name and the value of ``name=value``, an agent's option."""
    name, sign, rest = text.partition("=")
    if not sign or not name.strip():
        raise InvalidInput(f"--option must be name=value, such as prior_sd=0.5, got {short_repr(text)}.")
    return name.strip().replace("-", "_"), value(rest)


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(name: str, text: str) -> int:
    """Return a duration such as ``30s``, ``10m``, ``2h`` or ``1d``, in seconds."""
    match = re.fullmatch(r"\s*([1-9][0-9]{0,5})\s*([smhd])\s*", text)
    if match is None:
        raise InvalidInput(f"--{name} must be a time such as 30s, 10m, 2h or 1d, got {short_repr(text)}.")
    return int(match[1]) * _SECONDS[match[2]]
