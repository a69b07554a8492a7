"""Compile with a cache on disk, if there is a place for one, and log it when a user has to wait."""

from __future__ import annotations

import gc
import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numba import config, njit
from numba.core.errors import NumbaError

from cobandit.base.errors import AgentError
from cobandit.engine.compiling import compilation_begins
from cobandit.engine.fast.cache_file import VerifiedCacheFile
from cobandit.engine.fast.parts import defer_blas, parts_unfinished
from cobandit.engine.fast.pipeline import OPTIONS

fcntl: Any
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

log = logging.getLogger("cobandit")

Marked = TypeVar("Marked")

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

COMPILING = "Compiling the fast engine for %s: a few seconds%s."
ONCE = ", the first time only"
NO_PLACE = (
    "Compiled code cannot be stored on disk (%s), so every process compiles it again. "
    "Set NUMBA_CACHE_DIR to a folder that can be written to."
)


def compiled_loop(function: Callable[..., Any]) -> Any:
    """Return a compiled entry point, kept on disk where numba finds a place for it.

    Without the compiler it is the plain function, with the silent overflow that compiled numbers have.
    """
    if config.DISABLE_JIT:
        return np.errstate(all="ignore")(function)
    try:
        loop = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # no folder that can be written to
        _say_no_place("no folder can be written to")
        return njit(**OPTIONS)(function)
    loop._cache._cache_file = VerifiedCacheFile.replacing(loop._cache._cache_file)
    return loop


@cache
def _say_no_place(reason: str) -> None:
    """Say, once, that nothing is kept."""
    log.warning(NO_PLACE, reason)


def with_vectors(marked: Marked) -> Marked:
    """Mark a loop, or a kind, whose inner loops are long enough for vectors."""
    marked.vectors = True  # type: ignore[attr-defined]
    return marked


def make_ready(loop: Any, arguments: tuple[Any, ...], what: str) -> None:
    """Have the code for these arguments, from disk or from the compiler, in this thread.

    The compiler is slow and cannot be stopped from another thread, so threads get code that is ready. If it takes the
    compiler, ``what`` is waited for is said first. A full disk costs the copy, not the result.
    """
    asked = _asked.get()
    if config.DISABLE_JIT:
        if asked:
            raise _Answer("memory", None)
        return
    signature = tuple(loop.typeof_pyval(argument) for argument in arguments)
    if asked:
        where = "memory" if signature in loop.overloads else "disk" if _on_disk(loop, signature) else "none"
        raise _Answer(where, (loop.py_func.__qualname__, signature))
    if signature in loop.overloads:
        return
    defer_blas()
    said = _Announcer(loop, signature, what)
    try:
        with said, _alone(loop, signature), _uncollected(), parts_unfinished(loop, signature):
            loop.compile(signature)
    except OSError as error:
        if signature not in loop.overloads:
            raise
        _say_no_place(str(error))
    except NumbaError as error:
        raise AgentError(f"{what} cannot be compiled: {_cause_of(error)}") from error  # which tells much more


class _Answer(Exception):
    """Where the code of a loop is, and which loop it is."""


_asked: ContextVar[bool] = ContextVar("asked", default=False)


def readiness(play: Callable[[], Any]) -> tuple[str, object]:
    """Return where the code is that ``play()`` needs (``memory``, ``disk`` or ``none``), and a key of its loop.

    ``play`` is called, and ended where it would make its loop ready: nothing is compiled, loaded or played.
    """
    token = _asked.set(True)
    try:
        play()
    except _Answer as answer:
        where, loop = answer.args
        return where, loop
    finally:
        _asked.reset(token)
    return "memory", None


def _cause_of(error: NumbaError) -> str:
    """Return the innermost of what numba found wrong, from its many lines."""
    lines = [line.strip() for line in _COLOUR.sub("", str(error)).splitlines()]
    lines = [line for line in lines if line and not line.startswith("- Resolution")]
    failed = [k for k, line in enumerate(lines) if "Failed in " in line]
    first, *more = lines[failed[-1] + 1 :] if failed else lines
    return f"{first} {more[0].lstrip('> ')}" if more and first.endswith(":") else first


@contextmanager
def _alone(loop: Any, signature: Any) -> Iterator[None]:
    """Lock the compilation of a loop against other processes: workers that start together would all compile it.

    A process that had to wait finds the code on disk. The lock ends with its process in any case.
    """
    with ExitStack() as stack:
        path = _lock_path(loop, signature)
        if fcntl is not None and path is not None:
            with suppress(OSError):  # no such folder, or one without locks: compiled twice at worst
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(path.open("wb"))
                fcntl.flock(file, fcntl.LOCK_EX)
                stack.callback(path.unlink, missing_ok=True)
        yield


def _lock_path(loop: Any, signature: Any) -> Path | None:
    """Return a file for this very code, next to where numba will keep it; None where it is kept already, or not
    at all.
    """
    folder = getattr(getattr(loop, "_cache", None), "cache_path", None)
    if folder is None or _on_disk(loop, signature):
        return None
    key = repr(_key(loop, signature))
    return Path(folder) / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.lock"


@contextmanager
def _uncollected() -> Iterator[None]:
    """Pause garbage collection inside of the with block: a compiler keeps most of its objects, and each pass visits
    all.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Announcer:
    """Says that something is being compiled, unless it is found on disk."""

    def __init__(self, loop: Any, signature: Any, what: str) -> None:
        self._loop, self._signature, self._what = loop, signature, what

    def __enter__(self) -> None:
        self._start = time.perf_counter()
        if not _on_disk(self._loop, self._signature):
            once = ONCE if getattr(getattr(self._loop, "_cache", None), "cache_path", None) else ""
            log.warning(COMPILING, self._what, once, extra={"compiling": True})
            compilation_begins()

    def __exit__(self, *_: object) -> None:
        log.debug("The fast engine was ready for %s after %.2f s.", self._what, time.perf_counter() - self._start)


def _on_disk(loop: Any, signature: Any) -> bool:
    """Return whether an intact copy is on disk; numba has no public way to ask before it compiles."""
    file = getattr(getattr(loop, "_cache", None), "_cache_file", None)
    return file is not None and file.holds(_key(loop, signature))


def _key(loop: Any, signature: Any) -> Any:
    """Return the key under which numba stores the code for a signature."""
    return loop._cache._index_key(signature, loop.targetctx.codegen())
