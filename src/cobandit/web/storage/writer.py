"""The writer of one process: jobs from many requests, committed together, acknowledged after the commit.

With ``synchronous=FULL`` a commit waits a few milliseconds for the disk. Jobs that arrive in the meantime share the
next transaction (group commit), so a few hundred commits store a thousand durable rounds a second. If a job fails, the
batch is rolled back, that job runs again in a separate transaction, and the others run again together. Jobs must
therefore do nothing but use the connection.

Jobs of a class with `together` run in one call of it; if that fails, each of them runs separately.

A job with an attribute ``rounds``, a number, is counted as this many rounds once it is committed.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from cobandit.web.meter import current_meter
from cobandit.web.storage.witness import keep_head

T = TypeVar("T")
Job = Callable[[Connection], T]

LARGEST_BATCH = 256


class JoiningJob(ABC):
    """A job that can run together with others of its class, which costs less and gives the same results."""

    @abstractmethod
    def __call__(self, connection: Connection) -> Any:
        """Run this job alone."""

    @classmethod
    @abstractmethod
    def together(cls, connection: Connection, jobs: Sequence[Any]) -> Sequence[Any]:
        """Run several jobs and return their results in order. After an error nothing may be committed."""


class _Apart(Exception):
    """Jobs could not be run together."""


@dataclass(eq=False, slots=True)
class _Waiting:
    job: Job[Any]
    future: asyncio.Future[Any]
    result: Any = None
    error: BaseException | None = None


class Writer:
    """Runs jobs in threads of its own: one for SQLite, a few for PostgreSQL."""

    def __init__(self, engine: Engine, threads: int = 1, reading: Engine | None = None) -> None:
        """Write with an engine; ``reading`` reads committed data (by default the same engine)."""
        self._engine, self._reading = engine, reading or engine
        self._meter = current_meter()
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, name=f"writer-{i}", daemon=True) for i in range(threads)]
        for thread in self._threads:
            thread.start()

    async def run(self, job: Job[T]) -> T:
        """Run a job and return its result once it is on disk.

        The job continues when the request is cancelled, because it may already be running.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._queue.put(_Waiting(job, future))
        self._meter.set_queue(self._queue.qsize())
        return await future

    def close(self) -> None:
        """Finish the queued jobs, then stop."""
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        while (first := self._queue.get()) is not None:
            # Group commit: jobs that arrived while the last commit waited for the disk share the next one. There is no
            # timer: under load batches grow by themselves, and a single job is never delayed.
            batch = [first]
            last = False
            while len(batch) < LARGEST_BATCH:
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    last = True
                    break
                batch.append(following)
            self._commit(batch)
            # Only now: an acknowledged move must be on disk.
            _deliver(batch)
            self._count(batch)
            if last:
                return

    def _count(self, batch: list[_Waiting]) -> None:
        rounds = sum(getattr(waiting.job, "rounds", 0) for waiting in batch if waiting.error is None)
        if rounds:
            self._meter.add_rounds(rounds)
        self._meter.set_queue(self._queue.qsize())

    def _commit(self, batch: list[_Waiting]) -> None:
        together, alone = list(batch), list[_Waiting]()
        lost, joined = False, True
        while together:
            running: _Waiting | None = None
            try:
                with self._engine.begin() as connection:
                    info = connection.info
                    for waiting in _run_joined(connection, together) if joined else together:
                        running = waiting
                        waiting.result = waiting.job(connection)
                    running = None
                keep_head(self._reading, info)
                break
            except _Apart:
                joined = False
            except BaseException as error:
                if running is not None and not lost and isinstance(error, DBAPIError) and error.connection_invalidated:
                    lost = True  # nothing was committed yet: once more, with another connection
                elif running is None or len(batch) == 1:
                    # The database itself cannot be written, or there is no other cause.
                    for waiting in together:
                        waiting.error = error
                    break
                else:
                    # One failing job must not fail the others. The transaction was rolled back with all of them, so the
                    # others run again without it, and it runs alone, where it gets its own error.
                    together.remove(running)
                    alone.append(running)
        for waiting in alone:
            self._commit([waiting])


def _run_joined(connection: Connection, batch: list[_Waiting]) -> list[_Waiting]:
    """Run the jobs of a batch that can run together, and return the others."""
    by_class: dict[type[JoiningJob], list[_Waiting]] = defaultdict(list)
    for waiting in batch:
        if isinstance(waiting.job, JoiningJob):
            by_class[type(waiting.job)].append(waiting)
    ran: set[_Waiting] = set()
    for kind, joining in by_class.items():
        if len(joining) > 1:
            try:
                results = kind.together(connection, [waiting.job for waiting in joining])
            except Exception as error:
                raise _Apart from error
            for waiting, waiting.result in zip(joining, results, strict=True):
                ran.add(waiting)
    return [waiting for waiting in batch if waiting not in ran]


def _deliver(batch: list[_Waiting]) -> None:
    by_loop: dict[asyncio.AbstractEventLoop, list[_Waiting]] = defaultdict(list)
    for waiting in batch:
        by_loop[waiting.future.get_loop()].append(waiting)
    for loop, done in by_loop.items():
        if not loop.is_closed():
            loop.call_soon_threadsafe(_resolve, done)


def _resolve(batch: list[_Waiting]) -> None:
    for waiting in batch:
        if waiting.future.done():  # the request was cancelled
            continue
        if waiting.error is not None:
            waiting.future.set_exception(waiting.error)
        else:
            waiting.future.set_result(waiting.result)
