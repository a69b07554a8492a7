"""Who wants to know that the compiler is at work. Nothing here needs one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_waiting: list[Callable[[], None]] = []


def compilation_begins() -> None:
    """Tell everybody who waits for it, once."""
    while _waiting:
        _waiting.pop()()


@contextmanager
def at_first_compilation(start: Callable[[], None]) -> Iterator[None]:
    """Within, ``start`` is called as soon as something has to be compiled in this process; not where all is on disk."""
    _waiting.append(start)
    try:
        yield
    finally:
        if start in _waiting:
            _waiting.remove(start)
