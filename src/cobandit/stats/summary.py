"""Mean, standard error, median and quantiles over runs: tails are heavy, so a mean never stands alone."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Summary:
    """One list per statistic, one entry per column of the sample."""

    mean: list[float]
    se: list[float | None]
    median: list[float]
    q10: list[float]
    q90: list[float]

    def scaled(self, factor: float) -> Summary:
        """The summary of the same sample with every number ``factor`` times as large."""

        def times(values: list[float]) -> list[float]:
            return [factor * value for value in values]

        se = [None if error is None else abs(factor) * error for error in self.se]
        low, high = (self.q10, self.q90) if factor >= 0.0 else (self.q90, self.q10)
        return Summary(times(self.mean), se, times(self.median), times(low), times(high))

    def to_dict(self) -> dict[str, list[float]]:
        """Plain lists by name."""
        return asdict(self)


def summarise(sample: NDArray[np.float64]) -> Summary:
    """Statistics of each column; the standard error of a single row is unknown, hence None."""
    rows = len(sample)
    mean = sample.mean(axis=0)
    if rows > 1:
        se: list[float | None] = (sample.std(axis=0, ddof=1) / math.sqrt(rows)).tolist()
    else:
        se = [None] * sample.shape[1]
    median, q10, q90 = np.quantile(sample, [0.5, 0.1, 0.9], axis=0)
    return Summary(mean.tolist(), se, median.tolist(), q10.tolist(), q90.tolist())
