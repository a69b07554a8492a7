"""Crossover analysis of two conditions in two orders: effects of condition, set and carry-over.

Every participant meets both conditions A and B, one in the first set and one in the second; some begin with A, some
with B (an AB/BA crossover). With d = A - B of one participant and m = the mean of A and B:

- those who began with A have d = condition effect + set effect (first set minus second), those who began with B have
  d = condition effect - set effect;
- so half the *sum* of the two orders' mean d is the condition effect, free of any set effect even if the orders have
  unequal sizes, and half their *difference* is the set effect, which equals the interaction condition x order;
- m differs between the orders only if the first condition still has an effect in the second set (carry-over, which
  equals condition x set), or if the two groups of participants differed from the beginning.

The last test compares different participants and has little power; it is shown, but never decides about the first
(Freeman 1989; Senn 2002). If the labels of the actions are swapped between the sets, the swap always occurs with the
second set. The set effect then contains both, and no analysis can separate them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.base.checks import is_list, one_of
from cobandit.base.errors import InvalidInput, short_repr
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.mixed import mixed_model
from cobandit.stats.samples import Array, measures, pairs
from cobandit.stats.ttests import welch_t

_SWAPPED = (
    "The labels are swapped between the sets, so in this design the effect of the swap cannot be separated from that "
    "of the set."
)


def order_effects(
    x: ArrayLike,
    y: ArrayLike,
    first: Sequence[str],
    *,
    labels: tuple[str, str] = ("A", "B"),
    swapped_labels: bool = False,
    name: str = "",
    level: float = 0.95,
) -> tuple[Finding, Finding, Finding]:
    """Condition, set and carry-over of a crossover, each by Welch's t test between the two orders.

    ``x`` and ``y`` are the values under the first and the second of ``labels``, one per participant, and ``first``
    names the condition each participant met first. The rows, in this order:

    - *condition*: x - y, both orders weighing the same;
    - *set*: first set minus second set; with ``swapped_labels`` the note says what it is mixed with;
    - *carry-over*: mean level of those who began with the first label minus that of the others.

    ``groups`` describes x - y in the two orders, in the last row the mean levels. In the first two rows ``effect`` is
    g_z, the estimate over the standard deviation of the differences within the orders, freed of its small-sample bias;
    in the last it is Hedges' g between the orders.
    """
    began = _began(first, labels)
    left, right, complete, missing = pairs(x, y)
    if len(began) != len(complete):
        raise InvalidInput(f"first has {len(began)} entries and x has {len(complete)}; one per participant is needed.")
    began = began[complete]
    difference, mean = left - right, (left + right) / 2
    orders = (f"{labels[0]} first", f"{labels[1]} first")
    only = "" if len(set(began.tolist())) == 2 else "One order only was played, so order effects cannot be seen."
    swap = _SWAPPED if swapped_labels else ""

    def row(title: str, a: Array, b: Array, estimate: str, *notes: str) -> Finding:
        finding = welch_t(a, b, name=f"{name}: {title}" if name else title, level=level, labels=orders)
        return replace(
            finding,
            test=f"crossover {title}, Welch t",
            estimate_name=estimate,
            more={},
            note=sentences([missing, only, finding.note, *notes]),
        )

    a, b = difference[began], difference[~began]
    condition = _halved(row("condition", a, -b, f"{labels[0]} minus {labels[1]}"))
    position = _halved(row("set", a, b, "first set minus second set", swap))
    carried = row("carry-over", mean[began], mean[~began], f"{orders[0]} minus {orders[1]}")
    # For the test of the condition the second order's sign was turned; its description should not be.
    return replace(condition, groups=position.groups), position, carried


def crossover_model(
    x: ArrayLike,
    y: ArrayLike,
    first: Sequence[str],
    *,
    labels: tuple[str, str] = ("A", "B"),
    swapped_labels: bool = False,
    name: str = "",
    level: float = 0.95,
) -> tuple[Finding, ...]:
    """Return the same three effects by a mixed model with an intercept for each participant: a check on robustness.

    Unlike the tests of ``order_effects`` it also uses those who have a value in one condition only. The coefficients
    are in the units of the data: *condition* x - y, *set* first minus second, *order* those who began with the first
    label minus the others (carry-over).
    """
    left, right, began = measures("x", x), measures("y", y), _began(first, labels)
    if not len(left) == len(right) == len(began):
        raise InvalidInput(
            f"x, y and first have {len(left)}, {len(right)} and {len(began)} entries; one each per person is needed."
        )
    people = np.arange(len(began))
    condition = np.repeat([0.5, -0.5], len(began))
    order = np.tile(np.where(began, 0.5, -0.5), 2)
    findings = mixed_model(
        np.concatenate([left, right]),
        np.concatenate([people, people]).tolist(),
        {"condition": condition, "set": 2 * condition * order, "order": order},
        name=name,
        level=level,
    )
    if not swapped_labels:
        return findings
    return tuple(
        replace(finding, note=sentences([finding.note, _SWAPPED])) if term == "set" else finding
        for term, finding in zip(("condition", "set", "order"), findings, strict=True)
    )


def _halved(finding: Finding) -> Finding:
    """Return half of a sum or difference of two orders: the effect of one condition or one set."""

    def half(value: float | None) -> float | None:
        return None if value is None else value / 2

    return replace(
        finding,
        estimate=half(finding.estimate),
        estimate_low=half(finding.estimate_low),
        estimate_high=half(finding.estimate_high),
        effect_name="g_z",
        effect=half(finding.effect),
        low=half(finding.low),
        high=half(finding.high),
    )


def _began(first: Sequence[str], labels: tuple[str, str]) -> NDArray[np.bool_]:
    """Return which participants began with the first label."""
    if not is_list(first):
        raise InvalidInput(f"first must be the condition each participant met first, got {short_repr(first)}.")
    check = one_of(labels, "condition")
    return np.array([check("first", entry) == labels[0] for entry in first], dtype=bool)
