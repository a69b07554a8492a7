"""The intervals cover what they should, about as often as they say."""

import numpy as np
import pytest

from cobandit.stats import (
    Moment,
    Moments,
    mean_interval,
    ratio_interval,
    streamed_mean_interval,
    streamed_ratio_interval,
)


def test_the_mean_is_covered_as_often_as_promised() -> None:
    rng = np.random.default_rng(3)
    hits = 0
    for trial in range(200):
        interval = mean_interval(rng.exponential(5.0, 150), 0.95, seed=trial)
        hits += interval.low <= 5.0 <= interval.high
    # 95 % of 200 is 190; a binomial count leaves 178 to 199 in all but one case in ten thousand.
    assert 178 <= hits <= 199


def test_the_ratio_is_covered_as_often_as_promised() -> None:
    rng = np.random.default_rng(4)
    hits = 0
    for trial in range(200):
        below = rng.gamma(4.0, 1.0, 150)
        above = 1.5 * below + rng.standard_normal(150)
        interval = ratio_interval(above, below, 0.95, seed=trial)
        hits += interval.low <= 1.5 <= interval.high
    assert 178 <= hits <= 199


def test_the_normal_interval_agrees_with_the_resampled_one(monkeypatch: pytest.MonkeyPatch) -> None:
    from cobandit.stats import bootstrap

    sample = np.random.default_rng(5).gamma(2.0, 1.0, 5000)
    resampled = mean_interval(sample, 0.95, 0), ratio_interval(sample, sample[::-1].copy(), 0.95, 0)
    monkeypatch.setattr(bootstrap, "MOST_RESAMPLED", 10)
    normal = mean_interval(sample, 0.95, 0), ratio_interval(sample, sample[::-1].copy(), 0.95, 0)
    for a, b in zip(resampled, normal, strict=True):
        assert a.value == b.value
        assert a.low == pytest.approx(b.low, abs=0.1 * (b.high - b.low))
        assert a.high == pytest.approx(b.high, abs=0.1 * (b.high - b.low))


def test_small_and_odd_samples() -> None:
    assert mean_interval(np.array([3.0]), 0.95, 0).low == -np.inf
    assert ratio_interval(np.zeros(5), np.zeros(5), 0.95, 0).high == np.inf
    assert mean_interval(np.full(9, 2.0), 0.95, 0).within(2.0, 2.0)


def test_intervals_from_moments_are_those_of_the_rows() -> None:
    rng = np.random.default_rng(6)
    below = rng.pareto(2.5, 30_000) + 1.0
    above = 1.7 * below + rng.pareto(2.2, 30_000)
    moments = Moments(3)
    moments.add(0, np.column_stack([above, below, above - below]))
    first, second, difference = moments.columns_apart()
    for rows, streamed in (
        (mean_interval(above, 0.95, 0), streamed_mean_interval(first, 0.95)),
        (ratio_interval(above, below, 0.95, 0), streamed_ratio_interval(first, second, difference, 0.95)),
    ):
        for side in ("value", "low", "high"):
            assert getattr(streamed, side) == pytest.approx(getattr(rows, side), rel=1e-10)


def test_moments_of_small_and_odd_samples() -> None:
    one, none = Moment(1, 3.0, 0.0), Moment(5, 0.0, 0.0)
    assert streamed_mean_interval(one, 0.95).low == -np.inf
    assert streamed_ratio_interval(one, one, Moment(1, 0.0, 0.0), 0.95).high == np.inf
    assert streamed_ratio_interval(none, none, none, 0.95).high == np.inf
    assert streamed_mean_interval(Moment(9, 2.0, 0.0), 0.95).within(2.0, 2.0)
