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
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from cobandit.base.json_types import JsonObject
from cobandit.web.roles import Viewer
from cobandit.web.services.curves import Curves
from cobandit.web.services.live import Live
from cobandit.web.storage.database import Database
from cobandit.web.storage.listing import Listing

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

log = logging.getLogger("cobandit.web")

NICENESS = 10
"""The niceness of processes for watching, so that participants have priority on a busy machine."""
CURVE_SECONDS = 0.3
"""How long one request for curves may take there: requests for the live view wait behind it."""

PATIENCE = 60
"""Seconds after which it counts as stuck."""

T = TypeVar("T")


class ReaderProcess:
    """One process that reads a database: it begins with the first question, and ends however the server ends."""

    def __init__(self, url: str, *, consent_elsewhere: bool = False) -> None:
        self._url = url
        self.consent_elsewhere = consent_elsewhere
        self._asking = ThreadPoolExecutor(1, "reader-process")
        self._process: Any = None
        self._line: Connection[Any, Any] | None = None
        self._ready = False

    async def ask(self, function: Callable[..., T], *arguments: Any) -> T | None:
        """Run a function of this module in the other process; return None if that is not running or fails."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._asking, self._ask, function, arguments)

    def _ask(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T | None:
        try:
            if self._line is None:
                self._begin()
                return None
            if not self._is_ready():
                return None
            self._line.send((function, arguments))
            if not self._line.poll(PATIENCE):
                raise EOFError(f"no answer within {PATIENCE} s")
            answer: T | None = self._line.recv()
            return answer
        except (EOFError, OSError) as error:  # it has died, or never came to be
            log.debug("The process that reads for researchers is not there: %r", error)
            self._end()
            return None

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        line, its_end = context.Pipe()
        process = context.Process(target=_answer, args=(its_end, self._url, self.consent_elsewhere), daemon=True)
        process.start()
        its_end.close()  # so that the process at the other end notices when this one has died
        self._process, self._line, self._ready = process, line, False

    def _is_ready(self) -> bool:
        """Return whether it has said that it is there."""
        if not self._ready and self._line is not None and self._line.poll():
            self._ready = bool(self._line.recv())
        return self._ready

    def _end(self) -> None:
        if self._line is not None:
            self._process.kill()  # it only reads: nothing is lost
            self._process.join()
            self._line.close()
        self._line = None

    def end(self) -> None:
        """End it, also in the middle of an answer."""
        if self._process is not None:
            self._process.kill()
        self._asking.submit(self._end)
        self._asking.shutdown()


class LiveApart(Live):
    """Who is where, as that process tells it."""

    def __init__(self, database: Database, reader: ReaderProcess) -> None:
        super().__init__(database, consent_elsewhere=reader.consent_elsewhere)
        self._reader = reader

    async def view(self, number: int, wanted: Listing, base: str, viewer: Viewer, since: int | None = None) -> bytes:
        """Return the same as `Live.view`."""
        answer = await self._reader.ask(_live_view, number, wanted, base, viewer, since)
        return await super().view(number, wanted, base, viewer, since) if answer is None else answer


class CurvesApart(Curves):
    """Regret curves, as that process tells them."""

    def __init__(self, database: Database, reader: ReaderProcess) -> None:
        super().__init__(database)
        self._reader = reader

    async def curves(self, number: int, kind: str, viewer: Viewer) -> JsonObject:
        """Return the same as `Curves.curves`."""
        answer = await self._reader.ask(_curves_of, number, kind, viewer)
        return await super().curves(number, kind, viewer) if answer is None else answer


# ---- within the process ----

_services: list[tuple[Database, Live, Curves]] = []


def _answer(line: Connection[Any, Any], url: str, consent_elsewhere: bool) -> None:
    """Answer questions until the other end of the line is closed, by a server that stops or by its death.

    Others go first, and Ctrl-C is the server's to hear. What goes wrong is answered by None.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):  # not on Windows
        os.nice(NICENESS)
    database = Database(url)
    live = Live(database, consent_elsewhere=consent_elsewhere)
    _services.append((database, live, Curves(database, CURVE_SECONDS, share_of_time=1.0)))
    with contextlib.suppress(EOFError, OSError):
        line.send(True)
        while True:
            function, arguments = line.recv()
            answer = None
            with contextlib.suppress(Exception):  # a thread of the server meets the same, and says so
                answer = function(*arguments)
            line.send(answer)


def _live_view(number: int, wanted: Listing, base: str, viewer: Viewer, since: int | None) -> bytes:
    database, live, _ = _services[0]
    with database.read() as connection:
        return live.read(connection, number, wanted, base, viewer, since)


def _curves_of(number: int, kind: str, viewer: Viewer) -> dict[str, object]:
    database, _, curves = _services[0]
    with database.read() as connection:
        return curves.read(connection, number, kind, viewer)
