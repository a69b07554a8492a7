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
