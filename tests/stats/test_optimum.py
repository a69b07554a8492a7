"""Minima within bounds, curvature, and the probability of the best sample."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from cobandit.stats.best_sample import best_group_probabilities
from cobandit.stats.optimum import covariance_of, curvature, minimise, one_blas_thread, starting_points

BOWL = np.array([[3.0, 1.0], [1.0, 2.0]])


def bowl(points):
    off = points - np.array([0.5, -0.25])
    return 0.5 * np.einsum("ij,jk,ik->i", off, BOWL, off)


def test_a_bowl_and_its_curvature():
    bounds = np.array([[-2.0, 2.0], [-2.0, 2.0]])
    best = minimise(bowl, bounds, starting_points(bowl, bounds, 4, 3))
    np.testing.assert_allclose(best.point, [0.5, -0.25], atol=1e-6)
    assert (best.starts, best.found, best.converged) == (3, 3, True)
    assert not best.at_bound.any()
    np.testing.assert_allclose(curvature(bowl, best.point), BOWL, atol=1e-6)


def test_a_minimum_on_the_bound_is_marked():
    bounds = np.array([[1.0, 2.0], [-2.0, 2.0]])
    best = minimise(bowl, bounds, np.array([[1.5, 0.0]]))
    assert best.at_bound.tolist() == [True, False]
    np.testing.assert_allclose(best.point, [1.0, -0.5], atol=1e-6)  # where the slope along the second axis is 0


def test_the_lowest_of_several_minima_is_found():
    def waves(points):
        return np.cos(3.0 * points[:, 0]) + 0.1 * points[:, 0]

    bounds = np.array([[-4.0, 4.0]])
    best = minimise(waves, bounds, starting_points(waves, bounds, 24, 4))
    x = np.linspace(-4, 4, 200_001)
    assert best.value == pytest.approx(waves(x[:, np.newaxis]).min(), abs=1e-8)
    assert 1 <= best.found < best.starts


def test_starts_are_no_neighbours():
    bounds = np.array([[-2.0, 2.0], [-2.0, 2.0]])
    starts = starting_points(bowl, bounds, 5, 4)
    gaps = np.abs(starts[:, np.newaxis] - starts).max(axis=2)[~np.eye(len(starts), dtype=bool)]
    assert gaps.min() > 4.0 / 5 * 1.5


def test_covariance_of_information():
    every = np.array([True, True])
    whole, part = covariance_of(BOWL, every), covariance_of(BOWL, np.array([True, False]))
    assert whole is not None
    assert part is not None
    np.testing.assert_allclose(whole, np.linalg.inv(BOWL))
    np.testing.assert_allclose(part, [[1 / 3]])
    for flat in (np.zeros((2, 2)), -BOWL, np.array([[1.0, 1.0], [1.0, 1.0]]), np.full((2, 2), np.nan)):
        assert covariance_of(flat, every) is None
    assert covariance_of(BOWL, ~every) is None


def test_one_thread_and_back():
    from threadpoolctl import threadpool_info

    def threads():
        return {entry["filepath"]: entry["num_threads"] for entry in threadpool_info() if entry["user_api"] == "blas"}

    import scipy.optimize  # noqa: F401

    before = threads()
    with one_blas_thread():
        assert set(threads().values()) == {1}
    assert threads() == before


@pytest.mark.parametrize("count", [0, 3, 40, 1500])
def test_best_samples_by_quadrature(count):
    rng = np.random.default_rng(count)
    totals = rng.integers(0, count + 1, (1, 2, 3))
    ones = rng.binomial(totals, 0.6)
    shares = best_group_probabilities(ones.astype(float), (totals - ones).astype(float))
    parts = [stats.beta(1 + a, 1 + n - a) for a, n in zip(ones.ravel(), totals.ravel(), strict=True)]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(0, 1, 201)
    half = np.diff(edges)[:, None] / 2
    x = edges[:-1, None] + half * (1 + nodes)
    below = [part.cdf(x) for part in parts]
    density = sum(parts[i].pdf(x) * np.prod([below[j] for j in range(6) if j != i], axis=0) for i in range(3))
    first = (density * weights * half).sum()
    np.testing.assert_allclose(shares[0], [first, 1 - first], atol=1e-9)
