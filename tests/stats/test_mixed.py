"""The variance ratio of the mixed model is the exact root of the REML score."""

from __future__ import annotations

import numpy as np
import pytest

from cobandit.stats import mixed


def _data(seed):
    rng = np.random.default_rng(seed)
    groups = np.unique(np.repeat(np.arange(12), 4)[rng.random(48) < 0.9], return_inverse=True)[1]
    term = rng.normal(size=len(groups))
    y = rng.normal(size=12)[groups] + 0.3 * term + rng.normal(size=len(groups))
    levels = (groups[:, np.newaxis] == np.arange(groups.max() + 1)).astype(float)
    return (y - y.mean()) / y.std(), np.column_stack([np.ones(len(y)), term]), groups, levels


def _reml_slope(y, design, levels, ratio):
    """Return the slope of the profiled REML likelihood, from dense matrices (Searle, Casella & McCulloch, ch. 6)."""
    within = levels @ levels.T
    inverse = np.linalg.inv(np.eye(len(y)) + ratio * within)
    projected = inverse - inverse @ design @ np.linalg.inv(design.T @ inverse @ design) @ design.T @ inverse
    explained = (len(y) - design.shape[1]) * (y @ projected @ within @ projected @ y) / (y @ projected @ y)
    return float(explained - np.trace(projected @ within)) / 2


@pytest.mark.parametrize("seed", range(5))
def test_the_slope_of_the_likelihood_is_zero_at_the_ratio(seed) -> None:
    y, design, groups, levels = _data(seed)
    ratio, trouble = mixed._variance_ratio(y, design, groups, levels)
    assert trouble == ""
    assert ratio is not None
    assert abs(_reml_slope(y, design, levels, ratio)) < 1e-11
    assert abs(_reml_slope(y, design, levels, ratio * (1 + 1e-7))) > 1e-9


@pytest.mark.parametrize("error", [-5e-4, -1e-8, 1e-6, 5e-4])
def test_the_ratio_is_independent_of_where_the_search_stopped(error) -> None:
    y, design, groups, levels = _data(0)
    ratio, _ = mixed._variance_ratio(y, design, groups, levels)
    assert ratio is not None
    assert mixed._polished_ratio(y, design, levels, ratio * (1 + error)) == pytest.approx(ratio, rel=1e-12)
