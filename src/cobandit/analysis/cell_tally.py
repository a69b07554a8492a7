"""Counting what planned tests show in simulated studies with cells: each participant plays some of the conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis.between import EFFECTS, within_columns
from cobandit.analysis.plan import BETWEEN, AnalysisPlan, Hypothesis
from cobandit.analysis.tally import Tally, p_values_of
from cobandit.stats import anova, mixed_anova, two_sample_p_values
from cobandit.studies.design import StudyDesign

Array = NDArray[np.float64]


class CellTally(Tally):
    """Counts, study by study, what every planned test shows; NaN marks conditions that a participant does not play."""

    def __init__(
        self,
        plan: AnalysisPlan,
        hypotheses: Sequence[Hypothesis],
        design: StudyDesign,
        sizes: Sequence[int],
    ) -> None:
        super().__init__(plan, hypotheses, [condition.name for condition in design.conditions], sizes)
        self._design = design

    def add(self, measures: Mapping[str, Array], stay: NDArray[np.bool_] | None = None) -> None:
        """Add more studies: each measure as studies x participants x conditions.

        ``stay`` (studies x participants) says who is analysed; None: all. Sizes count people who begin.
        """
        if stay is not None:
            measures = {name: np.where(stay[..., np.newaxis], values, np.nan) for name, values in measures.items()}
        super().add(measures)

    def _p_values(self, hypothesis: Hypothesis, values: Array) -> Array:
        if hypothesis.test in BETWEEN:
            return two_sample_p_values(
                values[..., 0], values[..., 1], hypothesis.alternative, equal_spreads=hypothesis.test == "student"
            )
        if hypothesis.test in ("anova", "mixed-anova"):
            return np.array([self._variance(hypothesis, study) for study in values])
        return np.array([_paired(hypothesis, study[~np.isnan(study).any(axis=1)]) for study in values])

    def _variance(self, hypothesis: Hypothesis, study: Array) -> float:
        """Return the p-value of the effect that an analysis of variance is about, in one study."""
        design, names = self._design, list(hypothesis.compares)
        cells = [[names.index(name) for name in own if name in names] for own in design.cells.values()]
        rows, groups = [], list[str]()
        columns = [[names.index(name) for name in column] for column in within_columns(design, names)]
        for cell, places in zip(design.cells, cells, strict=True):
            own = [place for column in columns for place in column if place in places]
            if own:
                people = study[~np.isnan(study[:, own]).any(axis=1)][:, own]
                rows.append(people)
                groups += [cell] * len(people)
        table = np.concatenate(rows)
        if hypothesis.test == "anova":
            finding = anova(table[:, 0], groups)
        else:
            finding = mixed_anova(table, groups)[EFFECTS.index(hypothesis.effect)]
        return 1.0 if finding.p is None else finding.p

    def _difference(self, hypothesis: Hypothesis, values: Array) -> tuple[Array, Array]:
        if hypothesis.test not in (*BETWEEN, "anova"):
            difference = values[..., 0] - values[..., 1]
            return _mean(difference), np.sqrt(_squares(difference) / np.maximum(_count(difference) - 1, 1))
        x, y = values[..., 0], values[..., 1]
        within = np.maximum(_count(x) + _count(y) - 2, 1)
        return _mean(x) - _mean(y), np.sqrt((_squares(x) + _squares(y)) / within)

    def _directions(self, hypothesis: Hypothesis, values: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        if hypothesis.direction == "two-sided":
            wrong = np.zeros(len(values), dtype=bool)
        else:
            middle = self._difference(hypothesis, values)[0]
            if hypothesis.test == "wilcoxon":
                difference = values[..., 0] - values[..., 1]
                middle = np.array([float(np.median(row[~np.isnan(row)])) if _count(row) else 0.0 for row in difference])
            wrong = middle > 0 if hypothesis.direction == "less" else middle < 0
        return ~wrong, wrong


def _paired(hypothesis: Hypothesis, study: Array) -> float:
    """Return the p-value of a test within people, of those who play all compared conditions."""
    return float(p_values_of(hypothesis, study[np.newaxis])[0]) if len(study) > 1 else 1.0


def _count(values: Array) -> Array:
    return np.asarray((~np.isnan(values)).sum(axis=-1), dtype=np.float64)


def _mean(values: Array) -> Array:
    return np.asarray(np.where(np.isnan(values), 0.0, values).sum(axis=-1) / np.maximum(_count(values), 1))


def _squares(values: Array) -> Array:
    centred = values - _mean(values)[:, np.newaxis]
    return np.asarray(np.where(np.isnan(centred), 0.0, centred**2).sum(axis=-1))
