"""Maximum likelihood for models of people: one person at a time or all people pooled.

Smooth parameters are fitted by L-BFGS-B on the scale of `Parameter`, from the best points of a grid; whole numbers by a
profile over their values. Standard errors come from the observed information on the scale of the fit and are brought to
the scale of the option by its slope. Where an estimate lies on a bound, or the likelihood is flat, there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cobandit.analysis.choice_models import ChoiceModel, Likelihood, whole_values
from cobandit.analysis.choices import Array, Choices
from cobandit.stats.optimum import Optimum, covariance_of, curvature, minimise, starting_points

GRID = {1: 9, 2: 6, 3: 5}
"""Points per parameter of the grid whose best points are starts."""

PROFILED = 6
"""How many values of a whole number are fitted to the end: the best ones of the grid."""

HELD_OUT_STARTS = 2
"""Starts of a fit in cross-validation."""

MOST_FOLDS = 10
"""Up to this number, episodes are left out one by one; more of them are left out in this number of groups."""

PRIOR_WIDTHS = 4.0
"""Distance of the bounds of a parameter, in standard deviations of the weak prior."""

WIDE = 1.959963984540054
"""Standard errors on each side of a 95 % interval."""


@dataclass(frozen=True)
class Estimate:
    """One fitted parameter: ``se`` and the 95 % interval are None on a bound, if flat, and for a whole number.

    The interval is symmetric on the scale of the fit and ends at the bounds.

    ``flag`` is "" or the reason why there is no standard error: "at bound", "flat" or "whole number".
    """

    name: str
    value: float
    se: float | None
    low: float | None
    high: float | None
    flag: str


@dataclass(frozen=True, eq=False)
class Fit:
    """One model, fitted to the choices of one person or of all people.

    ``cross_validated`` is the log-likelihood of all episodes, each by the parameters that were fitted to the others;
    None with a single episode. ``point`` is the optimum on the scale of the fit, smooth parameters only. ``starts`` and
    ``found`` say from how many starts the search began and how many of them led to the best value.
    """

    model: ChoiceModel
    participant: str
    choices: int
    log_likelihood: float
    estimates: tuple[Estimate, ...]
    point: Array
    cross_validated: float | None
    starts: int
    found: int
    converged: bool

    @property
    def values(self) -> tuple[float, ...]:
        """The fitted options, in the order of the model's parameters."""
        return tuple(estimate.value for estimate in self.estimates)

    @property
    def aic(self) -> float:
        """Akaike's criterion: lower is better."""
        return 2.0 * len(self.estimates) - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """The Bayesian information criterion; n is the number of choices. Lower is better."""
        return len(self.estimates) * math.log(self.choices) - 2.0 * self.log_likelihood


@dataclass(frozen=True, eq=False)
class FitProblem:
    """A model with the choices that it is fitted to; ``episode`` says which episode each choice is from."""

    model: ChoiceModel
    likelihoods: tuple[Likelihood, ...]
    episode: Array
    memories: tuple[int, ...]

    @classmethod
    def of(cls, model: ChoiceModel, groups: Sequence[Choices]) -> FitProblem:
        """Prepare the likelihood of the choices of each group."""
        episodes, first = [], 0
        for group in groups:
            episodes.append(first + np.nonzero(group.counted)[0])
            first += len(group.own)
        longest = max(groups, key=lambda group: group.own.shape[1])
        memories = whole_values(model.whole, longest) if model.whole is not None else []
        return cls(model, tuple(model.prepare(group) for group in groups), np.concatenate(episodes), tuple(memories))

    def logs(self, points: Array, memory: int | None = None) -> Array:
        """Return the log probability of every choice (points x choices) at points of the scale of the fit."""
        natural = self.model.natural(points)
        if memory is not None:
            natural = np.column_stack([natural, np.full(len(points), float(memory))])
        return np.concatenate([likelihood(natural) for likelihood in self.likelihoods], axis=1)

    def optimum(self, weights: Array, starts: int, *, weak_prior: bool = False) -> tuple[Optimum, int | None]:
        """Return the best point for some of the choices, and the whole number of the model.

        The weak prior is normal on the scale of the fit, around the middle of the bounds.
        """
        bounds = self.model.bounds
        if not len(bounds):
            value = -float(self.logs(np.zeros((1, 0)))[0] @ weights)
            return Optimum(np.zeros(0), value, np.zeros(0, dtype=bool), 1, 1, True), None
        if self.model.whole is None:
            return self._searched(weights, starts, None, weak_prior), None
        shares = (np.arange(GRID[1]) + 0.5) / GRID[1]
        grid = bounds[:, 0] + shares[:, np.newaxis] * (bounds[:, 1] - bounds[:, 0])
        lowest = [float((-self.logs(grid, memory) @ weights).min()) for memory in self.memories]
        likely = [self.memories[place] for place in np.argsort(lowest, kind="stable")[:PROFILED]]
        profile = [(self._searched(weights, 1, memory, weak_prior), memory) for memory in sorted(likely)]
        return min(profile, key=lambda entry: entry[0].value)

    def _searched(self, weights: Array, starts: int, memory: int | None, weak_prior: bool) -> Optimum:
        bounds = self.model.bounds
        middle, width = bounds.mean(axis=1), (bounds[:, 1] - bounds[:, 0]) / PRIOR_WIDTHS

        def objective(points: Array) -> Array:
            penalty = 0.5 * (((points - middle) / width) ** 2).sum(axis=1) if weak_prior else 0.0
            return -(self.logs(points, memory) @ weights) + penalty

        return minimise(objective, bounds, starting_points(objective, bounds, GRID[len(bounds)], starts))


