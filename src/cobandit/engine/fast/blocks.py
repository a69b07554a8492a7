"""Blocks of independent work on several threads: the kernels release Python's lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed


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
