"""How likely a standoff is: the exponent kappa of Theorem A', and the share of runs that are held at T.

A standoff: the leader waits in a row for a cell that the follower no longer plays. With probability T^(-kappa + o(1))
what both have seen of some cell makes the leader hope and the follower decline, and then R(T) is of the order of
T^(1 - kappa) (the upper half is proved in docs/discussion/theorem-1-proofs.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import real
from cobandit.problem import Problem
from cobandit.theory.corrected import Constants
from cobandit.theory.table import Table, check_horizon, check_problem, leaders_of

Floats = NDArray[np.float64]

_POINTS = 401
_ZOOMS = 4


def standoff_exponent(problem: Problem, exploration: float = 2.0, follower_exploration: float | None = None) -> float:
    """Return kappa: the regret of Partner-Aware UCB is at most of the order of log T + T^(1 - kappa).

    The setting is that of Theorem 1 (L = 2 or 1, W = 1, delta = 1/T^2) with these exploration constants. Above 1 the
    regret is logarithmic; 0 means that a standoff is the rule. Infinite if no cell can cause a standoff. Where
    the roles are drawn at random: the smaller one of both leaders.
    """
    constants = _check(problem, exploration, follower_exploration)
    tables = [Table.of(problem, leader) for leader in leaders_of(problem)]
    return min(float(cell_exponents(table, constants).min()) for table in tables)


def standoff_probability(
    problem: Problem, horizon: int, exploration: float = 2.0, follower_exploration: float | None = None
) -> float:
    """Return the predicted share of runs in which a standoff holds the team at T.

    The prediction is 1 - prod (1 - Phi(-sqrt(2 kappa_a log T))) over the cells a: moderate deviations of one
    normal variable per cell, independent cells. It is no theorem; measured frequencies are in the documentation.
    A cell with kappa_a = 0 counts as a certain standoff, unless the best row attracts the leader more.
    """
    constants = _check(problem, exploration, follower_exploration)
    t = check_horizon("horizon", horizon)
    tables = [Table.of(problem, leader) for leader in leaders_of(problem)]
    return sum(_held(table, constants, t) for table in tables) / len(tables)


@np.errstate(all="ignore")
def cell_exponents(table: Table, constants: Constants) -> Floats:
    """Return kappa of each cell, in the shape of the table; infinite where no standoff can arise."""
    alpha, beta = math.sqrt(2.0 * constants.leader), math.sqrt(2.0 * constants.follower)
    p, q = table.sees
    exponents = np.full(table.means.shape, math.inf)
    tops = table.means.max(axis=1, keepdims=True)
    row_tops = np.broadcast_to(tops, table.means.shape)
    cells = table.other_rows & ~table.row_best & (row_tops < tops.max())
    means, row_tops = table.means[cells], row_tops[cells]
    if means.size:
        distinct, places = np.unique(np.stack([means, row_tops]), axis=1, return_inverse=True)
        means, row_tops = distinct[:, :, np.newaxis]
        leader_level = p * float(tops.max())

        def rate(y: Floats) -> Floats:
            chernoff = quadrant_exponent(leader_level - alpha * y, q * row_tops - beta * y, means, p, q)
            return np.nan_to_num(chernoff / y**2, nan=math.inf, posinf=math.inf)

        values = _least(rate, q * row_tops / beta)
        # Both agents' expectations agree on a standoff: the infimum is 0 and attained at any y between these two.
        in_mean = (leader_level - p * means[:, 0]) / alpha <= q * (row_tops[:, 0] - means[:, 0]) / beta
        exponents[cells] = np.where(in_mean & (q > 0.0), 0.0, values)[places.ravel()]
    return exponents


def quadrant_exponent(high: Floats, low: Floats, mean: Floats, p: float, q: float) -> Floats:
    """Return the Chernoff exponent of {mean of X^L >= high, mean of X^F <= low} (Jc of Theorem A').

    It is the least divergence from the law of (X^L, X^F) among the laws whose expectations lie in the quadrant. If
    one constraint is slack, only the other variable is tilted. If both are tight, a single number is free, the
    probability r of (1, 1); the optimum keeps the odds ratio, which makes r the root of a quadratic equation.
    """
    high, low, mean = np.broadcast_arrays(high, low, mean)
    both, leader_only, follower_only = mean * p * q, mean * p * (1.0 - q), mean * (1.0 - p) * q
    neither = 1.0 - both - leader_only - follower_only
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        tilted = np.minimum(low, q * mean)
        reached = p * tilted + (1.0 - tilted) * leader_only / (1.0 - q * mean)
        answered = q * high + (1.0 - high) * follower_only / (1.0 - p * mean)
        ratio = both * neither / (leader_only * follower_only)
        surplus = 1.0 + (high + low) * (ratio - 1.0)
        root = np.sqrt(np.maximum(surplus**2 - 4.0 * ratio * (ratio - 1.0) * high * low, 0.0))
        joint = np.where(np.isfinite(ratio), 2.0 * ratio * high * low / (surplus + root), np.minimum(high, low))
        tight = (
            _divergence(joint, both)
            + _divergence(high - joint, leader_only)
            + _divergence(low - joint, follower_only)
            + _divergence(1.0 - high - low + joint, neither)
        )
        follower_alone = _divergence(tilted, q * mean) + _divergence(1.0 - tilted, 1.0 - q * mean)
        leader_alone = _divergence(high, p * mean) + _divergence(1.0 - high, 1.0 - p * mean)
    values = np.where((high >= p * mean) & (low >= answered), leader_alone, tight)
    values = np.where(high <= reached, follower_alone, values)
    values = np.where((low < 0.0) | (high > 1.0), math.inf, values)
    return np.maximum(values, 0.0)


def _divergence(x: Floats, y: Floats) -> Floats:
    """Return x log(x / y): 0 for x = 0, infinite where x > 0 = y."""
    x = np.where(np.abs(x) < 1e-15, 0.0, x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > 0.0, x * np.log(x / y), np.where(x < 0.0, math.inf, 0.0))


def _least(rate: object, limits: Floats) -> Floats:
    """Return the least value of a function of y on (0, limit], for each row: a grid that closes in on the minimum."""
    assert callable(rate)
    grid = np.linspace(0.0, 1.0, _POINTS)
    low, high = np.zeros(limits.shape), limits
    for _ in range(_ZOOMS):
        y = low + (high - low) * grid
        values = rate(y)
        place = values.argmin(axis=1, keepdims=True)
        low = np.take_along_axis(y, np.maximum(place - 1, 0), axis=1)
        high = np.take_along_axis(y, np.minimum(place + 1, _POINTS - 1), axis=1)
    return np.asarray(np.take_along_axis(values, place, axis=1)[:, 0])


def _held(table: Table, constants: Constants, horizon: int) -> float:
    exponents = cell_exponents(table, constants)
    if (exponents == 0.0).any() and _attraction(table, constants, exponents == 0.0) > _attraction(
        table, constants, ~table.other_rows
    ):
        return 1.0
    positive = exponents[(exponents > 0.0) & np.isfinite(exponents)]
    free = [1.0 - 0.5 * math.erfc(math.sqrt(kappa * math.log(horizon))) for kappa in positive.ravel().tolist()]
    return 1.0 - math.prod(free)


def _attraction(table: Table, constants: Constants, cells: NDArray[np.bool_]) -> float:
    """Return the leader's largest index, without noise, of cells that the follower has just stopped playing."""
    p, q = table.sees
    ratio = math.sqrt(constants.leader / constants.follower)
    return float((p * table.means + ratio * q * table.row_gaps)[cells].max())


def _check(problem: Problem, exploration: float, follower_exploration: float | None) -> Constants:
    check_problem(problem)
    leader = real(0.0, above=True)("exploration", exploration)
    if follower_exploration is None:
        return Constants(leader, leader)
    return Constants(leader, real(0.0, above=True)("follower_exploration", follower_exploration))
