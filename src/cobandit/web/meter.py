"""Counters of one process, in memory that its supervisor can read.

Each worker process has a row of 64-bit integers in one shared array, and no other process writes to it. The supervisor
adds the rows when it is asked for them, so counting takes no lock and no system call. A worker that replaces
another one continues its row: counters never go back.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Sequence
from multiprocessing import get_context
from typing import Any

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds, in seconds, of the buckets of latencies; one more bucket has no bound."""
KINDS = ("round", "other")
"""Requests that play rounds, and all others."""
CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
REASONS = (
    "too many connections",
    "too many connections from one network",
    "an invalid request",
    "a bad Host header",
    "a transfer coding",
    "a head too large",
    "too many headers",
    "a request too large",
    "a head that took too long",
    "a body that took too long",
    "a connection without a request",
    "an answer that the client does not read",
    "another reason",
)
"""Reasons why a connection was refused or closed, in words that name no address."""

ROUNDS, QUEUE, CONNECTIONS = range(3)
_REFUSED = 3
_REQUESTS = _REFUSED + len(REASONS)
_LATENCIES = _REQUESTS + len(KINDS) * len(CLASSES)
_BUCKETS = len(BOUNDS) + 1
_PER_KIND = _BUCKETS + 1  # and the sum of the latencies in microseconds
CELLS = _LATENCIES + len(KINDS) * _PER_KIND
_GAUGES = (QUEUE, CONNECTIONS)


class Meter:
    """The row of one process."""

    def __init__(self, cells: Any = None, row: int = 0) -> None:
        """``cells`` is an array of `shared_cells`; without it, the row belongs to this process alone."""
        # A memoryview is three times as fast as the array of ctypes itself.
        self._cells: Any = [0] * CELLS if cells is None else cells
        if not isinstance(self._cells, list):
            self._cells = memoryview(self._cells).cast("B").cast("q")
        self._start = row * CELLS
        self._lock = threading.Lock()  # several writer threads count rounds
        for gauge in _GAUGES:  # of the process before
            self._cells[self._start + gauge] = 0

    def add_rounds(self, count: int) -> None:
        """Count rounds that are committed."""
        with self._lock:
            self._cells[self._start + ROUNDS] += count

    def set_queue(self, length: int) -> None:
        """Note how many jobs wait for the writer."""
        self._cells[self._start + QUEUE] = length

    def set_connections(self, count: int) -> None:
        """Note how many connections are open."""
        self._cells[self._start + CONNECTIONS] = count

    def add_refusal(self, reason: str) -> None:
        """Count a refused connection."""
        if reason.startswith("too many connections from"):
            reason = REASONS[1]
        place = REASONS.index(reason) if reason in REASONS else len(REASONS) - 1
        self._cells[self._start + _REFUSED + place] += 1

    def add_request(self, kind: int, status: int, seconds: float | None) -> None:
        """Count an answered request; ``seconds`` is None for a stream of events, whose length says nothing."""
        cells, start = self._cells, self._start
        cells[start + _REQUESTS + kind * len(CLASSES) + min(max(status // 100, 1), 5) - 1] += 1
        if seconds is not None:
            first = start + _LATENCIES + kind * _PER_KIND
            cells[first + bisect_left(BOUNDS, seconds)] += 1
            cells[first + _BUCKETS] += int(seconds * 1e6)


class Totals:
    """The sums over all rows."""

    def __init__(self, cells: Sequence[int]) -> None:
        values = list(cells)
        self._sums = [sum(values[place::CELLS]) for place in range(CELLS)]

    @property
    def rounds(self) -> int:
        """Rounds that were committed."""
        return self._sums[ROUNDS]

    @property
    def queue(self) -> int:
        """Jobs that wait for a writer."""
        return self._sums[QUEUE]

    @property
    def connections(self) -> int:
        """Open connections."""
        return self._sums[CONNECTIONS]

    def refusals(self) -> dict[str, int]:
        """Return refused connections by reason."""
        return dict(zip(REASONS, self._sums[_REFUSED:_REQUESTS], strict=True))

    def requests(self) -> dict[tuple[str, str], int]:
        """Return answered requests by kind and class of status."""
        counts = iter(self._sums[_REQUESTS:_LATENCIES])
        return {(kind, status): next(counts) for kind in KINDS for status in CLASSES}

    def latencies(self, kind: str) -> tuple[list[int], float]:
        """Return the number of requests in each bucket, and the sum of their seconds."""
        first = _LATENCIES + KINDS.index(kind) * _PER_KIND
        return self._sums[first : first + _BUCKETS], self._sums[first + _BUCKETS] / 1e6


def shared_cells(rows: int) -> Any:
    """Return an array for that many processes, which can be given to those that this one starts."""
    return get_context("spawn").RawArray("q", rows * CELLS)


_current = Meter()


def current_meter() -> Meter:
    """Return the meter of this process."""
    return _current


def use_meter(meter: Meter) -> None:
    """Count into another row from now on; called before the server of this process is built."""
    global _current
    _current = meter
