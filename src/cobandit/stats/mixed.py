"""A mixed-effects model as a check on robustness: every participant has a level of his or her own."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from cobandit.base.errors import InvalidInput
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.samples import Array, check_level, constant, left_out, library, measures, rounding

_INSTEAD = "The simpler tests stand without this check."


def mixed_model(
    values: ArrayLike,
    participants: Sequence[Hashable],
    terms: Mapping[str, ArrayLike],
    *,
    name: str = "",
    level: float = 0.95,
) -> tuple[Finding, ...]:
    """Fit a linear model with a random intercept for each participant by REML; return one finding for each term.

    ``values`` and ``participants`` have one entry for each observation; ``terms`` contains the fixed effects, one
    number for each observation (code two levels as +0.5 and -0.5; then the coefficient is their difference). The model
    always has an intercept, without a row. A participant with some missing observations stays in with the others.

    ``estimate`` is the coefficient with Wald's interval, ``statistic`` Wald's z; both assume large samples. ``more``
    contains the number of observations and the standard deviations between (``sd_participants``) and within
    participants (``sd_residual``). With one value per condition for every participant and condition as the only term, z
    is the paired t.

    A term that is collinear with those before it is left out of the model. A fit that fails or does not converge gives
    rows without numbers, and the note says so.
    """
    check_level("level", level)
    seen = usable_observations(measures("values", values), list(participants), terms)
    y, missing = seen.y, seen.missing
    rows = rows_of_terms(terms, name, level, seen.people, missing)

    def unfitted(reason: str) -> tuple[Finding, ...]:
        return tuple(replace(row, note=sentences([missing, reason, _INSTEAD])) for row in rows.values())

    design, used = independent_columns(seen.columns, len(y))
    levels = (seen.groups[:, np.newaxis] == np.arange(seen.people)).astype(np.float64)
    obstacle = obstacle_to_fit(seen, design, levels)
    if obstacle:
        return unfitted(obstacle)
    ratio, trouble = _variance_ratio((y - y.mean()) / float(y.std()), design, seen.groups, levels)
    if ratio is None:
        return unfitted(trouble)
    fit = _least_squares(y, design, levels, ratio)
    notes = [missing, trouble, *note_of_dropped(terms, used)]
    more: dict[str, float | None] = {
        "observations": len(y),
        "sd_participants": fit.sd * math.sqrt(ratio),
        "sd_residual": fit.sd,
    }
    for term in terms:
        rows[term] = replace(rows[term], more=more, note=sentences(notes))
    return with_estimates(rows, used, fit.coefficients, fit.errors)


def rows_of_terms(terms: Iterable[str], name: str, level: float, n: int, note: str) -> dict[str, Finding]:
    """Return a finding without numbers for each term."""
    row = Finding(
        name=name, test="mixed model", n=n, statistic_name="z", estimate_name="coefficient", level=level, note=note
    )
    return {term: replace(row, name=f"{name}: {term}" if name else term) for term in terms}


def note_of_dropped(terms: Iterable[str], used: Collection[str]) -> list[str]:
    """Return a sentence about the terms that are not in the fitted model, if there are any."""
    dropped = [term for term in terms if term not in used]
    if not dropped:
        return []
    return [f"Left out of the model, because these data cannot tell them from the other terms: {and_joined(dropped)}."]


def with_estimates(
    rows: Mapping[str, Finding], used: Sequence[str], coefficients: Array, errors: Array
) -> tuple[Finding, ...]:
    """Return a finding per term, with estimate, interval and p value for the used ones; the intercept comes first."""
    done, ndtr = dict(rows), library("scipy.special").ndtr
    for i, term in enumerate(used, start=1):
        estimate, se = float(coefficients[i]), float(errors[i])
        reach = NormalDist().inv_cdf((1 + done[term].level) / 2)
        done[term] = replace(
            done[term],
            statistic=estimate / se,
            p=float(2 * ndtr(-abs(estimate / se))),
            estimate=estimate,
            estimate_low=estimate - reach * se,
            estimate_high=estimate + reach * se,
        )
    return tuple(done.values())


class Observations(NamedTuple):
    """The data to fit: values, participants, terms, and a sentence about missing data."""

    y: Array
    groups: Array
    people: int
    columns: dict[str, Array]
    missing: str


def usable_observations(values: Array, people: list[Hashable], terms: Mapping[str, ArrayLike]) -> Observations:
    """Return the observations without a missing number; all arguments must have the same length."""
    columns = {term: measures(term, column) for term, column in terms.items()}
    for what, length in [("participants", len(people)), *((term, len(column)) for term, column in columns.items())]:
        if length != len(values):
            raise InvalidInput(f"{what} has {length} entries and values has {len(values)}; as many are needed.")
    there = ~np.isnan(values)
    for column in columns.values():
        there &= ~np.isnan(column)
    codes: dict[Hashable, int] = {}
    groups = [codes.setdefault(who, len(codes)) for who, present in zip(people, there, strict=True) if present]
    everybody, count = len(set(people)), int(there.sum())
    missing = sentences(
        [
            left_out(len(there) - count, len(there), "missing", "observations"),
            left_out(everybody - len(codes), everybody, "no value at all"),
        ]
    )
    used = {term: column[there] for term, column in columns.items()}
    return Observations(values[there], np.array(groups, int), len(codes), used, missing)


def obstacle_to_fit(seen: Observations, design: Array, levels: Array) -> str:
    """Return why the model cannot be fitted; empty where it can."""
    y = seen.y
    if seen.people < 2 or len(y) == seen.people:
        return (
            f"Not fitted: at least two participants and more observations than participants are needed; "
            f"there are {seen.people} and {len(y)}."
        )
    slack = rounding(y)
    if constant(y, slack):
        return "Not fitted: all values are the same."
    if len(y) < design.shape[1] + 2:
        return f"Not fitted: {len(y)} observations are too few for {design.shape[1]} coefficients."
    exact = np.column_stack([design, levels])
    if np.abs(y - exact @ np.linalg.lstsq(exact, y, rcond=None)[0]).max() <= len(y) * slack:
        return "Not fitted: the terms explain the values without remainder, so there is no spread to test against."
    return ""


def independent_columns(columns: Mapping[str, Array], rows: int) -> tuple[Array, list[str]]:
    """Return the intercept and those columns that do not follow from the ones before."""
    design = np.ones((rows, 1))
    used: list[str] = []
    for term, column in columns.items():
        wider = np.column_stack([design, column])
        # Columns that outnumber the rows depend on each other. Without any row NumPy before 2.4.5 gives no rank at all.
        if rows >= wider.shape[1] and np.linalg.matrix_rank(wider) == wider.shape[1]:
            design, used = wider, [*used, term]
    return design, used


class _Fit(NamedTuple):
    coefficients: Array
    errors: Array
    sd: float
    residual: Array


def _least_squares(y: Array, design: Array, levels: Array, ratio: float) -> _Fit:
    """Fit generalised least squares with a variance between participants that is ``ratio`` times the one within.

    The standard errors are those of lme4. Those of statsmodels come from the joint curvature in all parameters and
    differ by one percent if data are missing.
    """
    weighted = _weighted(design, levels, ratio)
    information = design.T @ weighted
    coefficients = np.linalg.solve(information, weighted.T @ y)
    residual = y - design @ coefficients
    variance = float(residual @ _weighted(residual, levels, ratio)) / (len(y) - design.shape[1])
    errors = np.sqrt(np.diag(np.linalg.inv(information)) * variance)
    return _Fit(np.asarray(coefficients, dtype=np.float64), errors, math.sqrt(variance), residual)


def _weighted(columns: Array, levels: Array, ratio: float) -> Array:
    """Return (I + ratio * levels @ levels.T)^-1 @ columns, without building the matrix."""
    shrink = ratio / (1 + ratio * levels.sum(axis=0))
    return np.asarray(columns - levels @ ((levels.T @ columns).T * shrink).T)


def _variance_ratio(y: Array, design: Array, groups: Array, levels: Array) -> tuple[float | None, str]:
    """Return the variance between participants over that within, by REML, and a sentence on what is odd about it."""
    plain = _least_squares(y, design, levels, 0.0)
    basis = np.linalg.qr(design)[0]
    expected = len(y) - float(((levels.T @ basis) ** 2).sum())
    # The likelihood falls from 0 on; statsmodels searches at the edge in vain, so it is not asked.
    if float(((levels.T @ plain.residual) ** 2).sum()) / plain.sd**2 <= expected:
        return 0.0, "Participants' levels differ no more than chance makes them; this is then an ordinary regression."
    model = library("statsmodels.regression.mixed_linear_model", "Fitting a mixed model")
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="ignore"):
        # The library warns of much that does not matter here; what does comes back as a sentence.
        warnings.simplefilter("always")
        try:
            fit = model.MixedLM(y, design, groups).fit(reml=True, method=["bfgs", "powell"], gtol=1e-10)
            ratio = float(fit.cov_re[0, 0]) / float(fit.scale)
        except (np.linalg.LinAlgError, ValueError, ArithmeticError) as error:
            return None, f"Not fitted: the numbers do not allow it ({error})."
    if not fit.converged or not math.isfinite(ratio):
        why = f" ({_first_line(caught[-1])})" if caught else ""
        return None, f"Not fitted: the search for the best fit did not settle{why}."
    return _polished_ratio(y, design, levels, ratio), ""


def _polished_ratio(y: Array, design: Array, levels: Array, ratio: float) -> float:
    """Return the root of the REML score next to ``ratio``.

    A search for the maximum of the likelihood stops about 1e-8 away from it, at a place that depends on the processor.
    The score crosses zero there, so its root is exact, and every machine prints the same digits.
    """
    counts = levels.sum(axis=0)

    def score(candidate: float) -> float:
        fit = _least_squares(y, design, levels, candidate)
        weighted = _weighted(design, levels, candidate)
        sums = levels.T @ weighted
        spread = np.linalg.solve(design.T @ weighted, sums.T)
        expected = float((counts / (1 + candidate * counts)).sum()) - float((sums.T * spread).sum())
        observed = float(((levels.T @ fit.residual / (1 + candidate * counts)) ** 2).sum())
        return observed / fit.sd**2 - expected

    low, high = ratio * (1 - 1e-3), ratio * (1 + 1e-3)
    if not score(low) > 0 > score(high):
        return ratio  # a flat likelihood: the search has found what can be found
    return float(library("scipy.optimize").brentq(score, low, high, xtol=1e-300, rtol=1e-14))


def _first_line(warning: warnings.WarningMessage) -> str:
    return str(warning.message).strip().split("\n")[0].rstrip(".")


def and_joined(words: Sequence[str]) -> str:
    """Return ``a, b and c``."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
