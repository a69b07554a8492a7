"""The streamed summary beside the exact one, and that it does not matter how the rows come."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import cobandit as cb
from cobandit.stats import Moments, StreamedSummary, summarise, worth_streaming
from cobandit.stats.streaming import FEWEST_STREAMED, KEPT_VALUES, RELATIVE_ERROR, batch_rows, batches

CALM = settings(derandomize=True, deadline=None, database=None, max_examples=40)
SHARES = (0.0, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99, 1.0)

finite = st.one_of(st.just(0.0), st.floats(1e-9, 1e12), st.floats(-1e12, -1e-9), st.integers(-9, 9).map(float))
regrets = st.one_of(st.just(0.0), st.floats(1e-12, 1e12), st.integers(0, 50).map(lambda n: 0.2 * n))
tables = arrays.arrays(np.float64, st.tuples(st.integers(1, 70), st.integers(1, 3)), elements=finite)


def streamed(values: np.ndarray, first_row: int = 0) -> StreamedSummary:
    summary = StreamedSummary(values.shape[1])
    summary.add(first_row, values)
    return summary


def bits(summary: StreamedSummary) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in summary.to_arrays().items()}


def assert_close(summary: StreamedSummary, sample: np.ndarray) -> None:
    exact, ours = summarise(sample), summary.summary()
    np.testing.assert_allclose(ours.mean, exact.mean, rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(ours.se, exact.se, rtol=1e-9, atol=1e-300)  # NaN in both for a single row
    for share in SHARES:
        wanted, found = np.quantile(sample, share, axis=0), summary.quantile(share)
        np.testing.assert_allclose(found, wanted, rtol=RELATIVE_ERROR * (1 + 1e-9))
    np.testing.assert_array_equal(summary.least, sample.min(axis=0))
    np.testing.assert_array_equal(summary.most, sample.max(axis=0))


@pytest.mark.parametrize("means", ["fixed", "random"])
@pytest.mark.parametrize("team", ["partner-aware-ucb", "very-naive-ucb", "naive-ts"])
def test_the_products_own_heavy_tails(means: str, team: str) -> None:
    table = cb.local_optima(2) if means == "fixed" else "random"
    problem = cb.Problem.bernoulli(table, [1.0, 0.5], arms=(2, 2))
    result = cb.simulate(problem, cb.Team.of(team), 400, 9_000, 3, checkpoints=40)
    assert_close(streamed(result.task_regret), result.task_regret)


@pytest.mark.parametrize("columns", [1, 7])
def test_a_tail_without_variance(columns: int) -> None:
    rng = np.random.default_rng(5)
    assert_close(streamed(sample := rng.pareto(1.1, (200_000, columns))), sample)


def test_more_rows_than_one_batch_have() -> None:
    rows = 2 * batch_rows(3) + 17
    sample = np.random.default_rng(1).lognormal(2.0, 2.0, (rows, 3))
    assert_close(streamed(sample), sample)


@CALM
@given(arrays.arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 3)), elements=regrets))
def test_any_regrets(sample: np.ndarray) -> None:
    summary = streamed(sample)
    assert summary.count == len(sample)
    for share in SHARES:
        wanted, found = np.quantile(sample, share, axis=0), summary.quantile(share)
        np.testing.assert_allclose(found, wanted, rtol=RELATIVE_ERROR * (1 + 1e-9))
    exact = summarise(sample)
    np.testing.assert_allclose(summary.summary().mean, exact.mean, rtol=1e-9, atol=1e-300)


@CALM
@given(tables, st.integers(0, 2**32), st.data())
def test_the_pieces_and_their_order_leave_no_trace(sample: np.ndarray, first_row: int, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(sample)), max_size=6))
    edges = sorted({0, len(sample), *cuts})
    pieces = [streamed(sample[a:b], first_row + a) for a, b in itertools.pairwise(edges)]
    whole = bits(streamed(sample, first_row))
    merged = StreamedSummary(sample.shape[1])
    for piece in data.draw(st.permutations(pieces)):
        merged.merge(piece)
    assert bits(merged) == whole
    added = StreamedSummary(sample.shape[1])
    for a, b in data.draw(st.permutations(list(itertools.pairwise(edges)))):
        added.add(first_row + a, sample[a:b])
    assert bits(added) == whole
    assert bits(StreamedSummary.from_arrays(merged.to_arrays())) == whole
    assert StreamedSummary.from_arrays(merged.to_arrays()).summary() == merged.summary()


@pytest.mark.parametrize("columns", [1, 2, 100])
def test_pieces_that_cross_batches(columns: int) -> None:
    size = batch_rows(columns)
    sample = np.random.default_rng(2).pareto(1.5, (2 * size + 1_000, columns))
    whole = bits(streamed(sample))
    for step in (500, size - 1, size + 3):
        pieces = StreamedSummary(columns)
        for start in range(0, len(sample), step):
            pieces.add(start, sample[start : start + step])
        assert bits(pieces) == whole


@CALM
@given(tables)
def test_numbers_below_zero_are_ranked_too(sample: np.ndarray) -> None:
    summary = streamed(sample)
    for rank, share in ((0, 0.0), (len(sample) - 1, 1.0)):
        np.testing.assert_allclose(summary.quantile(share), np.sort(sample, axis=0)[rank], rtol=RELATIVE_ERROR)
    low, high, counts = summary.histogram()
    assert (low[1:] >= high[:-1]).all()
    np.testing.assert_array_equal(counts.sum(axis=1), len(sample))
    for column in range(sample.shape[1]):
        for bin in np.flatnonzero(counts[column]):
            a, b = low[bin], high[bin]
            if a == b == 0.0:
                inside = sample[:, column] == 0.0
            else:
                inside = (sample[:, column] >= a) & (sample[:, column] < b)
                inside = inside if a >= 0.0 else (sample[:, column] > a) & (sample[:, column] <= b)
            assert counts[column, bin] == inside.sum()


def test_zeros_and_the_smallest_numbers() -> None:
    sample = np.array([[0.0], [-0.0], [5e-324], [2.2e-308], [1e-300], [3.0]])
    summary = streamed(sample)
    assert summary.quantile(0.0) == [0.0]
    assert summary.quantile(0.2) == [0.0]
    assert summary.quantile(0.8) == pytest.approx(1e-300, rel=RELATIVE_ERROR)
    assert summary.quantile(1.0) == [3.0]
    assert summary.summary().mean.tolist() == [pytest.approx(0.5)]


def test_a_constant_is_told_exactly() -> None:
    summary = streamed(np.full((1_000, 2), 12.3)).summary()
    assert all(values == [12.3, 12.3] for name, values in summary.to_dict().items() if name != "se")
    assert summary.se.tolist() == [0.0, 0.0]


def test_a_single_row_has_no_standard_error() -> None:
    assert streamed(np.array([[4.0, 0.0]])).summary().to_dict() == summarise(np.array([[4.0, 0.0]])).to_dict()
    assert math.isnan(_moments(np.array([[4.0]])).columns_apart()[0].se)


def _moments(sample: np.ndarray) -> Moments:
    moments = Moments(sample.shape[1])
    moments.add(0, sample)
    return moments


def test_moments_far_from_zero_keep_their_digits() -> None:
    sample = 1e9 + np.random.default_rng(3).standard_normal((10_000, 1))
    moment = _moments(sample).columns_apart()[0]
    assert moment.count == 10_000
    assert moment.mean == pytest.approx(sample.mean(), rel=1e-15)
    assert moment.se == pytest.approx(sample.std(ddof=1) / 100, rel=1e-6)


def test_memory_does_not_grow_with_rows() -> None:
    rng = np.random.default_rng(0)
    summary = StreamedSummary(100)
    sizes = []
    for k in range(8):
        summary.add(k * 5_000, np.clip(rng.pareto(1.2, (5_000, 100)), 1e-3, 1e4))
        sizes.append(sum(array.nbytes for array in summary.to_arrays().values()))
    assert max(sizes) < 2_500_000
    assert sizes[-1] < 1.1 * sizes[0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[1.0, np.nan]]), "no number from -1e"),
        (np.array([[1.0, np.inf]]), "no number from -1e"),
        (np.array([[1.0, 1e200]]), "no number from -1e"),
        (np.array([1.0, 2.0]), r"shape \(2,\); rows of 2 numbers"),
        (np.ones((3, 4)), r"shape \(3, 4\); rows of 2 numbers"),
    ],
)
def test_what_cannot_be_summarised_changes_nothing(values: np.ndarray, message: str) -> None:
    summary = streamed(np.ones((3, 2)))
    before = bits(summary)
    with pytest.raises(cb.InvalidInput, match=message):
        summary.add(3, values)
    assert bits(summary) == before


def test_rows_count_once() -> None:
    summary = streamed(np.ones((10, 2)), 100)
    before = bits(summary)
    for first_row, rows in ((100, 1), (95, 6), (109, 5), (90, 40)):
        with pytest.raises(cb.InvalidInput, match="was added before; each row counts once"):
            summary.add(first_row, np.ones((rows, 2)))
        with pytest.raises(cb.InvalidInput, match="was added before"):
            summary.merge(streamed(np.ones((rows, 2)), first_row))
    assert bits(summary) == before


def test_bad_questions() -> None:
    with pytest.raises(cb.InvalidInput, match=r"columns must be .*got 0"):
        StreamedSummary(0)
    with pytest.raises(cb.InvalidInput, match="no rows yet"):
        StreamedSummary(2).summary()
    with pytest.raises(cb.InvalidInput, match=r"share must be .*got 1\.5"):
        streamed(np.ones((2, 2))).quantile(1.5)
    with pytest.raises(cb.InvalidInput, match=r"first_row must be .*got -1"):
        StreamedSummary(1).add(-1, np.ones((1, 1)))
    with pytest.raises(cb.InvalidInput, match="3 columns cannot be merged into 2"):
        StreamedSummary(2).merge(StreamedSummary(3))


def test_what_is_worth_streaming() -> None:
    assert not worth_streaming(KEPT_VALUES // 100, 100)
    assert worth_streaming(KEPT_VALUES // 100 + 1, 100)
    assert not worth_streaming(FEWEST_STREAMED, 1_000_000)
    assert worth_streaming(1_000_000, 100)


@CALM
@given(st.integers(0, 100), st.integers(0, 300), st.sampled_from([1, 7, 64]))
def test_batches_are_cut_at_multiples(first: int, count: int, size: int) -> None:
    cut = list(batches(range(first, first + count), size))
    assert [row for piece in cut for row in piece] == list(range(first, first + count))
    assert all(len(piece) <= size and piece.start // size == (piece.stop - 1) // size for piece in cut)
