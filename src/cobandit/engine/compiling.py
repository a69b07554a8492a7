"""Who wants to know that the compiler is at work. Nothing here needs one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_waiting: list[Callable[[], None]] = []


def compilation_begins() -> None:
    """Call all waiting callbacks, once."""
    while _waiting:
        _waiting.pop()()


@contextmanager
def at_first_compilation(start: Callable[[], None]) -> Iterator[None]:
    """Call ``start`` as soon as this process compiles something inside of the with block; never if all code is
    on disk.
    """
    _waiting.append(start)
    try:
        yield
    finally:
        if start in _waiting:
            _waiting.remove(start)
