"""Where chunks are played: in worker processes on this machine (here) or on a Dask cluster (`dask`)."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from itertools import islice
from typing import Any, Protocol

from cobandit.base.errors import CobanditError
from cobandit.base.machine import available_cores
from cobandit.experiments.spec import Chunk
from cobandit.experiments.store import ChunkFile
from cobandit.experiments.work import compute_file

ProcessPoolExecutor: Any
BrokenProcessPool: type[Exception]
try:
    import multiprocessing
    from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
except ImportError:  # a Python without processes, such as Pyodide in a browser
    ProcessPoolExecutor, BrokenProcessPool = None, RuntimeError

MOST_RESTARTS = 3
SECONDS_BETWEEN_LOOKS = 1.0
"""How often the workers are looked after while no chunk is finished."""
CHUNKS_PER_WORKER = 3
"""Chunks handed out and not yet stored: enough that no worker waits, few enough that memory does not grow."""


class WorkerLost(CobanditError):
    """Worker processes died again and again, for instance for want of memory."""


class Executor(Protocol):
    """Plays chunks somewhere and hands each back as soon as it is finished."""

    name: str

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, ChunkFile]]:
        """Return each chunk with its file, in the order of finishing."""


class Processes:
    """Worker processes on this machine's cores; a worker that dies takes nothing but its own chunk with it.

    Where Python has no processes, as in a browser, the chunks are played in this one.
    """

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else workers

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, ChunkFile]]:
        """Yield each chunk with its file; chunks lost with a worker are played again by new workers."""
        if ProcessPoolExecutor is None:
            for chunk in chunks:
                yield chunk, compute_file(chunk)
            return
        waiting = {chunk.id: chunk for chunk in chunks}
        for _ in range(MOST_RESTARTS + 1):
            try:
                yield from self._play_once(waiting)
            except BrokenProcessPool:
                continue
            return
        raise WorkerLost(
            f"Worker processes died {MOST_RESTARTS + 1} times, lately on one of {', '.join(list(waiting)[:3])}. "
            "Is there enough memory? A script that starts worker processes must do so below "
            "'if __name__ == \"__main__\":'. Finished chunks are kept."
        )

    def _play_once(self, waiting: dict[str, Chunk]) -> Iterator[tuple[Chunk, ChunkFile]]:
        # Spawned, not forked: a fork of a process with running threads may hang.
        context = multiprocessing.get_context("spawn")
        workers = min(self.workers, max(1, len(waiting)))
        pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_keep_quiet)
        queue = iter(list(waiting.values()))
        under_way: dict[Future[ChunkFile], Chunk] = {}
        try:
            while True:
                for chunk in islice(queue, CHUNKS_PER_WORKER * workers - len(under_way)):
                    under_way[pool.submit(compute_file, chunk)] = chunk
                if not under_way:
                    break
                finished = wait(under_way, SECONDS_BETWEEN_LOOKS, return_when=FIRST_COMPLETED).done
                if not finished and not all(process.is_alive() for process in (pool._processes or {}).values()):
                    _end_workers(pool)
                for future in finished:
                    chunk = under_way.pop(future)
                    file = future.result()
                    del waiting[chunk.id]
                    yield chunk, file
        except BaseException:
            _end_workers(pool)
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _end_workers(pool: Any) -> None:
    """End the workers, and the wait of the pool's thread for a message that no worker will finish.

    A worker that dies while it sends leaves half a message. This process holds the sending end of that pipe, too, so
    the thread would wait for the other half for ever, and the pool for the thread.
    """
    workers = list((pool._processes or {}).values())
    for process in workers:
        process.terminate()
    for process in workers:
        process.join()
    if pool._result_queue is not None:
        pool._result_queue._writer.close()


def _keep_quiet() -> None:
    """Silence the log of a worker: each worker would print, between the progress bars, that it compiles."""
    logging.getLogger("cobandit").addHandler(logging.NullHandler())
