"""Several tests that answer one question: Holm's correction.

The formula is written out because statsmodels' ``multipletests`` corrects one study at a time and collects garbage in
every call, which takes about 0.1 s; a power analysis corrects thousands of studies.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import real
from cobandit.stats.finding import Finding, sentences


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's step-down correction, in the order given.

    None (a test that could not be made) stays None and does not count as one of the tests.
    """
    check = real(0.0, 1.0)
    known = {i: check(f"p_values[{i}]", p) for i, p in enumerate(p_values) if p is not None}
    corrected = holm_p_values(np.array(list(known.values()))[:, np.newaxis], len(known))[:, 0].tolist()
    by_place = dict(zip(known, corrected, strict=True))
    return tuple(by_place.get(i) for i in range(len(p_values)))


def holm_p_values(p_values: NDArray[np.float64], tests: int) -> NDArray[np.float64]:
    """Holm's correction of each study (tests x studies); tests of the family that are not there count with p = 1."""
    order = np.argsort(p_values, axis=0, kind="stable")
    factors = np.arange(tests, tests - len(p_values), -1)[:, np.newaxis]
    stepped = np.maximum.accumulate(np.take_along_axis(p_values, order, axis=0) * factors, axis=0)
    corrected = np.empty_like(p_values)
    np.put_along_axis(corrected, order, np.minimum(stepped, 1.0), axis=0)
    return corrected


def adjusted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the same rows with ``p_adjusted`` filled, all of them taken as tests of one question."""
    rows = tuple(findings)
    values = holm([row.p for row in rows])
    counted = sum(value is not None for value in values)
    untested = len(rows) - counted
    note = f"Holm's correction counts {counted} tests; {untested} could not be made." if untested and counted else ""
    return tuple(
        replace(row, p_adjusted=value, note=sentences([row.note, note]))
        for row, value in zip(rows, values, strict=True)
    )
