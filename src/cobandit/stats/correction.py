"""Several tests that answer one question: Holm's correction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from cobandit.base.checks import real
from cobandit.stats.finding import Finding, sentences


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's step-down correction, in the order given.

    None (a test that could not be made) stays None and does not count as one of the tests.
    """
    check = real(0.0, 1.0)
    known = [(i, check(f"p_values[{i}]", p)) for i, p in enumerate(p_values) if p is not None]
    adjusted: list[float | None] = [None] * len(p_values)
    if known:
        places, values = zip(*known, strict=True)
        order = np.argsort(values, kind="stable")
        stepped = np.array(values)[order] * np.arange(len(values), 0, -1)
        for place, value in zip(order, np.minimum(np.maximum.accumulate(stepped), 1.0), strict=True):
            adjusted[places[place]] = float(value)
    return tuple(adjusted)


def adjusted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The same rows with ``p_adjusted`` filled, all of them taken as tests of one question."""
    rows = tuple(findings)
    values = holm([row.p for row in rows])
    counted = sum(value is not None for value in values)
    untested = len(rows) - counted
    note = f"Holm's correction counts {counted} tests; {untested} could not be made." if untested and counted else ""
    return tuple(
        replace(row, p_adjusted=value, note=sentences([row.note, note]))
        for row, value in zip(rows, values, strict=True)
    )
