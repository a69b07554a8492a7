"""Blocks of independent work on several threads: the kernels release Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from typing import Generic, TypeVar

Item = TypeVar("Item")

BLOCKS_PER_THREAD = 4
"""So that a thread on a slower core does not leave the others waiting at the end."""


class Pool(Generic[Item]):
    """Memory for threads to play in: ``make`` is called whenever a thread finds none free. ``every`` lists all."""

    def __init__(self, make: Callable[[], Item]) -> None:
        self._make, self.first = make, make()
        self.every, self._free = [self.first], [self.first]

    @contextmanager
    def one(self) -> Iterator[Item]:
        """Lend one to the calling thread."""
        try:
            item = self._free.pop()
        except IndexError:
            item = self._make()
            self.every.append(item)
        yield item
        self._free.append(item)


def run_blocks(block: Callable[[int], int], starts: Sequence[int], threads: int, done: Callable[[int], None]) -> None:
    """Run ``block`` at every start; ``done`` hears, in this thread, how much each has finished."""
    if threads == 1 or len(starts) == 1:
        for start in starts:
            done(block(start))
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(block, start) for start in starts]
        try:
            for future in as_completed(futures):
                done(future.result())
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def block_size(count: int, rounds: int, most_rounds: int, threads: int) -> int:
    """Return how many of ``count`` runs of ``rounds`` rounds form a block: few enough rounds, and enough blocks for all
    threads.
    """
    shares = 1 if threads == 1 else threads * BLOCKS_PER_THREAD
    return max(1, min(most_rounds // rounds, -(-count // shares)))
