"""Repeated-measures analysis of variance, always corrected for violations of sphericity."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from cobandit.base.errors import InvalidInput
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.samples import Array, left_out, library, measures, rounding


def rm_anova(values: ArrayLike, factors: tuple[str, ...] = ("A", "B"), *, name: str = "") -> tuple[Finding, ...]:
    """Run a repeated-measures analysis of variance, and return one finding for each effect.

    ``values`` has one row per participant and one further axis for each factor: participants x levels, with one name in
    ``factors``, or participants x levels of A x levels of B, with two (effects A, B and A x B).

    If a factor has more than two levels, ``p`` and ``df`` are always corrected by the Greenhouse-Geisser epsilon: a
    correction that depends on Mauchly's test does not protect in small samples. ``more`` contains the uncorrected
    degrees of freedom and p-value, both epsilons (``epsilon_gg``, ``epsilon_hf`` of Huynh and Feldt), the p-value
    corrected by the latter, Mauchly's W, chi squared and p (with the second-order term as in R and pingouin), partial
    eta squared and the sums of squares. ``effect`` is generalised eta squared (Bakeman 2005), which has no accepted
    exact interval; with two levels the paired t test of the participants' means gives one for d_z.

    Participants with a missing value are left out, because the method needs values in every cell; the note contains
    their number.
    """
    table = measures("values", values, (2, 3))
    if table.ndim != len(factors) + 1:
        raise InvalidInput(
            f"values has {table.ndim} dimensions and there are {len(factors)} factors; one axis for the participants "
            f"and one for each factor are needed."
        )
    levels = table.shape[1:]
    flat = table.reshape(len(table), math.prod(levels))
    complete = ~np.isnan(flat).any(axis=1)
    empty = int(np.isnan(flat).all(axis=0).sum()) if len(flat) else 0
    rows = flat[complete]
    missing = left_out(len(flat) - len(rows), len(flat), "no value in some cell")
    if empty:
        missing = sentences([missing, f"{empty} of {flat.shape[1]} cells have no value from anybody."])

    # Which factors take part in an effect; the others are averaged over.
    effects = [(True,)] if len(factors) == 1 else [(True, False), (False, True), (True, True)]
    scores = [rows @ _contrasts(levels, effect) for effect in effects]
    people = rows @ _contrasts(levels, (False,) * len(factors))
    errors = [squares(score - score.mean(axis=0)) if len(rows) else 0.0 for score in scores]
    spread = squares(people - people.mean()) if len(rows) else 0.0

    findings = []
    for effect, score, error in zip(effects, scores, errors, strict=True):
        title = " x ".join(factor for factor, used in zip(factors, effect, strict=True) if used)
        row = Finding(
            name=f"{name}: {title}" if name else title,
            test=f"RM ANOVA {title}",
            n=len(rows),
            statistic_name="F",
            effect_name="generalised eta squared",
            note=missing,
        )
        reason = _untestable(score, error, rounding(rows), rows.size)
        if reason:
            findings.append(replace(row, note=sentences([missing, reason])))
        else:
            findings.append(_tested(row, score, error, spread + sum(errors), flat.shape[1]))
    return tuple(findings)


def _contrasts(levels: tuple[int, ...], effect: tuple[bool, ...]) -> Array:
    """Orthonormal contrasts of one effect: Helmert's for the factors in it, the mean for the others."""
    parts = [
        helmert(k) if used else np.full((k, 1), 1 / math.sqrt(max(k, 1)))
        for k, used in zip(levels, effect, strict=True)
    ]
    return reduce(np.kron, parts)


def helmert(k: int) -> Array:
    """Return Helmert's orthonormal contrasts of k levels, one in each column."""
    columns = np.zeros((k, max(k - 1, 0)))
    for j in range(1, k):
        columns[:j, j - 1] = 1.0
        columns[j, j - 1] = -j
        columns[:, j - 1] /= math.sqrt(j * (j + 1))
    return columns


