"""Counting, study by study, what every planned test shows at every number of participants."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis.plan import AnalysisPlan, Hypothesis
from cobandit.analysis.power_curves import PowerCurve, PowerPoint
from cobandit.base.errors import InvalidInput
from cobandit.stats import holm_p_values, paired_t_p_values, rm_anova, wilcoxon, wilson_interval

Array = NDArray[np.float64]


class Tally:
    """Counts, study by study, what every planned test shows at every size."""

    def __init__(
        self,
        plan: AnalysisPlan,
        hypotheses: Sequence[Hypothesis],
        conditions: Sequence[str],
        sizes: Sequence[int],
        team_size: int = 1,
    ) -> None:
        self._plan, self._hypotheses, self._sizes = plan, tuple(hypotheses), tuple(sizes)
        self._team_size = team_size
        self._places = [
            [list(conditions).index(name) for name in hypothesis.compares] for hypothesis in self._hypotheses
        ]
        # How many tests of its family Holm's correction counts, and which of them are simulated.
        planned = [hypothesis.family for hypothesis in plan.hypotheses]
        self._families = {
            family: (
                [k for k, hypothesis in enumerate(self._hypotheses) if hypothesis.family == family],
                planned.count(family),
            )
            for family in dict.fromkeys(hypothesis.family for hypothesis in self._hypotheses)
            if family
        }
        shape = (len(self._hypotheses), len(self._sizes))
        self._studies = 0
        self._hits, self._corrected, self._opposite = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        self._effects = [[_Moments() for _ in self._sizes] for _ in self._hypotheses]
        self._differences = [[_Moments() for _ in self._sizes] for _ in self._hypotheses]

    def add(self, measures: Mapping[str, Array], stay: NDArray[np.bool_] | None = None) -> None:
        """Add more studies: each measure as studies x units x conditions, where a unit is a participant or a team.

        ``stay`` (studies x units) says which units are analysed; None: all. Sizes count people who begin.
        """
        self._studies += len(next(iter(measures.values())))
        for j, n in enumerate(self._sizes):
            units = n // self._team_size
            if stay is None:
                self._add_studies(j, {name: values[:, :units] for name, values in measures.items()})
                continue
            counts = stay[:, :units].sum(axis=1)
            first = np.argsort(~stay[:, :units], axis=1, kind="stable")  # those who stay come first, in their order
            for count in np.unique(counts):
                studies = counts == count
                if count < 2:
                    continue  # nothing can be tested: a study that shows nothing
                rows = first[studies, :count, np.newaxis]
                self._add_studies(
                    j, {name: np.take_along_axis(values[studies], rows, axis=1) for name, values in measures.items()}
                )

    def _add_studies(self, j: int, measures: Mapping[str, Array]) -> None:
        """Count the tests of studies of one number of units, at the size of place ``j``."""
        values = [
            np.ascontiguousarray(measures[hypothesis.measure][:, :, places])
            for hypothesis, places in zip(self._hypotheses, self._places, strict=True)
        ]
        p_values = np.stack([self._p_values(*pair) for pair in zip(self._hypotheses, values, strict=True)])
        corrected = p_values.copy()
        for members, planned in self._families.values():
            corrected[members] = holm_p_values(p_values[members], planned)
        for k, hypothesis in enumerate(self._hypotheses):
            right, wrong = self._directions(hypothesis, values[k])
            self._hits[k, j] += np.count_nonzero((p_values[k] < self._plan.alpha) & right)
            self._corrected[k, j] += np.count_nonzero((corrected[k] < self._plan.alpha) & right)
            self._opposite[k, j] += np.count_nonzero((p_values[k] < self._plan.alpha) & wrong)
            if values[k].shape[2] == 2:
                mean, sd = self._difference(hypothesis, values[k])
                self._differences[k][j].add(mean)
                self._effects[k][j].add(mean[sd > 0] / sd[sd > 0])

    def _p_values(self, hypothesis: Hypothesis, values: Array) -> Array:
        """Return the p-value of the planned test in each study."""
        return p_values_of(hypothesis, values)

    def _difference(self, hypothesis: Hypothesis, values: Array) -> tuple[Array, Array]:
        """Return the mean difference of two conditions in each study, and the standard deviation of the effect size."""
        difference = values[..., 0] - values[..., 1]
        return difference.mean(axis=1), difference.std(axis=1, ddof=1)

    def _directions(self, hypothesis: Hypothesis, values: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the studies whose difference does not have the wrong sign, and those whose difference has it."""
        if hypothesis.direction == "two-sided":
            wrong = np.zeros(len(values), dtype=bool)
        else:
            difference = values[..., 0] - values[..., 1]
            middle = np.median(difference, axis=1) if hypothesis.test == "wilcoxon" else difference.mean(axis=1)
            wrong = middle > 0 if hypothesis.direction == "less" else middle < 0
        return ~wrong, wrong

    def curves(self) -> tuple[PowerCurve, ...]:
        """Return the power curves of the studies so far."""
        if not self._studies:
            raise InvalidInput("There is no simulated study yet; at least one is needed.")
        return tuple(
            PowerCurve(hypothesis, tuple(self._point(k, j) for j in range(len(self._sizes))))
            for k, hypothesis in enumerate(self._hypotheses)
        )

    def _point(self, k: int, j: int) -> PowerPoint:
        effect, difference = self._effects[k][j], self._differences[k][j]
        family = bool(self._hypotheses[k].family)
        return PowerPoint(
            n=self._sizes[j],
            simulations=self._studies,
            power=wilson_interval(int(self._hits[k, j]), self._studies),
            corrected=wilson_interval(int(self._corrected[k, j]), self._studies) if family else None,
            opposite=float(self._opposite[k, j] / self._studies),
            effect=effect.mean if effect.count else None,
            effect_sd=effect.sd,
            difference=difference.mean if difference.count else None,
        )


def p_values_of(hypothesis: Hypothesis, values: Array) -> Array:
    """Return the p-value of the planned test in each study; ``values`` is studies x participants x compared conditions.

    A study that cannot be tested has shown nothing: its p-value is 1.
    """
    if hypothesis.test == "paired-t":
        return paired_t_p_values(values[..., 0] - values[..., 1], hypothesis.alternative)
    if hypothesis.test == "wilcoxon":
        # One by one: the exact distribution depends on the ties of each study.
        tested = [wilcoxon(study[:, 0], study[:, 1], alternative=hypothesis.alternative).p for study in values]
    elif values.shape[2] == 2:
        # With two conditions their effect in a repeated-measures analysis is the paired t test: F = t squared.
        return paired_t_p_values(values[..., 0] - values[..., 1])
    else:
        # Summed over the episodes: a second factor does not change the F of the first one.
        tested = [rm_anova(study, ("condition",))[0].p for study in values]
    return np.array([1.0 if p is None else p for p in tested])


class _Moments:
    """Mean and standard deviation of numbers that are added in batches."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, values: Array) -> None:
        """Add one batch."""
        if not len(values):
            return
        mean, total = float(values.mean()), self.count + len(values)
        gap = mean - self.mean
        self._squares += float(((values - mean) ** 2).sum()) + gap**2 * self.count * len(values) / total
        self.mean += gap * len(values) / total
        self.count = total

    @property
    def sd(self) -> float | None:
        """The standard deviation; None for fewer than two numbers."""
        return math.sqrt(self._squares / (self.count - 1)) if self.count > 1 else None
