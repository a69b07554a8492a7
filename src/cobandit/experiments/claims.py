"""Claims as data: what a panel is said to show, and an honest statistic that decides it.

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

Several comparisons in one claim share the 5 % between them. All are about team regret, the paper's R(T). Tails are
heavy: with a hundred runs the few that go far astray may be missing from the sample, and intervals are then too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.problem import Problem
from cobandit.stats import Interval, mean_interval, ratio_interval
from cobandit.theory import bound

Outcome = Literal["holds", "does not hold", "undecided"]

ALPHA = 0.05
LINEAR_FROM = 1.8
EQUIVALENT_WITHIN = 0.1


@dataclass(frozen=True)
class Regrets:
    """One curve's team regret: half-way and at the end, one entry per run; and what it was measured on."""

    half: NDArray[np.float64]
    final: NDArray[np.float64]
    problem: Problem
    horizon: int


@dataclass(frozen=True)
class Finding:
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
    findings: tuple[Finding, ...]
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

    def judge(self, regrets: Mapping[str, Regrets]) -> Verdict:
        """Above the limit: holds; below: does not."""
        growth = _growth(regrets[self.curve])
        outcome = _sided(growth, LINEAR_FROM, above="holds", below="does not hold")
        return _verdict(self, outcome, [_found(f"growth of {self.curve}", growth)], regrets)


@dataclass(frozen=True)
class Sublinear:
    """The regret of one curve grows more slowly than the rounds."""

    curve: str
    text: str
    note: str = ""
    kind = "sublinear"
    rule = f"growth of the mean from T/2 to T, 95 % interval below {LINEAR_FROM}"

    def judge(self, regrets: Mapping[str, Regrets]) -> Verdict:
        """Below the limit: holds; above: does not."""
        growth = _growth(regrets[self.curve])
        outcome = _sided(growth, LINEAR_FROM, above="does not hold", below="holds")
        return _verdict(self, outcome, [_found(f"growth of {self.curve}", growth)], regrets)


@dataclass(frozen=True)
class Beats:
    """One curve ends with less regret than each of the others."""

    better: str
    others: tuple[str, ...]
    text: str
    note: str = ""
    kind = "beats"
    rule = "paired differences of the final regret, simultaneous 95 % intervals below 0"

    def judge(self, regrets: Mapping[str, Regrets]) -> Verdict:
        """All below 0: holds; any above 0: does not."""
        gaps = [_difference(regrets[self.better], regrets[other], len(self.others)) for other in self.others]
        found = [_found(f"{self.better} - {other}", gap) for other, gap in zip(self.others, gaps, strict=True)]
        outcome = _all_below(gaps)
        return _verdict(self, outcome, found, regrets)


@dataclass(frozen=True)
class NoDifference:
    """The curves end with the same regret, within a tenth."""

    curves: tuple[str, ...]
    text: str
    note: str = ""
    kind = "no difference"
    rule = "paired differences from the first curve, simultaneous 95 % intervals within a tenth of its mean"

    def judge(self, regrets: Mapping[str, Regrets]) -> Verdict:
        """All within the margin: holds; any wholly off 0 with an estimate outside it: does not."""
        first, *others = self.curves
        margin = EQUIVALENT_WITHIN * float(regrets[first].final.mean())
        gaps = [_difference(regrets[other], regrets[first], len(others)) for other in others]
        found = [_found(f"{other} - {first}", gap) for other, gap in zip(others, gaps, strict=True)]
        outcome: Outcome = "undecided"
        if all(gap.within(-margin, margin) for gap in gaps):
            outcome = "holds"
        elif any((gap.low > 0 or gap.high < 0) and abs(gap.value) > margin for gap in gaps):
            outcome = "does not hold"
        return _verdict(self, outcome, [*found, Finding("margin", margin, margin, margin)], regrets)


@dataclass(frozen=True)
class Rises:
    """Each curve ends with less regret than the next one."""

    curves: tuple[str, ...]
    text: str
    note: str = ""
    kind = "rises"
    rule = "paired differences between neighbours, simultaneous 95 % intervals below 0"

    def judge(self, regrets: Mapping[str, Regrets]) -> Verdict:
        """All below 0: holds; any above 0: does not."""
        pairs = list(zip(self.curves, self.curves[1:], strict=False))
        gaps = [_difference(regrets[a], regrets[b], len(pairs)) for a, b in pairs]
        found = [_found(f"{a} - {b}", gap) for (a, b), gap in zip(pairs, gaps, strict=True)]
        return _verdict(self, _all_below(gaps), found, regrets)


@dataclass(frozen=True)
class BelowBound:
    """The measured regret of one curve stays below Theorem 1's bound, with the p_min^2 that its proof needs."""

    curve: str
    text: str
    note: str = ""
    kind = "below bound"
    rule = "mean of the final regret, 95 % interval below the bound as proved"

    def judge(self, regrets: Mapping[str, Regrets]) -> Verdict:
        """Below the bound: holds; above: does not."""
        curve = regrets[self.curve]
        limits = bound(curve.problem, curve.horizon)
        mean = mean_interval(curve.final, 1 - ALPHA, seed=0)
        found = [_found("measured", mean)]
        for name in ("proved", "printed", "safe", "linear"):
            limit = float(getattr(limits, name))
            found.append(Finding(f"bound, {name}", limit, limit, limit))
        return _verdict(self, _sided(mean, limits.proved, above="does not hold", below="holds"), found, regrets)


Claim = Linear | Sublinear | Beats | NoDifference | Rises | BelowBound


def _growth(curve: Regrets) -> Interval:
    return ratio_interval(curve.final, curve.half, 1 - ALPHA, seed=0)


def _difference(a: Regrets, b: Regrets, comparisons: int) -> Interval:
    return mean_interval(a.final - b.final, 1 - ALPHA / comparisons, seed=0)


def _sided(interval: Interval, limit: float, above: Outcome, below: Outcome) -> Outcome:
    return above if interval.low > limit else below if interval.high < limit else "undecided"


def _all_below(gaps: list[Interval]) -> Outcome:
    if all(gap.high < 0 for gap in gaps):
        return "holds"
    return "does not hold" if any(gap.low > 0 for gap in gaps) else "undecided"


def _found(name: str, interval: Interval) -> Finding:
    return Finding(name, interval.value, interval.low, interval.high)


def _verdict(claim: Claim, outcome: Outcome, findings: list[Finding], regrets: Mapping[str, Regrets]) -> Verdict:
    runs = min(len(curve.final) for curve in regrets.values())
    return Verdict(claim.text, claim.kind, outcome, claim.rule, tuple(findings), runs, claim.note)
