"""Claims as data: what a panel should show, and an honest statistic that decides it.

Every claim is judged as *holds*, *does not hold* or *undecided at this number of runs*, by intervals over runs, never
by looking at the picture. The rules were fixed before any panel was judged:

- *linear*: the regret doubles when the rounds double. The growth R(T) / R(T/2) of the mean must lie above 1.8 with
  its whole interval; wholly below 1.8 it does not hold.
- *sublinear*: the same the other way round: the whole interval below 1.8.
- *beats*: the paired difference of the final regrets (all curves of a panel share their luck, run by run) lies wholly
  below 0, for each of the others; if any lies wholly above 0 it does not hold.
- *no difference*: every paired difference from the first curve lies, with its whole interval, within a tenth of the
  first curve's mean (an absence of significance alone would prove nothing); if any interval lies wholly off 0 while its
  estimate exceeds that tenth, the claim does not hold.
- *rises*: each curve's mean is below the next one's.

- *below bound*: the mean lies below Theorem 1's bound with its whole interval.
- *above bound*: the same the other way round; the claim names the bound.

Several comparisons in one claim share the 5 % between them. All are about team regret, the paper's R(T). Tails are
heavy: with a hundred runs the few that go far astray may be missing from the sample, and intervals are then too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.stats import (
    Interval,
    Moment,
    mean_interval,
    ratio_interval,
    streamed_mean_interval,
    streamed_ratio_interval,
)
from cobandit.theory import bound

Outcome = Literal["holds", "does not hold", "undecided"]

ALPHA = 0.05
LINEAR_FROM = 1.8
EQUIVALENT_WITHIN = 0.1


Pair = tuple[str, str]
"""Two curves whose paired difference a claim looks at: the first minus the second."""


@dataclass(frozen=True)
class Regrets:
    """One curve's team regret: half-way and at the end, one entry per run; and what it was measured on."""

    half: NDArray[np.float64]
    final: NDArray[np.float64]
    problem: Any
    horizon: int

    @property
    def runs(self) -> int:
        """How many runs were played."""
        return len(self.final)

    @property
    def final_mean(self) -> float:
        """The mean at the end."""
        return float(self.final.mean())

    def final_interval(self, level: float) -> Interval:
        """Return the mean at the end, with its interval."""
        return mean_interval(self.final, level, seed=0)

    def growth(self, level: float) -> Interval:
        """Return the growth of the mean from half-time to the end."""
        return ratio_interval(self.final, self.half, level, seed=0)


@dataclass(frozen=True)
class StreamedRegrets:
    """The same of very many runs, of which the moments are left: of what claims need, and with the same results.

    ``gain`` is the end minus half-way; ``differences`` are those of the ends of this curve and others, run by run.
    """

    half: Moment
    final: Moment
    gain: Moment
    differences: Mapping[str, Moment]
    problem: Any
    horizon: int

    @property
    def runs(self) -> int:
        """How many runs were played."""
        return self.final.count

    @property
    def final_mean(self) -> float:
        """The mean at the end."""
        return self.final.mean

    def final_interval(self, level: float) -> Interval:
        """Return the mean at the end, with its interval."""
        return streamed_mean_interval(self.final, level)

    def growth(self, level: float) -> Interval:
        """Return the growth of the mean from half-time to the end."""
        return streamed_ratio_interval(self.final, self.half, self.gain, level)


Evidence = Mapping[str, Regrets | StreamedRegrets]
"""The regrets of each curve of a panel."""


@dataclass(frozen=True)
class Quantity:
    """One number behind a verdict, with its interval."""

    name: str
    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, Any]:
        """Plain data; None where there is no limit."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {"name": self.name} | {key: x if math.isfinite(x) else None for key, x in numbers.items()}


@dataclass(frozen=True)
class Verdict:
    """A claim with what was found."""

    claim: str
    kind: str
    outcome: Outcome
    rule: str
    findings: tuple[Quantity, ...]
    runs: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "claim": self.claim,
            "kind": self.kind,
            "outcome": self.outcome,
            "rule": self.rule,
            "findings": [finding.to_dict() for finding in self.findings],
            "runs": self.runs,
            "note": self.note,
        }


@dataclass(frozen=True)
class Linear:
    """The regret of one curve grows in proportion to the rounds."""

    curve: str
    text: str
    note: str = ""
    kind = "linear"
    rule = f"growth of the mean from T/2 to T, 95 % interval above {LINEAR_FROM}"

    def judge(self, regrets: Evidence) -> Verdict:
        """Above the limit: holds; below: does not."""
        growth = regrets[self.curve].growth(1 - ALPHA)
        outcome = _sided(growth, LINEAR_FROM, above="holds", below="does not hold")
        return _verdict(self, outcome, [_quantity(f"growth of {self.curve}", growth)], regrets)


@dataclass(frozen=True)
class Sublinear:
    """The regret of one curve grows more slowly than the rounds."""

    curve: str
    text: str
    note: str = ""
    kind = "sublinear"
    rule = f"growth of the mean from T/2 to T, 95 % interval below {LINEAR_FROM}"

    def judge(self, regrets: Evidence) -> Verdict:
        """Judge that the claim holds below the limit and does not hold above it."""
        growth = regrets[self.curve].growth(1 - ALPHA)
        outcome = _sided(growth, LINEAR_FROM, above="does not hold", below="holds")
        return _verdict(self, outcome, [_quantity(f"growth of {self.curve}", growth)], regrets)


@dataclass(frozen=True)
class Beats:
    """One curve ends with less regret than each of the others."""

    better: str
    others: tuple[str, ...]
    text: str
    note: str = ""
    kind = "beats"
    rule = "paired differences of the final regret, simultaneous 95 % intervals below 0"

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The differences it looks at."""
        return tuple((self.better, other) for other in self.others)

    def judge(self, regrets: Evidence) -> Verdict:
        """Return all below 0: holds; any above 0: does not."""
        gaps = _differences(self.pairs, regrets)
        quantities = [_quantity(f"{self.better} - {other}", gap) for other, gap in zip(self.others, gaps, strict=True)]
        outcome = _all_below(gaps)
        return _verdict(self, outcome, quantities, regrets)


