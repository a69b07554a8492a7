"""A population from fitted models: how the people of a study differ, as behaviours for simulated studies.

Each person counts for the model with the lowest BIC. The parameters of a model's people are taken as normal on the
scale of the fit. Mean and covariance are estimated by expectation maximisation with Laplace's approximation (Huys et
al. 2011): every person's parameters are fitted with the present distribution as the prior, then the distribution is
fitted to these estimates and their uncertainty. People with few or one-sided choices therefore move towards the others.
Whole numbers are drawn from the people's own estimates.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cobandit.agents import Agent
from cobandit.analysis.choice_models import ChoiceModel
from cobandit.analysis.choices import Array
from cobandit.analysis.fitting import Fit, FitProblem
from cobandit.analysis.model_fits import ModelFits
from cobandit.analysis.population import Population, population
from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.files import save_json
from cobandit.base.json_types import JsonObject
from cobandit.base.streams import CrowdStream, checked_seed, generator
from cobandit.stats.optimum import covariance_of, curvature, minimise, one_blas_thread
from cobandit.studies.behaviours import make_behaviour

FORMAT = "cobandit-population"

MEMBERS = 60
"""How many simulated people a population has by default."""

MOST_STEPS = 15
"""Steps of expectation maximisation at most."""

PRIOR_PEOPLE = 2.0
PRIOR_SPREAD = 0.5
"""The covariance is estimated as if two more people with this standard deviation were among them: one person, or people
with equal estimates, do not make a population without spread.
"""


@dataclass(frozen=True, eq=False)
class ModelPopulation:
    """The people of one model: normal with ``mean`` and ``covariance`` on the scale of the fit.

    ``whole_values`` are the people's estimates of the parameter that is a whole number, if the model has one.
    """

    model: ChoiceModel
    people: int
    mean: Array
    covariance: Array
    whole_values: tuple[int, ...]

    def draw(self, count: int, rng: np.random.Generator) -> list[Agent]:
        """Draw simulated people."""
        size, bounds = len(self.mean), self.model.bounds
        root = np.linalg.cholesky(self.covariance) if size else np.zeros((0, 0))
        points = self.mean + rng.standard_normal((count, size)) @ root.T
        points = np.clip(points, bounds[:, 0], bounds[:, 1])
        values = self.model.natural(points).tolist()
        if self.whole_values:
            picks = rng.integers(len(self.whole_values), size=count).tolist()
            values = [[*row, self.whole_values[pick]] for row, pick in zip(values, picks, strict=True)]
        return [self.model.make([float(f"{value:.6g}") for value in row]) for row in values]

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        medians = self.model.natural(self.mean[np.newaxis])[0].tolist()
        return {
            "model": self.model.name,
            "people": self.people,
            "parameters": [parameter.name for parameter in self.model.smooth],
            "scales": [parameter.scale for parameter in self.model.smooth],
            "mean": self.mean.tolist(),
            "covariance": self.covariance.tolist(),
            "median": medians,
            "whole_values": list(self.whole_values),
        }


@dataclass(frozen=True, eq=False)
class FittedPopulation:
    """Simulated people like those of a study: the distribution of each model's parameters, and draws from it."""

    label: str
    study: str
    kind: str
    people: int
    seed: int
    models: tuple[ModelPopulation, ...]
    members: tuple[Agent, ...]

    @property
    def population(self) -> Population:
        """The population as `power_analysis`, `calibrate` and `studies.simulate_participants` take it."""
        return population([(member, 1.0) for member in self.members], self.label)

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "format": FORMAT,
            "layout": 1,
            "label": self.label,
            "study": self.study,
            "kind": self.kind,
            "people": self.people,
            "seed": self.seed,
            "models": [model.to_dict() for model in self.models],
            "members": [{"agent": member.title, "options": dict(member.options)} for member in self.members],
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the population into a JSON file, which ``--behaviour`` and `read_population` take."""
        return save_json(Path(path), self.to_dict())


def fitted_population(fits: ModelFits, members: int = MEMBERS, seed: int | None = 0) -> FittedPopulation:
    """Return simulated people like those whose choices were fitted, in shares of their best models by BIC."""
    count, number = whole(1, 10_000)("members", members), checked_seed(seed)
    best = fits.best("bic")
    models = []
    with one_blas_thread():
        for place, model in enumerate(fits.models):
            mine = [i for i, name in enumerate(best) if name == model.name]
            if mine:
                models.append(_model_population(model, fits, place, mine))
    shares = _shares([model.people for model in models], count)
    rng = generator(number, CrowdStream.FITTED)
    drawn = [agent for model, share in zip(models, shares, strict=True) for agent in model.draw(share, rng)]
    shuffled = tuple(drawn[i] for i in rng.permutation(len(drawn)))
    who = "simulated participants" if fits.study.kind == "rehearsal" else "people"
    label = f"fitted to {len(fits.people)} {who} of {fits.design.name}"
    return FittedPopulation(label, fits.design.name, fits.study.kind, len(fits.people), number, tuple(models), shuffled)


def _model_population(model: ChoiceModel, fits: ModelFits, place: int, mine: Sequence[int]) -> ModelPopulation:
    own: list[Fit] = [fits.fits[i][place] for i in mine]
    memories = tuple(round(fit.values[-1]) for fit in own) if model.whole is not None else ()
    size, bounds = len(model.smooth), model.bounds
    if not size:
        return ModelPopulation(model, len(own), np.zeros(0), np.zeros((0, 0)), memories)
    problems = [FitProblem.of(model, [fits.people[i]]) for i in mine]
    margin = 0.1 * (bounds[:, 1] - bounds[:, 0])
    points = np.clip([fit.point for fit in own], bounds[:, 0] + margin, bounds[:, 1] - margin)
    spreads = np.zeros((len(own), size, size))
    mean, covariance = _moments(points, spreads)
    for _ in range(MOST_STEPS):
        for i, problem in enumerate(problems):
            memory = memories[i] if memories else None
            points[i], spreads[i] = _posterior(problem, memory, points[i], mean, covariance)
        earlier = mean, covariance
        mean, covariance = _moments(points, spreads)
        if max(float(np.abs(new - old).max()) for new, old in zip((mean, covariance), earlier, strict=True)) < 0.01:
            break
    return ModelPopulation(model, len(own), mean, covariance, memories)


def _moments(points: Array, spreads: Array) -> tuple[Array, Array]:
    """Return mean and covariance of people with these estimates and uncertainties."""
    mean = points.mean(axis=0)
    off = points - mean
    total = off.T @ off + spreads.sum(axis=0) + PRIOR_PEOPLE * PRIOR_SPREAD**2 * np.eye(len(mean))
    return mean, np.asarray(total / (len(points) + PRIOR_PEOPLE))


def _posterior(
    problem: FitProblem, memory: int | None, start: Array, mean: Array, covariance: Array
) -> tuple[Array, Array]:
    """Return one person's most probable parameters under the prior, and Laplace's covariance of them."""
    precision = np.linalg.inv(covariance)

    def objective(points: Array) -> Array:
        off = points - mean
        penalty = 0.5 * np.einsum("ij,jk,ik->i", off, precision, off)
        return np.asarray(penalty - problem.logs(points, memory).sum(axis=1))

    best = minimise(objective, problem.model.bounds, start[np.newaxis])
    spread = covariance_of(curvature(objective, best.point), np.ones(len(mean), dtype=bool))
    return best.point, covariance if spread is None else spread


def _shares(people: Sequence[int], count: int) -> list[int]:
    """Return how many of ``count`` members each model gets: in proportion to its people, largest remainders first."""
    exact = [count * part / sum(people) for part in people]
    shares = [int(value) for value in exact]
    order = sorted(range(len(people)), key=lambda i: (shares[i] - exact[i], i))
    for i in order[: count - sum(shares)]:
        shares[i] += 1
    return shares


def read_fitted_population(path: str | os.PathLike[str]) -> Population:
    """Return the population of a file that `FittedPopulation.save` wrote."""
    file = Path(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInput(f"The population {str(file)!r} cannot be read: {_reason(error)}.") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InvalidInput(f"{str(file)!r} must be a population that `cobandit study fit` wrote.")
    if data.get("layout") != 1:
        raise InvalidInput(f"{str(file)!r} has layout {short_repr(data.get('layout'))}; this version reads layout 1.")
    members = data.get("members")
    if not isinstance(members, list) or not members or not all(isinstance(entry, dict) for entry in members):
        raise InvalidInput(f"{str(file)!r} must have a list of members, got {short_repr(members)}.")
    agents = [_member(file, entry) for entry in members]
    counted = Counter(agent.title for agent in agents)
    usual = ", ".join(f"{name} {100 * many / len(agents):.3g} %" for name, many in sorted(counted.items()))
    label = data.get("label")
    return population([(agent, 1.0) for agent in agents], label if isinstance(label, str) and label else usual)


def _member(file: Path, entry: JsonObject) -> Agent:
    name, options = entry.get("agent"), entry.get("options", {})
    if not isinstance(name, str) or not isinstance(options, dict):
        raise InvalidInput(f"A member of {str(file)!r} must have an agent and options, got {short_repr(entry)}.")
    return make_behaviour(name, **options)


def _reason(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not JSON"
