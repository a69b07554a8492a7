"""Statistics of a sample that is never in memory as a whole: rows are added in pieces, and only a summary is stored.

There are two parts. Both are independent of how the rows were cut into pieces and of the order of the pieces:

- `Moments`: count, mean and sum of squared deviations. Floating-point sums depend on their order, so the order is
  fixed: row r is a leaf of one binary tree over all row numbers, and two halves of a tree are joined (Chan, Golub and
  LeVeque 1983) as soon as both are complete.
- `StreamedSummary`: these, the extremes, and a histogram whose bins are the leading bits of the numbers themselves: 128
  bins between a power of two and the next. A quantile read from it is within 0.4 % of the exact one.

Memory depends on the number of columns and on the spread of the values, not on the number of rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import InvalidInput
from cobandit.stats.summary import Summary

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]

KEPT_VALUES = 4_000_000
"""Up to this many numbers (32 MB), a sample is stored as a whole and its statistics are exact."""

FEWEST_STREAMED = 5_000
"""With fewer rows the histograms of a sample would be larger than the sample."""

RELATIVE_ERROR = 1 / 256
"""By how much a quantile may be off: half a bin, which is a 128th wide at most."""

LARGEST = 1e150
"""Numbers beyond this are refused: their squares would be no numbers any more."""

_SHIFT = 45
"""The bits of a double below a bin: 52 of the fraction, except its first seven."""

_BATCH = 1 << 19
"""Numbers looked at in one go: a few arrays of 4 MB."""


def worth_streaming(rows: int, columns: int) -> bool:
    """Return whether a sample of this shape is summarised piece by piece, unless it was asked for as a whole."""
    return rows * columns > KEPT_VALUES and rows > FEWEST_STREAMED


def batch_rows(columns: int) -> int:
    """Return the rows of one piece of work: a power of two, so that pieces are whole branches of the tree of rows."""
    return int(1 << min(14, max(6, (_BATCH // columns).bit_length() - 1)))


def batches(rows: range, size: int) -> Iterator[range]:
    """Consecutive numbers, cut at the multiples of ``size``."""
    start = rows.start
    while start < rows.stop:
        stop = min(rows.stop, (start // size + 1) * size)
        yield range(start, stop)
        start = stop


@dataclass(frozen=True)
class Moment:
    """Count, mean and sum of squared deviations from it, of one column."""

    count: int
    mean: float
    squares: float

    @property
    def se(self) -> float:
        """The standard error of the mean; not a number for a single row."""
        return math.sqrt(self.squares / (self.count - 1) / self.count) if self.count > 1 else math.nan


class Moments:
    """Count, mean and sum of squared deviations of each column, from numbered rows in any pieces.

    The bits of the result depend only on the rows. The object stores the largest complete branches of the tree of rows:
    a dozen for a million consecutive rows.
    """

    def __init__(self, columns: int) -> None:
        self.columns = columns
        # (height, place): a branch over the rows from place * 2**height on, 2**height of them.
        self._branches: dict[tuple[int, int], tuple[Numbers, Numbers]] = {}

    @property
    def count(self) -> int:
        """How many rows were added."""
        return sum(1 << height for height, _ in self._branches)

    def add(self, first_row: int, values: Numbers) -> None:
        """Add consecutive rows, of which the first has this number."""
        self._refuse_twice([(first_row, first_row + len(values))])
        mean, squares = values, np.zeros((0, self.columns))
        height, place = 0, first_row
        while len(mean):
            # A branch whose sibling is not among these waits for it; the others are joined two by two.
            odd = place & 1
            pairs = (len(mean) - odd) // 2
            if odd:
                self._keep(height, place, mean[0], squares[0] if height else np.zeros(self.columns))
            if odd + 2 * pairs < len(mean):
                self._keep(height, place + len(mean) - 1, mean[-1], squares[-1] if height else np.zeros(self.columns))
            left, right = mean[odd : odd + 2 * pairs : 2], mean[odd + 1 : odd + 2 * pairs : 2]
            gap = right - left
            joined = gap * gap
            joined *= 0.5 * (1 << height)
            if height:
                joined += squares[odd : odd + 2 * pairs : 2] + squares[odd + 1 : odd + 2 * pairs : 2]
            gap *= 0.5
            gap += left
            mean, squares = gap, joined
            height, place = height + 1, (place + odd) // 2

    def merge(self, other: Moments) -> None:
        """Add all rows of another sample; no row may be in both."""
        if other.columns != self.columns:
            raise InvalidInput(f"{other.columns} columns cannot be merged into {self.columns}.")
        self._refuse_twice([_rows_of(*branch) for branch in other._branches])
        for (height, place), (mean, squares) in other._branches.items():
            self._keep(height, place, mean, squares)

    def total(self) -> tuple[int, Numbers, Numbers]:
        """Count, mean and sum of squared deviations of all rows: the branches joined in the order of rows."""
        count, mean, squares = 0, np.zeros(self.columns), np.zeros(self.columns)
        for height, place in sorted(self._branches, key=lambda branch: _rows_of(*branch)):
            more, (its_mean, its_squares) = 1 << height, self._branches[height, place]
            gap = its_mean - mean
            if count == 0:
                mean, squares = its_mean.copy(), its_squares.copy()
            else:
                mean = mean + gap * (more / (count + more))
                squares = squares + its_squares + gap * gap * (count * (more / (count + more)))
            count += more
        return count, mean, squares

    def columns_apart(self) -> list[Moment]:
        """Return each column by itself."""
        count, mean, squares = self.total()
        return [Moment(count, *both) for both in zip(mean.tolist(), squares.tolist(), strict=True)]

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Plain arrays, one row for each branch."""
        order = sorted(self._branches, key=lambda branch: _rows_of(*branch))
        shape = (len(order), self.columns)
        return {
            "branch": np.array(order, dtype=np.int64).reshape(len(order), 2),
            "mean": np.array([self._branches[branch][0] for branch in order]).reshape(shape),
            "squares": np.array([self._branches[branch][1] for branch in order]).reshape(shape),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Moments:
        """Create the moments from the result of `to_arrays`."""
        mean, squares = arrays["mean"], arrays["squares"]
        moments = cls(mean.shape[1])
        for k, (height, place) in enumerate(arrays["branch"].tolist()):
            moments._branches[height, place] = (mean[k].copy(), squares[k].copy())
        return moments

    def _keep(self, height: int, place: int, mean: Numbers, squares: Numbers) -> None:
        """Keep a branch; with its sibling it makes a larger one."""
        while (sibling := self._branches.pop((height, place ^ 1), None)) is not None:
            left, right = (sibling, (mean, squares)) if place & 1 else ((mean, squares), sibling)
            gap = right[0] - left[0]
            # The same operations in the same order as for many branches together.
            squares = gap * gap * (0.5 * (1 << height)) + (left[1] + right[1])
            mean = gap * 0.5 + left[0]
            height, place = height + 1, place >> 1
        # Copied if it is a row of the caller's array: otherwise the array would stay in memory, or could change later.
        self._branches[height, place] = (np.array(mean), np.array(squares))

    def _refuse_twice(self, spans: list[tuple[int, int]]) -> None:
        for first, last in (_rows_of(*branch) for branch in self._branches):
            for start, stop in spans:
                if start < last and first < stop:
                    raise InvalidInput(f"Row {max(start, first)} was added before; each row counts once.")


def _rows_of(height: int, place: int) -> tuple[int, int]:
    """Return the rows of a branch: the first, and the one after the last."""
    return place << height, (place + 1) << height


class _Bins:
    """How many of the numbers above 0 fall into each bin, column by column; only bins in use have a place."""

    def __init__(self, columns: int) -> None:
        self.first = 0
        self.counts: Counts = np.zeros((columns, 0), dtype=np.int64)

    def add(self, keys: Counts, first: int, width: int) -> None:
        """Count bins: ``keys`` has a row for each row of the sample, relative to ``first``; below 0 is no bin."""
        columns = len(self.counts)
        # One place more for each column, at its front, takes what is in no bin.
        keys += 1
        np.maximum(keys, 0, out=keys)
        keys += np.arange(columns) * (width + 1)
        counts = np.bincount(keys.ravel(), minlength=columns * (width + 1)).reshape(columns, width + 1)
        self.merge(first, counts[:, 1:])

    def merge(self, first: int, counts: Counts) -> None:
        """Add counts of the bins from ``first`` on."""
        width = counts.shape[1]
        if width == 0:
            return
        if self.counts.shape[1] == 0:
            self.first = first
        low = min(self.first, first)
        high = max(self.first + self.counts.shape[1], first + width)
        if high - low > self.counts.shape[1]:
            wider = np.zeros((len(self.counts), high - low), dtype=np.int64)
            wider[:, self.first - low : self.first - low + self.counts.shape[1]] = self.counts
            self.first, self.counts = low, wider
        self.counts[:, first - self.first : first - self.first + width] += counts

    def edges(self) -> Numbers:
        """Return the lower limit of each bin, and the upper limit of the last one."""
        keys = np.arange(self.first, self.first + self.counts.shape[1] + 1, dtype=np.int64)
        return (keys << _SHIFT).view(np.float64)

    def trimmed(self) -> tuple[int, Counts]:
        """Return the first bin in use and the counts from there to the last one in use."""
        used = np.flatnonzero(self.counts.any(axis=0))
        if len(used) == 0:
            return 0, self.counts[:, :0]
        return self.first + int(used[0]), self.counts[:, used[0] : used[-1] + 1]


class StreamedSummary:
    """Mean, standard error and quantiles of each column of a sample, from numbered rows in any pieces.

    Count, mean, standard error and extremes are those of the whole sample up to rounding; quantiles are within 0.4 %
    (`RELATIVE_ERROR`). Equal rows give equal bits, however they were cut into pieces.
    """

    def __init__(self, columns: int) -> None:
        if columns < 1:
            raise InvalidInput(f"columns must be at least 1, got {columns}.")
        self.columns = columns
        self._moments = Moments(columns)
        self._least = np.full(columns, np.inf)
        self._most = np.full(columns, -np.inf)
        self._zeros: Counts = np.zeros(columns, dtype=np.int64)
        self._above, self._below = _Bins(columns), _Bins(columns)

    @property
    def count(self) -> int:
        """How many rows were added."""
        return self._moments.count

    @property
    def least(self) -> Numbers:
        """The smallest number of each column."""
        return self._least.copy()

    @property
    def most(self) -> Numbers:
        """The largest number of each column."""
        return self._most.copy()

    def add(self, first_row: int, values: Numbers) -> None:
        """Add consecutive rows, of which the first has this number; a row counts once."""
        array = np.asarray(values, dtype=np.float64)
        if array.ndim != 2 or array.shape[1] != self.columns:
            raise InvalidInput(f"values has the shape {array.shape}; rows of {self.columns} numbers are needed.")
        if first_row < 0:
            raise InvalidInput(f"first_row must be an integer of at least 0, got {first_row}.")
        if not (np.abs(array) <= LARGEST).all():  # nor is a NaN
            raise InvalidInput(
                f"values holds what is no number from -{LARGEST:g} to {LARGEST:g}; it cannot be summarised."
            )
        size = batch_rows(self.columns)
        self._moments._refuse_twice([(first_row, first_row + len(array))])
        for rows in batches(range(first_row, first_row + len(array)), size):
            self._add_batch(rows.start, array[rows.start - first_row : rows.stop - first_row])

    def _add_batch(self, first_row: int, values: Numbers) -> None:
        self._moments.add(first_row, values)
        least, most = values.min(axis=0), values.max(axis=0)
        np.minimum(self._least, least, out=self._least)
        np.maximum(self._most, most, out=self._most)
        if most.max() > 0.0:
            self._count_bins(self._above, values, float(most.max()))
        if least.min() < 0.0:
            self._count_bins(self._below, -values, -float(least.min()))
        if least.min() <= 0.0:
            self._zeros += np.count_nonzero(values == 0.0, axis=0)

    @staticmethod
    def _count_bins(bins: _Bins, values: Numbers, most: float) -> None:
        """Count the numbers above 0 among these."""
        above = values > 0.0
        least = float(values.min(initial=most, where=above))
        first, last = _key(least), _key(most)
        # The bits of a double above 0, read as an integer, are in the order of the doubles; the key of anything
        # else is made too small to count.
        keys = np.ascontiguousarray(values).view(np.int64) >> _SHIFT
        keys -= first
        if not above.all():
            keys[~above] = -1
        bins.add(keys, first, last - first + 1)

    def merge(self, other: StreamedSummary) -> None:
        """Add all rows of another sample; no row may be in both. In whatever order: the bits are the same."""
        self._moments.merge(other._moments)
        np.minimum(self._least, other._least, out=self._least)
        np.maximum(self._most, other._most, out=self._most)
        self._zeros += other._zeros
        self._above.merge(other._above.first, other._above.counts)
        self._below.merge(other._below.first, other._below.counts)

    def quantile(self, share: float) -> Numbers:
        """Return the quantile of this share of the rows for each column, interpolated as in NumPy."""
        if not 0.0 <= share <= 1.0:
            raise InvalidInput(f"share must be a number from 0 to 1, got {share!r}.")
        count = self._counted()
        place = share * (count - 1)
        before = math.floor(place)
        centres, cumulative = self._distribution()
        low, high = (self._ranked(rank, centres, cumulative) for rank in (before, min(before + 1, count - 1)))
        return low + (high - low) * (place - before)

    def histogram(self) -> tuple[Numbers, Numbers, Counts]:
        """Low and high end of each bin, ascending, and how many rows of each column (columns x bins) it holds."""
        below, above = self._below.edges(), self._above.edges()
        low = np.concatenate([-below[:0:-1], [0.0], above[:-1]])
        high = np.concatenate([-below[-2::-1], [0.0], above[1:]])
        counts = np.hstack([self._below.counts[:, ::-1], self._zeros[:, np.newaxis], self._above.counts])
        return low, high, counts

    def summary(self) -> Summary:
        """Return the same statistics as `cobandit.stats.summarise` gives for a whole sample."""
        count = self._counted()
        _, mean, squares = self._moments.total()
        se = np.sqrt(squares / (count - 1) / count) if count > 1 else np.full(self.columns, math.nan)
        return Summary(mean, se, *(self.quantile(share) for share in (0.5, 0.1, 0.9)))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Plain arrays by name, for a file: all that `from_arrays` needs."""
        arrays = {"least": self._least.copy(), "most": self._most.copy(), "zeros": self._zeros.copy()}
        for name, bins in (("above", self._above), ("below", self._below)):
            first, counts = bins.trimmed()
            arrays |= {f"{name}_first": np.array([first], dtype=np.int64), f"{name}_counts": counts.copy()}
        return arrays | self._moments.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> StreamedSummary:
        """Create the moments from the result of `to_arrays`."""
        summary = cls(len(arrays["least"]))
        summary._moments = Moments.from_arrays(arrays)
        summary._least, summary._most, summary._zeros = (arrays[name].copy() for name in ("least", "most", "zeros"))
        summary._above.merge(int(arrays["above_first"][0]), arrays["above_counts"])
        summary._below.merge(int(arrays["below_first"][0]), arrays["below_counts"])
        return summary

    def _counted(self) -> int:
        count = self.count
        if count == 0:
            raise InvalidInput("The summary has no rows yet; add some first.")
        return count

    def _distribution(self) -> tuple[Numbers, Counts]:
        """Return the middle of each bin, ascending, and how many rows of each column lie in it or before."""
        low, high, counts = self.histogram()
        return low + 0.5 * (high - low), counts.cumsum(axis=1)

    def _ranked(self, rank: int, centres: Numbers, cumulative: Counts) -> Numbers:
        """Return the number of this rank in each column: the middle of its bin, which is no smaller than the
        smallest.
        """
        bins = (cumulative <= rank).sum(axis=1)
        quantiles: Numbers = np.clip(centres[bins], self._least, self._most)
        return quantiles


def _key(value: float) -> int:
    """Return the bin of a number above 0."""
    return int(np.array([value]).view(np.int64)[0] >> _SHIFT)
