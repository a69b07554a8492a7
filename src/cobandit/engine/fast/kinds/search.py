"""Which of several values wins, as `agents.beliefs.best` decides it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.engine.fast.random import compiled, inlined, uniform


@compiled
def tied(values: Any, count: int, top: float, streams: Any, row: int) -> int:
    """Return which of the first ``count`` values that equal ``top`` wins at random; no draw where there is but one."""
    equals = 0
    first = -1
    for k in range(count):
        if values[k] == top:
            if equals == 0:
                first = k
            equals += 1
    if equals == 1:
        return first
    pick = np.int64(uniform(streams, row) * equals)
    for k in range(count):
        if values[k] == top:
            if pick == 0:
                return k
            pick -= 1
    return first


@inlined
def best_of(values: Any, count: int, random_ties: int, streams: Any, row: int) -> Any:
    """Return the position of the largest of the first ``count`` values."""
    at = 0
    top = values[0]
    for k in range(1, count):
        if values[k] > top:
            top = values[k]
            at = k
    return tied(values, count, top, streams, row) if random_ties == 1 else at
