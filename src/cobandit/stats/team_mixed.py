"""A mixed-effects model for people in teams: every team has a level of its own, and so has every person in it."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobandit.base.errors import InvalidInput, short_repr
from cobandit.stats.finding import Finding, sentences
from cobandit.stats.mixed import (
    independent_columns,
    note_of_dropped,
    obstacle_to_fit,
    rows_of_terms,
    usable_observations,
    with_estimates,
)
from cobandit.stats.samples import Array, check_level, library, measures

_INSTEAD = "The tests on team means stand without this check."

_STARTS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (0.7, 0.7), (3.0, 3.0))
"""Where the search for the standard deviations (as multiples of the residual one) begins."""

_ENDLESS = 1e5
"""A standard deviation of this many residual ones means that nothing is left over."""

_ZERO = 1e-7
"""A loss in log-likelihood below this does not tell a variance from zero."""


def team_mixed_model(
    values: ArrayLike,
    teams: Sequence[Hashable],
    members: Sequence[Sequence[Hashable]],
    terms: Mapping[str, ArrayLike],
    *,
    name: str = "",
    level: float = 0.95,
) -> tuple[Finding, ...]:
    """Fit a linear model with a random intercept for each team and for each of its people by REML; return one finding
    for each term.

    ``values``, ``teams`` and ``members`` have one entry for each observation; ``members`` lists the people of the team
    who made it. An observation of several people, such as an episode that they played together, has the mean of their
    levels (multiple membership), so that it is counted once. ``terms`` as in `mixed_model`, and so are the findings:
    ``n`` counts teams, and ``more`` contains the standard deviations between teams (``sd_teams``), between the people
    of a team (``sd_participants``) and of the rest (``sd_residual``), and the correlation of two people of one team
    (``team_correlation``: the share of the teams' variance in the total).
    """
    check_level("level", level)
    y = measures("values", values)
    if len(members) != len(y):
        raise InvalidInput(f"members has {len(members)} entries and values has {len(y)}; as many are needed.")
    if any(isinstance(who, str) or not len(who) for who in members):
        raise InvalidInput(f"members must list people for each observation, got {short_repr(list(members)[:3])}.")
    seen = usable_observations(y, list(teams), terms)
    rows = rows_of_terms(terms, name, level, seen.people, seen.missing.replace("participants", "teams"))

    def unfitted(reason: str) -> tuple[Finding, ...]:
        about_teams = reason.replace("participants", "teams")
        return tuple(replace(row, note=sentences([row.note, about_teams, _INSTEAD])) for row in rows.values())

    design, used = independent_columns(seen.columns, len(seen.y))
    there = ~np.isnan(y) & np.all([~np.isnan(measures(term, terms[term])) for term in terms], axis=0)
    people = [tuple(who) for who, present in zip(members, there, strict=True) if present]
    levels = (seen.groups[:, np.newaxis] == np.arange(seen.people)).astype(np.float64)
    obstacle = obstacle_to_fit(seen, design, levels)
    if obstacle:
        return unfitted(obstacle)
    spread = float(seen.y.std())
    data = _Data.of((seen.y - seen.y.mean()) / spread, design, seen.groups, people)
    ratios = _best_ratios(data)
    if max(ratios) >= _ENDLESS:
        return unfitted("Not fitted: the levels explain the values without remainder.")
    fit = data.fit(ratios)
    coefficients, errors = fit.coefficients * spread, fit.errors * spread
    more = {"observations": len(seen.y), **_spreads(math.sqrt(fit.variance) * spread, ratios)}
    notes = [*_notes(ratios), *note_of_dropped(terms, used)]
    for term in terms:
        rows[term] = replace(rows[term], more=more, note=sentences([rows[term].note, *notes]))
    return with_estimates(rows, used, coefficients, errors)


def _spreads(sd: float, ratios: tuple[float, float]) -> dict[str, float | None]:
    teams, people = (ratio**2 for ratio in ratios)
    return {
        "sd_teams": sd * ratios[0],
        "sd_participants": sd * ratios[1],
        "sd_residual": sd,
        "team_correlation": teams / (teams + people + 1.0),
    }


def _notes(ratios: tuple[float, float]) -> list[str]:
    return [
        f"{what} differ no more than chance makes them."
        for what, ratio in zip(("Teams' levels", "The levels of people in a team"), ratios, strict=True)
        if ratio == 0.0
    ]


class _Fit(NamedTuple):
    coefficients: Array
    errors: Array
    variance: float
    loss: float
    score: Array


@dataclass(frozen=True)
class _Data:
    """The observations in blocks of equal size, one for each team: teams are independent of each other.

    ``shared`` holds, for each block, what two observations of a team have in common through its people.
    """

    blocks: tuple[tuple[NDArray[np.int64], Array], ...]
    y: Array
    design: Array

    @classmethod
    def of(cls, y: Array, design: Array, groups: Array, people: list[tuple[Hashable, ...]]) -> _Data:
        """Sort the observations into blocks."""
        by_size: dict[int, list[tuple[NDArray[np.int64], Array]]] = {}
        for team in range(int(groups.max()) + 1):
            rows = np.flatnonzero(groups == team)
            names = list(dict.fromkeys(who for i in rows for who in people[i]))
            weights = np.array([[people[i].count(who) / len(people[i]) for who in names] for i in rows])
            by_size.setdefault(len(rows), []).append((rows, weights @ weights.T))
        blocks = tuple(
            (np.stack([rows for rows, _ in parts]), np.stack([shared for _, shared in parts]))
            for parts in by_size.values()
        )
        return cls(blocks, y, design)

    def fit(self, ratios: Sequence[float] | Array) -> _Fit:
        """Fit generalised least squares for given standard deviations of teams and people, as multiples of the rest.

        ``loss`` is -2 times the restricted log-likelihood, up to a constant; ``score`` its slope in both variances.
        """
        columns = self.design.shape[1]
        information = np.zeros((columns, columns))
        moments, total, logarithm = np.zeros(columns), 0.0, 0.0
        inverses: list[Array] = []
        for rows, shared in self.blocks:
            size = rows.shape[1]
            matrix = np.eye(size) + ratios[0] ** 2 * np.ones((size, size)) + ratios[1] ** 2 * shared
            inverse: Array = np.linalg.inv(matrix).astype(np.float64)
            inverses.append(inverse)
            logarithm += float(np.linalg.slogdet(matrix)[1].sum())
            x, y = self.design[rows], self.y[rows]
            weighted = inverse @ x
            information += np.einsum("tik,til->kl", x, weighted)
            moments += np.einsum("tik,ti->k", weighted, y)
            total += float(np.einsum("ti,tij,tj->", y, inverse, y))
        covariance: Array = np.linalg.inv(information).astype(np.float64)
        coefficients = covariance @ moments
        freedom = len(self.y) - columns
        variance = max(total - float(moments @ coefficients), 1e-300) / freedom
        loss = logarithm + float(np.linalg.slogdet(information)[1]) + freedom * math.log(variance)
        score = self._score(inverses, covariance, coefficients, variance)
        return _Fit(coefficients, np.sqrt(np.diag(covariance) * variance), variance, loss, score)

    def _score(self, inverses: list[Array], covariance: Array, coefficients: Array, variance: float) -> Array:
        score = np.zeros(2)
        for (rows, shared), inverse in zip(self.blocks, inverses, strict=True):
            weighted = inverse @ self.design[rows]
            rest = np.einsum("tij,tj->ti", inverse, self.y[rows] - self.design[rows] @ coefficients)
            for k, part in enumerate((np.ones_like(shared), shared)):
                spread = np.einsum("tik,tij,tjl->kl", weighted, part, weighted)
                score[k] += float((inverse * part).sum() - (covariance * spread).sum())
                score[k] -= float(np.einsum("ti,tij,tj->", rest, part, rest)) / variance
        return score


def _best_ratios(data: _Data) -> tuple[float, float]:
    """Return the standard deviations of teams and people over the residual one that make the likelihood largest.

    A component without which the likelihood is as large is zero. The search stops about 1e-8 away from the maximum, so
    the root of the slope follows, which is the same on every machine.
    """
    optimize = library("scipy.optimize", "Fitting a mixed model")

    def objective(ratios: Array) -> tuple[float, Array]:
        fit = data.fit(ratios)
        return fit.loss, 2 * np.asarray(ratios) * fit.score

    def search(free: tuple[bool, bool]) -> tuple[float, Array]:
        bounds = [(0.0, _ENDLESS if there else 0.0) for there in free]
        starts = dict.fromkeys(
            tuple(s if there else 0.0 for s, there in zip(start, free, strict=True)) for start in _STARTS
        )
        tries = [
            optimize.minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15})
            for start in starts
        ]
        best = min(tries, key=lambda result: float(result.fun))
        return float(best.fun), np.abs(best.x)

    whole, ratios = search((True, True))
    for free in ((False, False), (True, False), (False, True)):
        smaller, fewer = search(free)
        if smaller <= whole + _ZERO:
            ratios = fewer
            break
    free_places = [k for k in range(2) if ratios[k] > 0.0]
    if free_places and max(ratios) < _ENDLESS:
        ratios = _polished(data, ratios, free_places)
    return float(ratios[0]), float(ratios[1])


def _polished(data: _Data, ratios: Array, places: list[int]) -> Array:
    """Return the root of the slope of the likelihood next to ``ratios``, by Newton's method."""
    variances = ratios[places] ** 2

    def slope(values: Array) -> Array:
        full = np.zeros(2)
        full[places] = np.sqrt(np.maximum(values, 0.0))
        return data.fit(full).score[places]

    root = library("scipy.optimize").root(slope, variances, tol=1e-13)
    near = np.allclose(root.x, variances, rtol=1e-3) and (root.x > 0.0).all()
    if near and np.abs(slope(root.x)).max() <= np.abs(slope(variances)).max():
        polished = np.zeros(2)
        polished[places] = np.sqrt(root.x)
        return polished
    return ratios
