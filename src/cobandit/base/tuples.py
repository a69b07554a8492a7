"""NamedTuples that consist of others, so that each field is declared once."""

from __future__ import annotations

from collections import namedtuple
from typing import Any


def joined_tuple(*parts: Any) -> Any:
    """Return a NamedTuple class with all fields of the parts in their order, each name once.

    A part is a NamedTuple class or a sequence of names. Derive a class from the result: it has no name of its own.
    """
    names = dict.fromkeys(name for part in parts for name in getattr(part, "_fields", part))
    return namedtuple("Joined", names)