def fit_model(
    model: ChoiceModel, groups: Sequence[Choices], participant: str, *, starts: int = 4, cross_validate: bool = True
) -> Fit:
    """Fit one model to the choices of one person, or of several groups together."""
    problem = FitProblem.of(model, groups)
    every = np.ones(len(problem.episode))
    best, memory = problem.optimum(every, starts)
    held_out = _held_out(problem) if cross_validate else None
    return Fit(
        model,
        participant,
        len(every),
        -best.value,
        _estimates(problem, best, memory),
        best.point,
        held_out,
        best.starts,
        best.found,
        best.converged,
    )


def _held_out(problem: FitProblem) -> float | None:
    """Return the log-likelihood of every episode by a fit to the others; with many episodes, group by group.

    These fits have a weak prior. A few rounds may leave the likelihood without a maximum, as for a person who always
    took the best arm; a temperature of 0 would then make one other choice in the episode left out impossible.
    """
    present = np.unique(problem.episode)
    if len(present) < 2:
        return None
    if not len(problem.model.parameters):
        return float(problem.logs(np.zeros((1, 0))).sum())
    folds = min(len(present), MOST_FOLDS)
    total = 0.0
    for fold in range(folds):
        left_out = np.isin(problem.episode, present[fold::folds])
        best, memory = problem.optimum((~left_out).astype(np.float64), HELD_OUT_STARTS, weak_prior=True)
        total += float(problem.logs(best.point[np.newaxis], memory)[0, left_out].sum())
    return total


def _estimates(problem: FitProblem, best: Optimum, memory: int | None) -> tuple[Estimate, ...]:
    smooth = problem.model.smooth
    errors: dict[int, float] = {}
    free = ~best.at_bound
    if free.any():
        information = curvature(lambda points: -problem.logs(points, memory).sum(axis=1), best.point)
        covariance = covariance_of(information, free)
        if covariance is not None:
            errors = dict(zip(np.flatnonzero(free).tolist(), np.sqrt(np.diagonal(covariance)).tolist(), strict=True))
    estimates = []
    for place, parameter in enumerate(smooth):
        value = float(parameter.natural(best.point[place]))
        if place not in errors:
            flag = "at bound" if best.at_bound[place] else "flat"
            estimates.append(Estimate(parameter.name, value, None, None, None, flag))
            continue
        half = WIDE * errors[place]
        ends = np.clip(best.point[place] + np.array([-half, half]), *problem.model.bounds[place])
        low, high = parameter.natural(ends).tolist()
        estimates.append(Estimate(parameter.name, value, errors[place] * parameter.slope(value), low, high, ""))
    if problem.model.whole is not None and memory is not None:
        estimates.append(Estimate(problem.model.whole.name, float(memory), None, None, None, "whole number"))
    return tuple(estimates)
