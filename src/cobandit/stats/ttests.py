"""The t tests: the same people under two conditions, and two groups of people."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from cobandit.stats.effects import hedges_correction, noncentrality_interval
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.samples import (
    Array,
    check_alternative,
    check_level,
    constant,
    describe,
    left_out,
    library,
    measures,
    pairs,
    rounding,
    short_number,
)

_UNKNOWN_INTERVAL = "The effect is too large for an exact interval."
_NO_CORRECTION = "Too few values to correct the effect for its small-sample bias."


def paired_t(
    x: ArrayLike,
    y: ArrayLike,
    *,
    name: str = "",
    alternative: str = "two-sided",
    level: float = 0.95,
    labels: tuple[str, str] = ("x", "y"),
) -> Finding:
    """Return the paired t test of x - y, one pair per participant.

    ``estimate`` is the mean difference with its t interval. ``effect`` is d_z, the mean difference over the standard
    deviation of the differences, with the exact interval from the noncentral t distribution. ``more`` holds
    ``hedges_g``, which here is g_z = J(n - 1) d_z, d_z freed of its small-sample bias, and its limits, those of d_z
    times J(n - 1).
    """
    check_alternative("alternative", alternative)
    check_level("level", level)
    left, right, _, missing = pairs(x, y)
    difference = left - right
    n = len(difference)
    groups = tuple(
        describe(sample, name=label, level=level) for sample, label in zip((left, right), labels, strict=True)
    )
    row = Finding(
        name=name,
        test="paired t",
        n=n,
        statistic_name="t",
        alternative=alternative,
        estimate_name="mean difference",
        estimate=float(difference.mean()) if n else None,
        effect_name="d_z",
        level=level,
        groups=groups,
        note=missing,
    )
    reason = no_difference_test(difference, rounding(left, right))
    if reason:
        return replace(row, note=sentences([missing, reason]))
    stats = library("scipy.stats")
    tested = stats.ttest_1samp(difference, 0.0)
    interval = tested.confidence_interval(level)
    t, df = float(tested.statistic), n - 1
    d_z = t / math.sqrt(n)
    limits = noncentrality_interval(t, df, level)
    low, high = (None, None) if limits is None else (limit / math.sqrt(n) for limit in limits)
    j = hedges_correction(df) if df > 1 else None
    return replace(
        row,
        statistic=t,
        df=(df,),
        p=float(stats.ttest_1samp(difference, 0.0, alternative=alternative).pvalue),
        estimate_low=float(interval.low),
        estimate_high=float(interval.high),
        effect=d_z,
        low=low,
        high=high,
        more=_corrected(d_z, low, high, j),
        note=sentences([missing, _UNKNOWN_INTERVAL if limits is None else "", _NO_CORRECTION if j is None else ""]),
    )


def welch_t(
    x: ArrayLike,
    y: ArrayLike,
    *,
    name: str = "",
    alternative: str = "two-sided",
    level: float = 0.95,
    labels: tuple[str, str] = ("x", "y"),
) -> Finding:
    """Welch's t test between two groups of people; the groups may differ in size and in spread.

    ``estimate`` is the difference of the means with Welch's interval. ``effect`` is Hedges' g = J(n1 + n2 - 2) d, where
    d is the difference over the pooled standard deviation (``more["cohen_d"]``), with the exact interval from the
    noncentral t distribution. The test needs no equal spread, g and its interval do; where one standard deviation is
    more than twice the other, the note says so.
    """
    row = Finding(name=name, test="Welch t", n=0, statistic_name="t", alternative=alternative, level=level)
    return _between_groups(row, x, y, labels, pooled=False)


def student_t(
    x: ArrayLike,
    y: ArrayLike,
    *,
    name: str = "",
    alternative: str = "two-sided",
    level: float = 0.95,
    labels: tuple[str, str] = ("x", "y"),
) -> Finding:
    """Student's two-sample t test between two groups of people of equal spread (the paper's, for AI researchers).

    As `welch_t` gives it, but with the pooled variance and n1 + n2 - 2 degrees of freedom; where one standard deviation
    is more than twice the other, the note says so, and Welch's test is the one to trust.
    """
    row = Finding(name=name, test="Student t", n=0, statistic_name="t", alternative=alternative, level=level)
    return _between_groups(row, x, y, labels, pooled=True)


def _between_groups(row: Finding, x: ArrayLike, y: ArrayLike, labels: tuple[str, str], *, pooled: bool) -> Finding:
    """Return a t test between two groups; ``row`` has its name, alternative and level."""
    alternative, level = row.alternative, row.level
    check_alternative("alternative", alternative)
    check_level("level", level)
    samples: list[Array] = []
    notes: list[str] = []
    for values, label, argument in zip((x, y), labels, ("x", "y"), strict=True):
        everybody = measures(argument, values)
        known = everybody[~np.isnan(everybody)]
        notes.append(left_out(len(everybody) - len(known), len(everybody), "no value", f"in {label}"))
        samples.append(known)
    left, right = samples
    sizes = len(left), len(right)
    row = replace(
        row,
        n=sum(sizes),
        estimate_name="difference of means",
        estimate=float(left.mean() - right.mean()) if min(sizes) else None,
        effect_name="Hedges g",
        groups=tuple(describe(sample, name=label, level=level) for sample, label in zip(samples, labels, strict=True)),
        note=sentences(notes),
    )
    small = [f"{size} in {label}" for size, label in zip(sizes, labels, strict=True) if size < 2]
    if small:
        reason = f"Not tested: each group needs at least two people with a value; there are {' and '.join(small)}."
        return replace(row, note=sentences([*notes, reason]))
    slack = rounding(left, right)
    flat = [constant(sample, slack) for sample in samples]
    if all(flat):
        reason = "Not tested: within each group all values are the same, so there is no spread to test against."
        return replace(row, note=sentences([*notes, reason]))
    notes += [f"All values in {label} are the same." for label, same in zip(labels, flat, strict=True) if same]
    stats = library("scipy.stats")
    # SciPy squares variances, and warns of a constant group unless it is 0: scale the values to about 1, by a power of
    # two because that is exact, and shift such a group to 0.
    scale = math.ldexp(1.0, math.frexp(max(float(np.abs(sample).max()) for sample in samples))[1])
    origin = next((float(sample.mean()) for sample, same in zip(samples, flat, strict=True) if same), 0.0)
    scaled = [
        np.zeros(len(sample)) if same else (sample - origin) / scale for sample, same in zip(samples, flat, strict=True)
    ]
    tested = stats.ttest_ind(*scaled, equal_var=pooled)
    interval = tested.confidence_interval(level)
    within = sum(sizes) - 2
    weight = math.sqrt(sizes[0] * sizes[1] / sum(sizes))
    d = float(stats.ttest_ind(*scaled).statistic) / weight
    limits = noncentrality_interval(d * weight, within, level)
    low, high = (None, None) if limits is None else (limit / weight for limit in limits)
    g = _corrected(d, low, high, hedges_correction(within))
    spreads = sorted(float(sample.std(ddof=1)) for sample in scaled)
    if not any(flat) and spreads[1] > 2 * spreads[0]:
        ratio = short_number(spreads[1] / spreads[0])
        assumes = "Student's test and Hedges' g assume" if pooled else "Hedges' g assumes"
        notes.append(f"One standard deviation is {ratio} times the other; {assumes} equal ones.")
    return replace(
        row,
        statistic=float(tested.statistic),
        df=(float(tested.df),),
        p=float(stats.ttest_ind(*scaled, equal_var=pooled, alternative=alternative).pvalue),
        estimate_low=float(interval.low) * scale,
        estimate_high=float(interval.high) * scale,
        effect=g["hedges_g"],
        low=g["hedges_g_low"],
        high=g["hedges_g_high"],
        more={"cohen_d": d},
        note=sentences([*notes, _UNKNOWN_INTERVAL if limits is None else ""]),
    )


def no_difference_test(difference: Array, slack: float) -> str:
    """Return why these paired differences cannot be tested; empty when they can."""
    n = len(difference)
    if n == 0:
        return "Not tested: no participant has a value in both conditions."
    if n == 1:
        return "Not tested: one participant has values in both conditions, and at least two are needed."
    if constant(difference, slack):
        mean = float(difference.mean())
        if abs(mean) <= slack:
            return "Not tested: both conditions have the same value for all participants."
        return (
            f"Not tested: all differences are the same ({short_number(mean)}), so there is no spread to test against."
        )
    return ""


def _corrected(d: float, low: float | None, high: float | None, j: float | None) -> dict[str, float | None]:
    values = {"hedges_g": d, "hedges_g_low": low, "hedges_g_high": high}
    return {name: None if j is None or value is None else j * value for name, value in values.items()}