def squares(values: Array) -> float:
    """Return the sum of squares."""
    return float((values**2).sum())


def _untestable(score: Array, error: float, slack: float, size: int) -> str:
    n, d = score.shape
    if d == 0:
        return "Not tested: there is one level only, and at least two are needed."
    if n < 2:
        return f"Not tested: at least two participants with a value in every cell are needed; there are {n}."
    if error <= size * slack**2:
        return "Not tested: the effect is the same for all participants, so there is no variance to test against."
    return ""


def _tested(row: Finding, score: Array, error: float, spread: float, cells: int) -> Finding:
    """Return the F test of one effect from the participants' scores on its contrasts."""
    special = library("scipy.special")
    n, d = score.shape
    effect = n * squares(score.mean(axis=0))
    df = (d, d * (n - 1))
    f = (effect / df[0]) / (error / df[1])
    more: dict[str, float | None] = {
        "df_effect": df[0],
        "df_error": df[1],
        "p_uncorrected": float(special.fdtrc(*df, f)),
        "epsilon_gg": 1.0,
        "epsilon_hf": 1.0,
        "partial_eta_squared": effect / (effect + error),
        "ss_effect": effect,
        "ss_error": error,
    }
    note = ""
    if d > 1:
        centred = score - score.mean(axis=0)
        # Epsilon and Mauchly's test do not ask for the scale; with a trace of 1 nothing overflows.
        covariance = centred.T @ centred / error
        gg = min(1 / (d * squares(covariance)), 1.0)
        denominator = d * (n - 1 - d * gg)
        # It is 0 if there are as many contrasts as participants allow; the estimate is then 1, its upper limit.
        hf = min((n * d * gg - 2) / denominator, 1.0) if denominator > 1e-12 * d * n else 1.0
        sphericity, note = mauchly(covariance, n - 1, cells)
        more |= {"epsilon_gg": gg, "epsilon_hf": hf, "p_hf": float(special.fdtrc(df[0] * hf, df[1] * hf, f))}
        more |= sphericity
    epsilon = more["epsilon_gg"] or 1.0
    corrected = (df[0] * epsilon, df[1] * epsilon)
    return replace(
        row,
        statistic=f,
        df=corrected,
        p=float(special.fdtrc(*corrected, f)),
        effect=effect / (effect + spread),
        more=more,
        note=sentences([row.note, note]),
    )


def mauchly(covariance: Array, freedom: int, cells: int) -> tuple[dict[str, float | None], str]:
    """Mauchly's test of sphericity from a covariance matrix of trace 1, which must have full rank."""
    d = len(covariance)
    unknown: dict[str, float | None] = {"mauchly_w": None, "mauchly_chi2": None, "mauchly_p": None}
    if freedom < d:
        return unknown, f"Mauchly's test is not defined here: {freedom + 1} participants are too few for {d} contrasts."
    if np.linalg.matrix_rank(covariance, hermitian=True) < d:
        return unknown, "Mauchly's test is not defined here: some conditions follow from the others."
    log_det = np.linalg.slogdet(covariance * d).logabsdet
    special = library("scipy.special")
    shrink = 1 - (2 * d**2 + d + 2) / (6 * d * freedom)
    second = (d + 2) * (d - 1) * (d - 2) * (2 * d**3 + 6 * d**2 + 3 * cells + 2) / (288 * (freedom * d * shrink) ** 2)
    chi2 = -freedom * shrink * float(log_det)
    chi2_df = d * (d + 1) / 2 - 1
    first_order, later = float(special.chdtrc(chi2_df, chi2)), float(special.chdtrc(chi2_df + 4, chi2))
    p = min(max(first_order + second * (later - first_order), 0.0), 1.0)
    return {"mauchly_w": math.exp(float(log_det)), "mauchly_chi2": chi2, "mauchly_p": p}, ""
