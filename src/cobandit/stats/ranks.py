"""Wilcoxon's signed-rank test, exact also with ties and zeros."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.base.checks import one_of
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.samples import (
    Array,
    check_alternative,
    check_level,
    describe,
    library,
    pairs,
    rounding,
)

MOST_EXACT = 200
"""With more differences than this the normal approximation is used."""

_ZEROS = ("pratt", "wilcox")


def wilcoxon(
    x: ArrayLike,
    y: ArrayLike,
    *,
    name: str = "",
    alternative: str = "two-sided",
    zeros: str = "pratt",
    level: float = 0.95,
    labels: tuple[str, str] = ("x", "y"),
) -> Finding:
    """Wilcoxon's signed-rank test of x - y, one pair per participant.

    ``statistic`` W is the sum of the ranks of the positive differences. ``zeros`` says what becomes of differences of
    0: ``pratt`` ranks them with the others and then leaves their ranks out, ``wilcox`` leaves them out before ranking.
    The p-value is exact up to ``MOST_EXACT`` differences, given the ties there are: all signs are equally likely, and
    every sum of ranks is counted. Beyond, it is the normal approximation with continuity and tie corrections.

    ``effect`` is the matched-pairs rank-biserial correlation (W+ - W-) / (W+ + W-), positive when x is larger. Its
    interval is approximate: Fisher's z with the standard error that holds when there is no effect. ``estimate`` is the
    median difference. Differences that differ by rounding only count as ties.
    """
    check_alternative("alternative", alternative)
    check_level("level", level)
    one_of(_ZEROS, "way with zeros")("zeros", zeros)
    left, right, _, missing = pairs(x, y)
    difference = left - right
    row = Finding(
        name=name,
        test="Wilcoxon signed-rank",
        n=len(difference),
        statistic_name="W",
        alternative=alternative,
        estimate_name="median difference",
        estimate=float(np.median(difference)) if len(difference) else None,
        effect_name="rank-biserial correlation",
        level=level,
        groups=tuple(
            describe(sample, name=label, level=level) for sample, label in zip((left, right), labels, strict=True)
        ),
        note=missing,
    )
    doubled, positive, zero_count, tie_count = _signed_ranks(difference, rounding(left, right), zeros)
    if not len(doubled):
        empty = "Not tested: no participant has a value in both conditions."
        same = "Not tested: both conditions have the same value for all participants."
        return replace(row, note=sentences([missing, same if len(difference) else empty]))
    above, total = int(doubled[positive].sum()), int(doubled.sum())
    if len(doubled) <= MOST_EXACT:
        p, how = _exact(doubled, above, alternative), ""
    else:
        p, how = _approximate(doubled, above, alternative), "The p-value is the normal approximation."
    effect = (2 * above - total) / total
    notes = [missing, how]
    if zero_count:
        fate = "ranked but not counted" if zeros == "pratt" else "left out"
        notes.append(f"{zero_count} of {len(difference)} differences are 0 and {fate}.")
    low = high = None
    if abs(effect) < 1:
        se = math.sqrt(float((doubled.astype(np.float64) ** 2).sum())) / total
        reach = NormalDist().inv_cdf((1 + level) / 2) * se
        low, high = math.tanh(math.atanh(effect) - reach), math.tanh(math.atanh(effect) + reach)
    else:
        notes.append("All differences point the same way, so the effect has no interval.")
    return replace(
        row,
        statistic=above / 2,
        p=p,
        effect=effect,
        low=low,
        high=high,
        more={"w_positive": above / 2, "w_negative": (total - above) / 2, "zeros": zero_count, "tied": tie_count},
        note=sentences(notes),
    )


def _signed_ranks(difference: Array, slack: float, zeros: str) -> tuple[NDArray[np.int64], NDArray[np.bool_], int, int]:
    """Twice the ranks of the differences that are not 0 (whole also for ties), and which of them are positive."""
    size = np.abs(difference)
    nonzero = size > slack
    rows = np.ones(len(size), dtype=bool) if zeros == "pratt" else nonzero
    ranked, signs, counted = np.where(nonzero, size, 0.0)[rows], difference[rows] > 0, nonzero[rows]
    order = np.argsort(ranked, kind="stable")
    steps = np.diff(ranked[order]) > slack
    group = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)[: len(ranked)]
    ends = np.cumsum(np.bincount(group)) if len(ranked) else np.zeros(0, dtype=np.int64)
    starts = ends - np.bincount(group) + 1 if len(ranked) else ends
    doubled = np.empty(len(ranked), dtype=np.int64)
    doubled[order] = (starts + ends)[group]
    mine = doubled[counted]
    ties = np.unique(mine, return_counts=True)[1]
    return mine, signs[counted], int((~nonzero).sum()), int(ties[ties > 1].sum())


def _exact(doubled: NDArray[np.int64], above: int, alternative: str) -> float:
    """Return the p-value from the distribution of the sum of ranks when each sign is a fair coin."""
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for rank in doubled:
        chance *= 0.5
        chance[rank:] += chance[: len(chance) - rank].copy()
    less, greater = float(chance[: above + 1].sum()), float(chance[above:].sum())
    if alternative == "two-sided":
        return min(1.0, 2 * min(less, greater))
    return min(1.0, less if alternative == "less" else greater)


def _approximate(doubled: NDArray[np.int64], above: int, alternative: str) -> float:
    """Return the normal approximation, with half a rank of continuity correction."""
    ndtr = library("scipy.special").ndtr
    ranks = doubled / 2
    sd = math.sqrt(float((ranks**2).sum())) / 2
    distance = (above - int(doubled.sum()) / 2) / 2
    if alternative == "two-sided":
        return min(1.0, float(2 * ndtr(-max(abs(distance) - 0.5, 0.0) / sd)))
    return float(ndtr((distance + 0.5) / sd if alternative == "less" else -(distance - 0.5) / sd))
