"""Mean, standard error, median and quantiles over runs: tails are heavy, so a mean is never shown alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from cobandit.base.html import html_table

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Summary:
    """One array per statistic, one entry per column of the sample; the standard error of a single row is NaN."""

    mean: Numbers
    se: Numbers
    median: Numbers
    q10: Numbers
    q90: Numbers

    def __post_init__(self) -> None:
        for spec in fields(self):
            values = np.array(getattr(self, spec.name), dtype=np.float64)
            values.flags.writeable = False  # one summary is handed to many
            object.__setattr__(self, spec.name, values)

    def scaled(self, factor: float) -> Summary:
        """Return the summary of the same sample with every number ``factor`` times as large."""
        low, high = (self.q10, self.q90) if factor >= 0.0 else (self.q90, self.q10)
        return Summary(factor * self.mean, abs(factor) * self.se, factor * self.median, factor * low, factor * high)

    def to_dict(self) -> dict[str, list[float | None]]:
        """Return plain lists by name, with None for unknown values."""
        return {
            spec.name: [None if math.isnan(value) else value for value in getattr(self, spec.name).tolist()]
            for spec in fields(self)
        }

    def _repr_html_(self) -> str:
        names = [spec.name for spec in fields(self)]
        columns = [np.atleast_1d(getattr(self, name)) for name in names]
        rows = [[f"{value:.4g}" for value in row] for row in zip(*columns, strict=True)]
        return html_table(f"Summary of {len(rows):,} columns", names, rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Summary) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]


def summarise(sample: Numbers) -> Summary:
    """Return the statistics of each column; the standard error of a single row is unknown, so NaN."""
    rows = len(sample)
    unknown = np.full(sample.shape[1], math.nan)
    se = sample.std(axis=0, ddof=1) / math.sqrt(rows) if rows > 1 else unknown
    median, q10, q90 = np.quantile(sample, [0.5, 0.1, 0.9], axis=0)
    return Summary(sample.mean(axis=0), se, median, q10, q90)
