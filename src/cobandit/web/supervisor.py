"""Worker processes of one server: start them, replace those that end, and stop them with their supervisor."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

from cobandit.base.errors import CobanditError

log = logging.getLogger("cobandit.web")

POLL_SECONDS = 0.5
SLOW_START_SECONDS = 60.0
RESTART_SECONDS = 1.0
STOP_SECONDS = 15.0
"""How long a worker that was asked to stop may take; then it is killed."""

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)]


class Line:
    """A worker's end of the pipe to its supervisor: as long as the pipe is open, the worker may serve.

    The system closes the supervisor's end however the supervisor ends, so no worker outlives a supervisor that was
    killed.
    """

    def __init__(self, pipe: Connection[Any, Any], number: int = 1) -> None:
        """``number`` is that of the worker, from 1; a replacement has that of the one before."""
        self._pipe, self.number = pipe, number
        self._reported = False

    def watch(self, stop: Callable[[], None]) -> None:
        """Call ``stop`` once the supervisor is gone or closes the pipe; end the process if stopping takes too long."""

        def work() -> None:
            with contextlib.suppress(EOFError, OSError):
                self._pipe.recv()  # the supervisor never sends anything
            stop()
            time.sleep(STOP_SECONDS)
            os._exit(1)

        threading.Thread(target=work, name="supervisor-watch", daemon=True).start()

    def report_ready(self) -> None:
        """Tell the supervisor, once, that this worker accepts connections."""
        if not self._reported:
            self._reported = True
            with contextlib.suppress(OSError):  # the supervisor has gone, and the watch stops the worker
                self._pipe.send(True)


class _Worker:
    """A process that serves, as its supervisor sees it."""

    def __init__(self, number: int, target: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        context = multiprocessing.get_context("spawn")
        self.number, self.ready = number, False
        self.pipe, its_pipe = context.Pipe()
        self.process = context.Process(target=target, args=(Line(its_pipe, number), *arguments))
        self.process.start()
        its_pipe.close()
        self.started = time.monotonic()
        self.announced = False

    @property
    def name(self) -> str:
        return f"Worker {self.number} (process {self.process.pid})"

    def look(self) -> None:
        """Note whether it has become ready, and log when this takes long."""
        with contextlib.suppress(EOFError, OSError):
            if not self.ready and self.pipe.poll():
                self.ready = bool(self.pipe.recv())
        if not (self.ready or self.announced) and time.monotonic() - self.started > SLOW_START_SECONDS:
            self.announced = True
            log.warning("%s is still starting after %d s. The machine may be busy.", self.name, SLOW_START_SECONDS)

    def end(self) -> str:
        """Return how the process ended."""
        code = self.process.exitcode
        return f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with exit code {code}"


class Supervisor:
    """Keep a number of workers running until a signal stops them.

    A worker may take as long as it needs to start: only one that has ended is replaced. If the first workers
    cannot start, neither can their replacements, and the supervisor gives up.
    """

    def __init__(self, count: int, target: Callable[..., None], *arguments: Any) -> None:
        self._count, self._target, self._arguments = count, target, arguments
        self._workers: list[_Worker] = []
        self._served = False
        self._stopping = False

    def run(self) -> None:
        """Supervise until SIGINT, SIGTERM or SIGHUP; must be called in the main thread."""
        before = {number: signal.signal(number, self._stop) for number in _SIGNALS}
        try:
            self._workers = [self._start(number + 1) for number in range(self._count)]
            while not self._stopping:
                self._look()
        finally:
            self._end_all()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _start(self, number: int) -> _Worker:
        return _Worker(number, self._target, self._arguments)

    def _stop(self, *_: Any) -> None:
        self._stopping = True

    def _look(self) -> None:
        """Wait for a moment, and replace each worker that has ended."""
        wait([worker.process.sentinel for worker in self._workers], POLL_SECONDS)
        for index, worker in enumerate(self._workers):
            worker.look()
            self._served = self._served or worker.ready
            if self._stopping or worker.process.is_alive():
                continue
            if not self._served and (worker.process.exitcode or 0) > 0:
                raise CobanditError(f"{worker.name} {worker.end()} before it could serve. The reason is printed above.")
            if not worker.ready:
                time.sleep(RESTART_SECONDS)  # it may fail again
            worker.pipe.close()
            self._workers[index] = replacement = self._start(worker.number)
            log.warning("%s %s. Process %s replaces it.", worker.name, worker.end(), replacement.process.pid)

    def _end_all(self) -> None:
        for worker in self._workers:
            worker.pipe.close()
        until = time.monotonic() + STOP_SECONDS
        for worker in self._workers:
            worker.process.join(max(0.0, until - time.monotonic()))
            if worker.process.is_alive():
                log.warning("%s did not stop within %d s and is killed.", worker.name, STOP_SECONDS)
                worker.process.kill()
                worker.process.join()
