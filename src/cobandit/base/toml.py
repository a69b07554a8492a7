"""Read TOML files that users have written; every mistake is an error with one sentence."""

from __future__ import annotations

import tomllib
from typing import Any

from cobandit.base.errors import InvalidInput, short_repr

DEEPEST = 32
LARGEST_INTEGER = 2**64


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Return the table in a text; numbers and nesting stay within what the rest of the package can show and walk
    through.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"{where} must be a text in TOML, got {short_repr(text)}.")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(f"{where} is not valid TOML: {error}.") from error
    except RecursionError as error:
        raise InvalidInput(f"{where} is nested too deeply; {DEEPEST} levels are the limit.") from error
    except ValueError as error:  # Python reads no number of more than 4,300 digits
        raise InvalidInput(f"{where} holds an integer of thousands of digits; 64 bits are the limit.") from error
    waiting: list[tuple[Any, int]] = [(data, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise InvalidInput(f"{where} is nested too deeply; {DEEPEST} levels are the limit.")
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            raise InvalidInput(f"{where} holds an integer of {value.bit_length():,} bits; 64 bits are the limit.")
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        waiting += [(part, depth + 1) for part in parts]
    return data
