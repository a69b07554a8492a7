"""Standardised effects with exact intervals: a t statistic's noncentrality is what the data say about the effect."""

from __future__ import annotations

import math

from cobandit.base.checks import real
from cobandit.stats.samples import check_level, library

MOST_T = 1e4
"""Beyond this the noncentral t distribution can no longer be computed."""


def hedges_correction(df: float) -> float:
    """Hedges' J(df): a standardised difference times J is free of small-sample bias (Hedges 1981, exact gamma form).

    The common 1 - 3 / (4 df - 1) approximates it. With one degree of freedom there is no unbiased estimate.
    """
    freedom = real(1.0, above=True)("df", df)
    return math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)) / math.sqrt(freedom / 2)


def noncentrality_interval(t: float, df: float, level: float = 0.95) -> tuple[float, float] | None:
    """Return the limits of the noncentrality that t came from, by inverting the noncentral t distribution.

    Divide by sqrt(n) for the limits of d_z, by sqrt(n1 * n2 / (n1 + n2)) for those of a two-sample d. None when t is
    too large for the distribution to be computed (``MOST_T``).
    """
    check_level("level", level)
    if abs(t) > MOST_T:
        return None
    # The probability of a smaller t falls as the noncentrality rises.
    low = _noncentrality(t, df, (1 + level) / 2)
    high = _noncentrality(t, df, (1 - level) / 2)
    return None if low is None or high is None else (low, high)


def _noncentrality(t: float, df: float, probability: float) -> float | None:
    """Return the noncentrality under which a smaller t has this probability; halving, because SciPy's inverse is
    coarse.
    """
    nctdtr = library("scipy.special").nctdtr

    def smaller(noncentrality: float) -> float:
        """Return the probability of a smaller t, which SciPy gives as NaN here and there in the far tails."""
        value = float(nctdtr(df, noncentrality, t))
        return float(noncentrality < t) if math.isnan(value) else value

    reach = 5.0 + abs(t)
    while not smaller(t - reach) >= probability >= smaller(t + reach):
        reach *= 2
        if reach > 100 * MOST_T:
            return None
    low, high = t - reach, t + reach
    while high - low > 1e-14 * max(1.0, abs(low), abs(high)):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if smaller(middle) > probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