@dataclass(frozen=True)
class NoDifference:
    """The curves end with the same regret, within a tenth."""

    curves: tuple[str, ...]
    text: str
    note: str = ""
    kind = "no difference"
    rule = "paired differences from the first curve, simultaneous 95 % intervals within a tenth of its mean"

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The differences it looks at."""
        return tuple((other, self.curves[0]) for other in self.curves[1:])

    def judge(self, regrets: Evidence) -> Verdict:
        """Return all within the margin: holds; any wholly off 0 with an estimate outside it: does not."""
        first, *others = self.curves
        margin = EQUIVALENT_WITHIN * regrets[first].final_mean
        gaps = _differences(self.pairs, regrets)
        quantities = [_quantity(f"{other} - {first}", gap) for other, gap in zip(others, gaps, strict=True)]
        outcome: Outcome = "undecided"
        if all(gap.within(-margin, margin) for gap in gaps):
            outcome = "holds"
        elif any((gap.low > 0 or gap.high < 0) and abs(gap.value) > margin for gap in gaps):
            outcome = "does not hold"
        return _verdict(self, outcome, [*quantities, Quantity("margin", margin, margin, margin)], regrets)


@dataclass(frozen=True)
class Rises:
    """Each curve ends with less regret than the next one."""

    curves: tuple[str, ...]
    text: str
    note: str = ""
    kind = "rises"
    rule = "paired differences between neighbours, simultaneous 95 % intervals below 0"

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The differences it looks at."""
        return tuple(pairwise(self.curves))

    def judge(self, regrets: Evidence) -> Verdict:
        """Return all below 0: holds; any above 0: does not."""
        gaps = _differences(self.pairs, regrets)
        quantities = [_quantity(f"{a} - {b}", gap) for (a, b), gap in zip(self.pairs, gaps, strict=True)]
        return _verdict(self, _all_below(gaps), quantities, regrets)


@dataclass(frozen=True)
class AgainstBound:
    """The measured regret of one curve stays below a bound of `cobandit.theory.bound`, or passes it.

    Below, it is that of Theorem 1 with the p_min^2 that its proof needs; a bound that is passed does not hold.
    """

    curve: str
    side: Literal["below", "above"]
    bound: str
    text: str
    note: str = ""
    shown: tuple[str, ...] = ()
    """Further bounds to show with the regret."""

    @property
    def kind(self) -> str:
        """Which of the two it says."""
        return f"{self.side} bound"

    @property
    def rule(self) -> str:
        """How it is judged."""
        proved = " as proved" if self.side == "below" else ""
        return f"mean of the final regret, 95 % interval {self.side} the bound{proved}"

    def judge(self, regrets: Evidence) -> Verdict:
        """Judge that the claim holds on the named side and does not hold on the other."""
        curve = regrets[self.curve]
        limits = bound(curve.problem, curve.horizon)
        mean = curve.final_interval(1 - ALPHA)
        quantities = [_quantity("measured", mean)]
        for name in (self.bound, *self.shown):
            limit = float(getattr(limits, name))
            quantities.append(Quantity(f"bound, {name}", limit, limit, limit))
        above: Outcome = "holds" if self.side == "above" else "does not hold"
        below: Outcome = "holds" if self.side == "below" else "does not hold"
        return _verdict(self, _sided(mean, quantities[1].value, above, below), quantities, regrets)


Claim = Linear | Sublinear | Beats | NoDifference | Rises | AgainstBound


def pairs_of(claims: Iterable[Claim]) -> list[Pair]:
    """Return every pair of curves that some claim compares, once."""
    return list(dict.fromkeys(pair for claim in claims for pair in getattr(claim, "pairs", ())))


def _differences(pairs: Sequence[Pair], regrets: Evidence) -> list[Interval]:
    """Return the paired differences, with intervals that all hold together."""
    level = 1 - ALPHA / max(1, len(pairs))
    return [_difference(regrets, pair, level) for pair in pairs]


def _difference(regrets: Evidence, pair: Pair, level: float) -> Interval:
    first, second = (regrets[curve] for curve in pair)
    if isinstance(first, Regrets) and isinstance(second, Regrets):
        return mean_interval(first.final - second.final, level, seed=0)
    if isinstance(first, StreamedRegrets):
        return streamed_mean_interval(first.differences[pair[1]], level)
    raise TypeError(f"The runs of {pair[0]} are kept and those of {pair[1]} are not: there are no paired differences.")


def _sided(interval: Interval, limit: float, above: Outcome, below: Outcome) -> Outcome:
    return above if interval.low > limit else below if interval.high < limit else "undecided"


def _all_below(gaps: list[Interval]) -> Outcome:
    if all(gap.high < 0 for gap in gaps):
        return "holds"
    return "does not hold" if any(gap.low > 0 for gap in gaps) else "undecided"


def _quantity(name: str, interval: Interval) -> Quantity:
    return Quantity(name, interval.value, interval.low, interval.high)


def _verdict(claim: Claim, outcome: Outcome, findings: list[Quantity], regrets: Evidence) -> Verdict:
    runs = min(curve.runs for curve in regrets.values())
    return Verdict(claim.text, claim.kind, outcome, claim.rule, tuple(findings), runs, claim.note)
