"""P-values of whole arrays of simulated studies, and confidence intervals of shares of studies.

The formulas are written out because importing ``scipy.stats`` makes a power analysis a third slower.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from cobandit.base.checks import whole
from cobandit.base.errors import InvalidInput
from cobandit.stats.bootstrap import Interval
from cobandit.stats.samples import Array, check_alternative, check_level, library, measures


def paired_t_p_values(differences: ArrayLike, alternative: str = "two-sided") -> Array:
    """Return the p-value of the paired t test of each row of differences (studies x participants).

    A study whose differences are equal cannot be tested; it has not shown anything, and its p-value is 1.
    """
    check_alternative("alternative", alternative)
    sample = _studies("differences", differences)
    n = sample.shape[1]
    se = sample.std(axis=1, ddof=1) / math.sqrt(n)
    return _p_values(sample.mean(axis=1), se, np.full(len(sample), n - 1.0), _flat(sample), alternative)


def two_sample_p_values(
    x: ArrayLike, y: ArrayLike, alternative: str = "two-sided", *, equal_spreads: bool = False
) -> Array:
    """Return the p-value of the t test between two groups in each study (studies x people of the group).

    Welch's test, or Student's with ``equal_spreads``. NaN marks people who are missing in a study. A study without two
    people in each group, or without any spread, has not shown anything: its p-value is 1.
    """
    check_alternative("alternative", alternative)
    parts = [_moments(measures(name, values, 2)) for name, values in (("x", x), ("y", y))]
    (n, mean, squares), (m, other, rest) = parts
    enough = (n >= 2) & (m >= 2)
    n, m = np.where(enough, n, 2.0), np.where(enough, m, 2.0)
    flat = ~enough | (squares + rest <= 1e-24 * np.maximum(mean**2, other**2)) | (squares + rest <= 1e-200)
    safe = np.where(flat, 1.0, squares), np.where(flat, 1.0, rest)
    if equal_spreads:
        df = n + m - 2
        se = np.sqrt((safe[0] + safe[1]) / df * (1 / n + 1 / m))
    else:
        a, b = safe[0] / (n - 1) / n, safe[1] / (m - 1) / m
        df = (a + b) ** 2 / (a**2 / (n - 1) + b**2 / (m - 1))
        se = np.sqrt(a + b)
    return _p_values(mean - other, se, df, flat, alternative)


def _moments(sample: Array) -> tuple[Array, Array, Array]:
    """Return number, mean and sum of squared deviations of the known values of each row."""
    known = ~np.isnan(sample)
    count = known.sum(axis=1).astype(np.float64)
    mean = np.where(known, sample, 0.0).sum(axis=1) / np.maximum(count, 1.0)
    squares = np.where(known, (sample - mean[:, np.newaxis]) ** 2, 0.0).sum(axis=1)
    return count, mean, squares


def wilson_interval(successes: int, trials: int, level: float = 0.95) -> Interval:
    """Return a share with Wilson's score interval, which keeps within 0 and 1 and works for small counts, too."""
    check_level("level", level)
    n = whole(1)("trials", trials)
    hits = whole(0, n)("successes", successes)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = hits / n
    middle = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    # At the ends the limit is the share itself, which rounding would miss.
    low = 0.0 if hits == 0 else middle - reach
    high = 1.0 if hits == n else middle + reach
    return Interval(share, low, high)


def _studies(name: str, values: ArrayLike) -> Array:
    sample = measures(name, values, 2)
    if np.isnan(sample).any():
        raise InvalidInput(f"{name} must have a number for each participant in every study, got missing values.")
    if sample.shape[1] < 2:
        raise InvalidInput(f"{name} has {sample.shape[1]} people per study; at least 2 are needed.")
    return sample


def _flat(sample: Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    slack = 16 * np.finfo(np.float64).eps * np.abs(sample).max(axis=1)
    flat: np.ndarray[tuple[int], np.dtype[np.bool_]] = sample.max(axis=1) - sample.min(axis=1) <= np.maximum(
        slack, 1e-100
    )
    return flat


def _p_values(
    mean: Array, se: Array, df: Array, flat: np.ndarray[tuple[int], np.dtype[np.bool_]], alternative: str
) -> Array:
    special = library("scipy.special")
    t = np.divide(mean, se, out=np.zeros_like(mean), where=~flat)
    if alternative == "two-sided":
        p = 2 * special.stdtr(df, -np.abs(t))
    else:
        p = special.stdtr(df, t if alternative == "less" else -t)
    return np.asarray(np.where(flat, 1.0, p), dtype=np.float64)
