"""The optimistic Gittins index: the value of a cell for an agent that may return to it for H more rounds.

It is the l that solves l - m = H E[(theta - l)+] with theta from the posterior of the cell's mean and m its expectation
(Gutin and Farias, 2016, with one step of look-ahead). Plain arithmetic on numbers: the fast engine compiles these
functions, so both engines have the same bits. `math.lgamma` is not used because its bits differ there.
"""

from __future__ import annotations

import math
from typing import Any

INDICES = ("ucb", "gittins", "gittins-horizon")
UCB, GITTINS, GITTINS_HORIZON = range(3)

HALF_LOG_TWO_PI = 0.9189385332046727
SMALLEST = 1e-300
"""Stands for a denominator of zero in the continued fraction."""
HIGHEST = 1.0 - 1e-12
"""No index of a Beta posterior is taken to be higher."""
CLOSE = 1e-3
"""A step of Newton's method below which the index is taken: the next one would be of the order of its square."""


def log_gamma(x: float) -> float:
    """log Gamma(x) for x > 0, by Stirling's series from 8 on."""
    product = 1.0
    while x < 8.0:
        product *= x
        x += 1.0
    y = 1.0 / (x * x)
    series = 1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0)))
    return (x - 0.5) * math.log(x) - x + HALF_LOG_TWO_PI + series / x - math.log(product)


def beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz's method)."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > SMALLEST else SMALLEST)
    value = d
    for m in range(1, 500):
        for odd in range(2):
            if odd == 0:
                factor = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
            else:
                factor = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
            d = 1.0 + factor * d
            d = 1.0 / (d if abs(d) > SMALLEST else SMALLEST)
            c = 1.0 + factor / c
            c = c if abs(c) > SMALLEST else SMALLEST
            value *= d * c
        if abs(d * c - 1.0) < 1e-8:
            break
    return value


def beta_constant(a: float, b: float) -> float:
    """-log B(a, b)."""
    return log_gamma(a + b) - log_gamma(a) - log_gamma(b)


def tail_from(constant: float, a: float, b: float, x: float) -> tuple[float, float]:
    """Return the result of `beta_tail`, with the constant that is independent of x."""
    density = math.exp(constant + a * math.log(x) + b * math.log1p(-x))
    if x > (a + 1.0) / (a + b + 2.0):
        return density * beta_fraction(b, a, 1.0 - x) / b, density
    return 1.0 - density * beta_fraction(a, b, x) / a, density


def beta_tail(a: float, b: float, x: float) -> tuple[float, float]:
    """P(theta > x) for theta ~ Beta(a, b), and x^a (1 - x)^b / B(a, b), from which its neighbours' tails follow."""
    return tail_from(beta_constant(a, b), a, b, x)


def gittins_beta(a: float, b: float, rounds: float, start: float) -> float:
    """Return the index of a cell whose mean has the posterior Beta(a, b); ``start`` is a guess, 0 where there is
    none.
    """
    mean = a / (a + b)
    constant = beta_constant(a, b)
    level = start if start > mean else mean
    level = level if level < HIGHEST else HIGHEST
    for _ in range(60):
        above, density = tail_from(constant, a, b, level)
        excess = mean * (above + density / a) - level * above
        step = (level - mean - rounds * excess) / (1.0 + rounds * above)
        level -= step
        level = level if level < HIGHEST else HIGHEST
        level = level if level > mean else mean
        if abs(step) < CLOSE:
            break
    return level


def gittins_factor(rounds: float) -> float:
    """Return the index of a cell whose mean is standard normal; for other normal posteriors it is mean + factor
    * sd.
    """
    level = 0.0
    for _ in range(60):
        above = 0.5 * math.erfc(level / math.sqrt(2.0))
        excess = math.exp(-0.5 * level * level) / math.sqrt(2.0 * math.pi) - level * above
        step = (level - rounds * excess) / (1.0 + rounds * above)
        level -= step
        if abs(step) < CLOSE:
            break
    return level


def remaining_rounds(me: Any, t: int) -> int:
    """Return H of the Gittins index: T - t, or t if the horizon shall not matter, rounded to four binary digits.

    An index changes with the logarithm of H. With few digits, stored indices stay valid for several rounds.
    """
    rounds = me.horizon - t if me.index == GITTINS_HORIZON else t
    digits = max(math.frexp(rounds)[1] - 4, 0)
    return int(rounds >> digits << digits)


def beta_prior(low: float, high: float) -> tuple[float, float]:
    """Return the Beta distribution with the mean and the variance of Unif[low, high] in [0, 1]; (1, 1) for [0, 1]
    itself.
    """
    width = max(high - low, 1e-3)
    mean = min(max((low + high) / 2.0, 5e-4), 1.0 - 5e-4)
    weight = mean * (1.0 - mean) / (width * width / 12.0) - 1.0
    return mean * weight, (1.0 - mean) * weight
