"""Minima of smooth functions within bounds, from several starts, and their curvature.

Functions take many points in one call, so that a gradient by central differences costs one call.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

Objective = Callable[[Array], Array]
"""A function of points (count x dimensions) that returns their values (count)."""

STEP = 1e-4
"""Step of the differences in a gradient."""

CURVATURE_STEP = 1e-3
"""Step of the differences in a matrix of second derivatives."""

NEAR_BOUND = 1e-3
"""A coordinate that is this near to a bound, as a share of its range, lies on it."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep SciPy's linear algebra on one thread within the context.

    L-BFGS-B factorises tiny matrices. On several threads each of them waits a millisecond for the others, so that many
    small problems take ten times as long.
    """
    import scipy.optimize  # noqa: F401  (limits hold only for libraries that are loaded)
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


@dataclass(frozen=True, eq=False)
class Optimum:
    """The lowest of the minima: where it is, its value, which coordinates lie on a bound, and how many starts found it.

    ``found`` counts the starts whose minimum is within .01 of the lowest one; ``converged`` is false where the search
    of the lowest one stopped early.
    """

    point: Array
    value: float
    at_bound: NDArray[np.bool_]
    starts: int
    found: int
    converged: bool


def minimise(objective: Objective, bounds: Array, starts: Array) -> Optimum:
    """Return the lowest minimum that L-BFGS-B finds from each of the starts (count x dimensions)."""
    from scipy.optimize import minimize

    low, high = bounds[:, 0], bounds[:, 1]
    steps = np.eye(len(bounds)) * STEP

    def value_and_gradient(point: Array) -> tuple[float, Array]:
        ahead, behind = np.minimum(point + steps, high), np.maximum(point - steps, low)
        values = objective(np.vstack([point[np.newaxis], ahead, behind]))
        ahead_values, behind_values = values[1 : 1 + len(steps)], values[1 + len(steps) :]
        return float(values[0]), (ahead_values - behind_values) / np.diagonal(ahead - behind)

    results = [
        minimize(
            value_and_gradient,
            np.clip(start, low, high),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-12, "gtol": 1e-6, "maxiter": 200},
        )
        for start in starts
    ]
    lowest = min(results, key=lambda result: float(result.fun))
    point = np.asarray(lowest.x, dtype=np.float64)
    near = NEAR_BOUND * (high - low)
    return Optimum(
        point,
        float(lowest.fun),
        (point - low < near) | (high - point < near),
        len(results),
        sum(bool(result.fun - lowest.fun < 0.01) for result in results),
        # A status of 2 is a line search that rounding errors end at the minimum.
        lowest.status in (0, 2),
    )


def starting_points(objective: Objective, bounds: Array, per_axis: int, count: int) -> Array:
    """Return the ``count`` best points of a grid within the bounds, no two of them neighbours."""
    shares = (np.arange(per_axis) + 0.5) / per_axis
    places = np.array(list(itertools.product(range(per_axis), repeat=len(bounds))))
    points = bounds[:, 0] + shares[places] * (bounds[:, 1] - bounds[:, 0])
    values = objective(points)
    chosen: list[int] = []
    for place in np.argsort(values, kind="stable").tolist():
        if all(np.abs(places[place] - places[other]).max() > 1 for other in chosen):
            chosen.append(place)
        if len(chosen) == count:
            break
    return np.asarray(points[chosen])


def curvature(objective: Objective, point: Array) -> Array:
    """Return the matrix of second derivatives by central differences."""
    size = len(point)
    steps = np.eye(size) * CURVATURE_STEP
    pairs = list(itertools.combinations(range(size), 2))
    points = [point, *(point + steps), *(point - steps)]
    for i, j in pairs:
        points += [point + a * steps[i] + b * steps[j] for a in (1, -1) for b in (1, -1)]
    values = objective(np.array(points))
    second = (values[1 : 1 + size] - 2.0 * values[0] + values[1 + size : 1 + 2 * size]) / CURVATURE_STEP**2
    matrix = np.diag(second)
    for place, (i, j) in enumerate(pairs):
        both, first, other, none = values[1 + 2 * size + 4 * place : 5 + 2 * size + 4 * place]
        matrix[i, j] = matrix[j, i] = (both - first - other + none) / (4.0 * CURVATURE_STEP**2)
    return matrix


def covariance_of(information: Array, free: NDArray[np.bool_]) -> Array | None:
    """Return the inverse of an information matrix over its free coordinates; None if it is not positive definite."""
    part = information[np.ix_(free, free)]
    if not part.size:
        return None
    values = np.linalg.eigvalsh(part) if np.isfinite(part).all() else np.array([-1.0])
    if values[0] <= 1e-6 * max(values[-1], 1.0):
        return None
    return np.asarray(np.linalg.inv(part))
