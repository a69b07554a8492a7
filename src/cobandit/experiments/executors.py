"""Where chunks are played: in worker processes on this machine (here) or on a Dask cluster (`dask`)."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

from cobandit.engine.simulation import available_cores
from cobandit.errors import CobanditError
from cobandit.experiments.spec import Chunk
from cobandit.experiments.store import Computed
from cobandit.experiments.work import compute

MOST_RESTARTS = 3


class WorkerLost(CobanditError):
    """Worker processes died again and again, for instance for want of memory."""


class Executor(Protocol):
    """Plays chunks somewhere and hands each back as soon as it is finished."""

    name: str

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Computed]]:
        """Each chunk with its numbers, in the order of finishing."""


class Processes:
    """Worker processes on this machine's cores; a worker that dies takes nothing but its own chunk with it."""

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        self.workers = available_cores() if workers is None else workers

    def play(self, chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Computed]]:
        """Each chunk with its numbers; chunks lost with a worker are played again by new workers."""
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

    def _play_once(self, waiting: dict[str, Chunk]) -> Iterator[tuple[Chunk, Computed]]:
        # Spawned, not forked: a fork of a process with running threads may hang.
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(self.workers, max(1, len(waiting))), mp_context=context)
        try:
            futures = {pool.submit(compute, chunk): chunk for chunk in waiting.values()}
            for future in as_completed(futures):
                computed = future.result()
                chunk = waiting.pop(futures[future].id)
                yield chunk, computed
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
