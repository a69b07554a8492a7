"""Analysis of variance between groups of people, and with repeated measures within them (mixed, or split-plot)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.base.errors import InvalidInput
from cobandit.stats.anova import helmert, mauchly, squares
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.samples import Array, describe, left_out, library, measures, rounding


class _Effect(NamedTuple):
    """The sums of squares of an effect and of its error, with their degrees of freedom."""

    title: str
    effect: float
    error: float
    df: tuple[int, int]
    residuals: Array


def anova(
    values: ArrayLike, groups: Sequence[str], factor: str = "group", *, name: str = "", level: float = 0.95
) -> Finding:
    """Run a one-way analysis of variance between groups of people: one value and one group for each participant.

    ``effect`` is generalised eta squared, which is eta squared here. ``more`` also has Welch's test, which needs no
    equal spreads (``welch_f``, ``welch_df_error``, ``welch_p``).
    """
    sample = measures("values", values)
    rows, labels, missing = _complete(sample[:, np.newaxis], groups)
    (finding,) = _findings(rows, labels, ("", factor), name, missing, "ANOVA")
    parts = [rows[labels == label, 0] for label in np.unique(labels)]
    described = tuple(
        describe(rows[labels == label, 0], name=str(label), level=level) for label in dict.fromkeys(labels.tolist())
    )
    if finding.p is None:
        return replace(finding, groups=described)
    return replace(finding, groups=described, more=dict(finding.more) | _welch(parts))


def mixed_anova(
    values: ArrayLike,
    groups: Sequence[str],
    factors: tuple[str, str] = ("within", "between"),
    *,
    name: str = "",
) -> tuple[Finding, ...]:
    """Run a mixed analysis of variance: the effects of the factor within people, of the groups, and of both together.

    ``values`` is participants x levels within people; ``groups`` holds the group of each participant. Groups may differ
    in size: sums of squares are of type III, so every group counts the same, as in SPSS and JASP. With more than two
    levels ``p`` and ``df`` of the first and the last effect are corrected by the Greenhouse-Geisser epsilon of the
    covariance within the groups. ``effect`` is generalised eta squared of manipulated factors (Bakeman 2005); ``more``
    as in `rm_anova`. Participants with a missing value are left out.
    """
    rows, labels, missing = _complete(measures("values", values, 2), groups)
    return _findings(rows, labels, factors, name, missing, "Mixed ANOVA")


def _complete(table: Array, groups: Sequence[str]) -> tuple[Array, NDArray[np.str_], str]:
    """Return the rows without missing values, their groups, and the note about the others."""
    labels = np.array([str(group) for group in groups], dtype=np.str_)
    if len(labels) != len(table):
        raise InvalidInput(f"groups must have {len(table)} parts, one for each participant, got {len(labels)}.")
    complete = ~np.isnan(table).any(axis=1)
    lost = len(table) - int(complete.sum())
    return table[complete], labels[complete], left_out(lost, len(table), "no value in some cell")


def _findings(
    rows: Array, labels: NDArray[np.str_], factors: tuple[str, str], name: str, missing: str, test: str
) -> tuple[Finding, ...]:
    names, which = np.unique(labels, return_inverse=True)
    sizes = np.bincount(which, minlength=len(names))
    levels = rows.shape[1]
    reason = _untestable(names, sizes)
    effects = [] if reason else list(_effects(rows, which, sizes, factors))
    titles = [factors[1]] if levels == 1 else [factors[0], factors[1], " x ".join(factors)]
    errors = {effect.title: effect.error for effect in effects}
    spread = errors.get(factors[1], 0.0) + errors.get(factors[0], 0.0)
    findings = []
    for place, title in enumerate(titles):
        row = Finding(
            name=f"{name}: {title}" if name else title,
            test=f"{test} {title}",
            n=len(rows),
            statistic_name="F",
            effect_name="generalised eta squared",
            note=missing,
        )
        why = reason
        if not why and effects[place].error <= rows.size * rounding(rows) ** 2:
            why = "Not tested: within each group all values are the same, so there is no spread to test against."
        if why:
            findings.append(replace(row, note=sentences([missing, why])))
        else:
            findings.append(_tested(row, effects[place], spread, len(names), levels))
    return tuple(findings)


def _untestable(names: NDArray[np.str_], sizes: NDArray[np.int64]) -> str:
    if len(names) < 2:
        return f"Not tested: at least two groups of people are needed; there are {len(names)}."
    small = [f"{size} in {label}" for size, label in zip(sizes.tolist(), names.tolist(), strict=True) if size < 2]
    if small:
        return f"Not tested: each group needs at least two people with a value; there are {' and '.join(small)}."
    return ""


def _effects(
    rows: Array, which: NDArray[np.int64], sizes: NDArray[np.int64], factors: tuple[str, str]
) -> list[_Effect]:
    """Return the effects within, between and of both, from scores on orthonormal contrasts; type III throughout."""
    n, levels = rows.shape
    count = len(sizes)

    def scores(contrasts: Array) -> tuple[Array, Array, Array]:
        values = rows @ contrasts
        means = np.stack([values[which == group].mean(axis=0) for group in range(count)])
        return values.mean(axis=0), means, values - means[which]

    middle, means, residuals = scores(np.full((levels, 1), 1 / np.sqrt(levels)))
    between = _Effect(
        factors[1],
        float((sizes[:, np.newaxis] * (means - middle) ** 2).sum()),
        squares(residuals),
        (count - 1, n - count),
        residuals,
    )
    if levels == 1:
        return [between]
    middle, means, residuals = scores(helmert(levels))
    d, error = levels - 1, squares(residuals)
    equal = squares(means.mean(axis=0)) / float((1 / sizes).sum() / count**2)
    both = float((sizes[:, np.newaxis] * (means - middle) ** 2).sum())
    return [
        _Effect(factors[0], equal, error, (d, d * (n - count)), residuals),
        between,
        _Effect(" x ".join(factors), both, error, (d * (count - 1), d * (n - count)), residuals),
    ]


def _tested(row: Finding, effect: _Effect, spread: float, groups: int, levels: int) -> Finding:
    special = library("scipy.special")
    df = effect.df
    f = (effect.effect / df[0]) / (effect.error / df[1])
    more: dict[str, float | None] = {
        "df_effect": df[0],
        "df_error": df[1],
        "p_uncorrected": float(special.fdtrc(*df, f)),
        "partial_eta_squared": effect.effect / (effect.effect + effect.error),
        "ss_effect": effect.effect,
        "ss_error": effect.error,
    }
    epsilon, note, d = 1.0, "", effect.residuals.shape[1]
    if d > 1:
        covariance = effect.residuals.T @ effect.residuals / effect.error
        epsilon = min(1 / (d * squares(covariance)), 1.0)
        sphericity, note = mauchly(covariance, len(effect.residuals) - groups, levels)
        more |= {"epsilon_gg": epsilon} | sphericity
    corrected = (df[0] * epsilon, df[1] * epsilon)
    return replace(
        row,
        statistic=f,
        df=corrected,
        p=float(special.fdtrc(*corrected, f)),
        effect=effect.effect / (effect.effect + spread),
        more=more,
        note=sentences([row.note, note]),
    )


def _welch(samples: Sequence[Array]) -> dict[str, float | None]:
    """Return Welch's one-way test; None where a group has no spread."""
    unknown: dict[str, float | None] = {"welch_f": None, "welch_df_error": None, "welch_p": None}
    variances = [float(sample.var(ddof=1)) for sample in samples]
    if min(variances) <= 0.0:
        return unknown
    k, sizes = len(samples), np.array([len(sample) for sample in samples])
    weights = sizes / np.array(variances)
    means = np.array([sample.mean() for sample in samples])
    grand = float((weights * means).sum() / weights.sum())
    lack = float((((1 - weights / weights.sum()) ** 2) / (sizes - 1)).sum())
    numerator = float((weights * (means - grand) ** 2).sum()) / (k - 1)
    f = numerator / (1 + 2 * (k - 2) * lack / (k**2 - 1))
    df = (k**2 - 1) / (3 * lack)
    return {"welch_f": f, "welch_df_error": df, "welch_p": float(library("scipy.special").fdtrc(k - 1, df, f))}
