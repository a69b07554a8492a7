"""Intervals for means, differences and ratios over runs, made for heavy tails: resampled, not assumed normal."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from cobandit.stats.streaming import Moment

RESAMPLES = 2_000
MOST_RESAMPLED = 20_000
"""With more rows than this the mean of even a heavy tail is close to normal, and resampling would only cost time."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the limits of its confidence interval."""

    value: float
    low: float
    high: float

    def within(self, low: float, high: float) -> bool:
        """Return whether the whole interval lies between two numbers."""
        return low <= self.low and self.high <= high


def mean_interval(sample: NDArray[np.float64], level: float, seed: int) -> Interval:
    """Return the mean of a sample; for paired data hand in the differences."""
    value = float(sample.mean())
    if len(sample) < 2:
        return Interval(value, -math.inf, math.inf)
    if len(sample) > MOST_RESAMPLED:
        reach = _quantile(level) * float(sample.std(ddof=1)) / math.sqrt(len(sample))
        return Interval(value, value - reach, value + reach)
    means = _resampled_means(sample[:, np.newaxis], seed)[:, 0]
    return Interval(value, *_limits(means, level))


def ratio_interval(above: NDArray[np.float64], below: NDArray[np.float64], level: float, seed: int) -> Interval:
    """Return the ratio of the means of two paired samples."""
    top, bottom = float(above.mean()), float(below.mean())
    if bottom <= 0.0:
        return Interval(math.nan, -math.inf, math.inf)
    value = top / bottom
    if len(above) < 2:
        return Interval(value, -math.inf, math.inf)
    if len(above) > MOST_RESAMPLED:
        spread = float((above - value * below).std(ddof=1))
        reach = _quantile(level) * spread / math.sqrt(len(above)) / bottom
        return Interval(value, value - reach, value + reach)
    means = _resampled_means(np.column_stack([above, below]), seed)
    fine = means[:, 1] > 0.0
    return Interval(value, *_limits(means[fine, 0] / means[fine, 1], level))


def streamed_mean_interval(sample: Moment, level: float) -> Interval:
    """Return the result of `mean_interval` for many rows, from their moments alone."""
    if sample.count < 2:
        return Interval(sample.mean, -math.inf, math.inf)
    reach = _quantile(level) * sample.se
    return Interval(sample.mean, sample.mean - reach, sample.mean + reach)


def streamed_ratio_interval(above: Moment, below: Moment, difference: Moment, level: float) -> Interval:
    """Return the result of `ratio_interval` for many rows, from the moments of two paired samples and of their
    difference.
    """
    if below.mean <= 0.0:
        return Interval(math.nan, -math.inf, math.inf)
    value = above.mean / below.mean
    if above.count < 2:
        return Interval(value, -math.inf, math.inf)
    # Squared deviations of above - value * below; their products follow from those of the difference.
    products = 0.5 * (above.squares + below.squares - difference.squares)
    squares = max(0.0, above.squares - 2.0 * value * products + value * value * below.squares)
    reach = _quantile(level) * Moment(above.count, 0.0, squares).se / below.mean
    return Interval(value, value - reach, value + reach)


def _quantile(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _limits(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _resampled_means(columns: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return the means of many samples of rows, drawn with replacement."""
    rng = np.random.default_rng(seed)
    rows = len(columns)
    means = np.empty((RESAMPLES, columns.shape[1]))
    batch = max(1, 4_000_000 // rows)
    for start in range(0, RESAMPLES, batch):
        size = min(batch, RESAMPLES - start)
        picks = rng.integers(0, rows, (size, rows))
        for k in range(columns.shape[1]):
            means[start : start + size, k] = columns[:, k][picks].mean(axis=1)
    return means


class Resamples:
    """Draws with replacement from the same rows for many columns: what is paired by row stays paired in every draw.

    Means take one product of matrices for all columns together; medians are slower, and take the first `FOR_MEDIANS`
    draws alone.
    """

    FOR_MEDIANS = 400

    def __init__(self, rows: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        times = min(RESAMPLES, max(self.FOR_MEDIANS, 8_000_000 // rows))
        self.rows = rows
        self.counts = np.empty((times, rows))
        for draw in range(times):
            self.counts[draw] = np.bincount(rng.integers(0, rows, rows), minlength=rows)

    def means(self, sample: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean of each draw; with a matrix, of each of its columns."""
        return np.asarray(self.counts @ sample / self.rows)

    def medians(self, sample: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the median of each draw of one column."""
        order = np.argsort(sample, kind="stable")
        ranks = np.cumsum(self.counts[: self.FOR_MEDIANS, order], axis=1)
        ordered = sample[order]
        lower = ordered[(ranks < (self.rows + 1) // 2).sum(axis=1)]
        upper = ordered[(ranks < self.rows // 2 + 1).sum(axis=1)]
        return np.asarray((lower + upper) / 2.0)

    def interval(self, value: float, drawn: NDArray[np.float64], level: float) -> Interval:
        """Return an estimate with the limits that its draws give; without limits where they say nothing."""
        fine = drawn[np.isfinite(drawn)]
        if self.rows < 2 or not math.isfinite(value) or len(fine) < len(drawn) / 2:
            return Interval(value, -math.inf, math.inf)
        return Interval(value, *_limits(fine, level))
