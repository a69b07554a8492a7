"""Answers for researchers who watch, by a process of their own: participants never wait for its interpreter.

Threads of the server itself answer until that process is there, and wherever it cannot.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from typing import Any, TypeVar

from cobandit.web.services.curves import Curves
from cobandit.web.services.live import Live
from cobandit.web.storage.database import Database
from cobandit.web.storage.listing import Listing

log = logging.getLogger("cobandit.web")

NICENESS = 10
"""By so much those who watch give way to those who play, where the machine is busy."""
CURVE_SECONDS = 0.3
"""What one question for curves may take there: whoever asks who is where waits behind it."""

T = TypeVar("T")


class ReaderProcess:
    """One process that reads a database: it begins with the first question, and ends however the server ends."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: ProcessPoolExecutor | None = None
        self._ready: Future[None] | None = None

    async def ask(self, function: Callable[..., T], *arguments: Any) -> T | None:
        """What a function of this module gives there; None where the process is not there yet, or cannot tell."""
        try:
            if self._pool is None:
                self._begin()
            if self._pool is None or self._ready is None or not self._ready.done():
                return None
            return await asyncio.wrap_future(self._pool.submit(function, *arguments))
        except Exception as error:  # whatever it is, a thread of the server meets it, too, or answers
            log.debug("The process that reads for researchers could not answer: %r", error)
            if isinstance(error, BrokenExecutor):
                self.end()
            return None

    def _begin(self) -> None:
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _open, (self._url,))
        self._ready = self._pool.submit(_is_there)

    def end(self) -> None:
        """End it; the next question begins another one."""
        pool, self._pool, self._ready = self._pool, None, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


class LiveApart(Live):
    """Who is where, as that process tells it."""

    def __init__(self, database: Database, reader: ReaderProcess) -> None:
        super().__init__(database)
        self._reader = reader

    async def view(
        self, number: int, wanted: Listing, base: str, since: int | None = None, masks: Mapping[str, str] | None = None
    ) -> bytes:
        """As `Live.view`."""
        answer = await self._reader.ask(_live_view, number, wanted, base, since, masks)
        return await super().view(number, wanted, base, since, masks) if answer is None else answer


class CurvesApart(Curves):
    """Regret curves, as that process tells them."""

    def __init__(self, database: Database, reader: ReaderProcess) -> None:
        super().__init__(database)
        self._reader = reader

    async def curves(self, number: int, kind: str) -> dict[str, Any]:
        """As `Curves.curves`."""
        answer = await self._reader.ask(_curves_of, number, kind)
        return await super().curves(number, kind) if answer is None else answer


# ---- within the process ----

_services: list[tuple[Database, Live, Curves]] = []


def _open(url: str) -> None:
    """Get ready: give way to others, leave Ctrl-C to the server, and end when it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):  # not on Windows
        os.nice(NICENESS)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    database = Database(url)
    _services.append((database, Live(database), Curves(database, CURVE_SECONDS, share_of_time=1.0)))


def _end_with(parent: Any) -> None:
    """A server that was killed tells nobody: its process is waited for."""
    parent.join()
    os._exit(0)


def _is_there() -> None:
    """Nothing: whoever can answer this can answer the rest."""


def _live_view(number: int, wanted: Listing, base: str, since: int | None, masks: Mapping[str, str] | None) -> bytes:
    database, live, _ = _services[0]
    with database.read() as connection:
        return live.read(connection, number, wanted, base, since, masks)


def _curves_of(number: int, kind: str) -> dict[str, Any]:
    database, _, curves = _services[0]
    with database.read() as connection:
        return curves.read(connection, number, kind)
