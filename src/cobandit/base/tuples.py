"""NamedTuples that consist of others, so that each field is declared once, and the rows of numbers in their fields."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeVar

N = TypeVar("N", int, float)


class Row(Protocol[N]):
    """A list or a flat array of numbers: plain Python uses lists, compiled code arrays."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[N]: ...
    def __getitem__(self, place: int, /) -> N: ...
    def __setitem__(self, place: int, number: N, /) -> None: ...


Ints = Row[int]
Floats = Row[float]


class MakeRow(Protocol):
    """What makes a row of numbers: ``list``, or a function that makes an array."""

    def __call__(self, numbers: Sequence[N], /) -> Row[N]:
        """Return the numbers as a row."""


def joined_tuple(*parts: Any) -> Any:
    """Return a NamedTuple class with all fields of the parts in their order, each name once.

    A part is a NamedTuple class or a sequence of names. Derive a class from the result: it has no name of its own.
    """
    names = dict.fromkeys(name for part in parts for name in getattr(part, "_fields", part))
    return namedtuple("Joined", names)
