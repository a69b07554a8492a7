"""Measures of a study: checked, with missing values counted and reported."""

from __future__ import annotations

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.base.checks import numeric, one_of, real
from cobandit.base.errors import InvalidInput, MissingExtra, short_repr
from cobandit.stats.finding import Description

Array = NDArray[np.float64]

ALTERNATIVES = ("two-sided", "less", "greater")
LARGEST = 1e100
"""No measure is larger; beyond it, squares could not be computed."""

ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Smallest relative spread that counts as a spread; below some 20 eps SciPy warns that a t test is unreliable."""

check_alternative = one_of(ALTERNATIVES, "alternative")
check_level = real(0.0, 1.0, above=True, below=True)


def library(module: str, purpose: str = "Testing the data of a study") -> Any:
    """Return a module of SciPy or statsmodels, imported when first needed: both are heavy, and both are optional."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra("stats", purpose) from None


def measures(name: str, values: ArrayLike, ndim: int | Sequence[int] = 1) -> Array:
    """Return an array of measures; missing values (NaN or infinity) become NaN."""
    wanted = (ndim,) if isinstance(ndim, int) else tuple(ndim)
    needed = f"an array of {' or '.join(map(str, wanted))} dimension(s), of numbers, with NaN where one is missing,"
    array = numeric(name, values, needed)
    if array.ndim not in wanted:
        raise InvalidInput(f"{name} has {array.ndim} dimension(s); {needed} is needed.")
    array[~np.isfinite(array)] = np.nan
    if array.size and np.any(np.abs(array) > LARGEST):
        raise InvalidInput(
            f"{name} holds {short_repr(float(np.nanmax(np.abs(array))))}; at most {LARGEST:g} is needed."
        )
    return array


def pairs(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array, NDArray[np.bool_], str]:
    """Return both measures of all participants who have both, a mask of them, and a sentence about the others."""
    left, right = measures("x", x), measures("y", y)
    if len(left) != len(right):
        raise InvalidInput(f"x has {len(left)} values and y has {len(right)}; one of each per participant is needed.")
    complete = ~(np.isnan(left) | np.isnan(right))
    missing = len(complete) - int(complete.sum())
    return left[complete], right[complete], complete, left_out(missing, len(complete), "no value in one condition")


def left_out(missing: int, total: int, why: str, what: str = "participants") -> str:
    """Return the sentence about excluded participants; empty if there are none."""
    return f"{missing} of {total} {what} left out: {why}." if missing else ""


def rounding(*arrays: Array) -> float:
    """Return the rounding error of sums or differences of these measures."""
    scale = max((float(np.abs(array).max()) for array in arrays if array.size), default=0.0)
    return max(ROUNDING * scale, 1e-100)


def constant(values: Array, slack: float) -> bool:
    """Return whether all values are the same, up to rounding."""
    return values.size == 0 or float(values.max() - values.min()) <= slack


def short_number(value: float) -> str:
    """Return a number as a note shows it."""
    return f"{value:.4g}" if math.isfinite(value) else "none"


def t_reach(df: float, level: float) -> float:
    """Return how many standard errors a two-sided t interval reaches to either side."""
    return float(library("scipy.special").stdtrit(df, (1 + level) / 2))


def describe(values: ArrayLike, *, name: str = "", level: float = 0.95) -> Description:
    """Return a sample in a few numbers: mean with its t interval, median, standard deviation, standard error."""
    check_level("level", level)
    everything = measures("values", values)
    known = everything[~np.isnan(everything)]
    n = len(known)
    note = left_out(len(everything) - n, len(everything), "missing", "values")
    if n == 0:
        return Description(name=name, n=0, level=level, note=note or "No values.")
    mean, median = float(known.mean()), float(np.median(known))
    if n == 1:
        note = f"{note} A single value has no spread.".strip()
        return Description(name=name, n=1, mean=mean, median=median, level=level, note=note)
    sd = 0.0 if constant(known, 0.0) else float(known.std(ddof=1))
    se = sd / math.sqrt(n)
    reach = t_reach(n - 1, level) * se
    return Description(
        name=name,
        n=n,
        mean=mean,
        median=median,
        sd=sd,
        se=se,
        low=mean - reach,
        high=mean + reach,
        level=level,
        note=note,
    )
