"""All models fitted to all people of a study, and which of them describes the choices best.

The models are compared by the Bayesian information criterion (BIC) and by the likelihood of episodes that were left out
of the fit. For each criterion a person counts for the model with the best value, the simpler one of equals.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from cobandit.analysis.choice_models import CHANCE, CHOICE_MODELS, ChoiceModel, chosen_models
from cobandit.analysis.choices import Choices, StudyChoices, joined, read_choices
from cobandit.analysis.fitting import Fit, fit_model
from cobandit.base.checks import one_of, whole
from cobandit.base.extras import require_extras
from cobandit.base.files import make_folder, save_csv, save_json
from cobandit.base.json_types import JsonObject
from cobandit.stats.optimum import one_blas_thread
from cobandit.studies.data import StudyData, this_software
from cobandit.studies.design import StudyDesign

CRITERIA = ("bic", "cross_validated")
"""The criteria by which models are compared."""

FIT_COLUMNS = (
    "participant", "model", "choices", "parameters", "log_likelihood", "aic", "bic", "cross_validated", "best_bic",
    "best_cross_validated", "starts", "found", "converged",
)  # fmt: skip
"""The columns of ``fits.csv``."""

PARAMETER_COLUMNS = ("participant", "model", "parameter", "value", "se", "low", "high", "flag")
"""The columns of ``parameters.csv``."""

EVERYBODY = "everybody"
"""Stands where a participant would, in the fits to all choices together."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ModelTotal:
    """One model over all people: sums, and how many people each criterion gives it.

    ``cross_validated`` and ``cross_validated_chance`` are summed over the people with at least two episodes and None
    without any. ``probability`` is the geometric mean of the probability of a choice. ``pooled`` is the fit of one set
    of parameters to all people.
    """

    model: ChoiceModel
    log_likelihood: float
    aic: float
    bic: float
    cross_validated: float | None
    probability: float
    best_by_bic: int
    best_by_cross_validation: int
    pooled: Fit

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "model": self.model.name,
            "label": self.model.label,
            "agent": self.model.agent,
            "fixed": dict(self.model.fixed),
            "parameters": [parameter.name for parameter in self.model.parameters],
            "log_likelihood": self.log_likelihood,
            "aic": self.aic,
            "bic": self.bic,
            "cross_validated": self.cross_validated,
            "mean_probability": self.probability,
            "best_by_bic": self.best_by_bic,
            "best_by_cross_validation": self.best_by_cross_validation,
            "pooled": fit_dict(self.pooled),
        }


@dataclass(frozen=True, eq=False)
class ModelFits:
    """Every model fitted to every person; ``fits[i][m]`` is model m of person i, ``pooled[m]`` that of all people."""

    study: StudyChoices
    models: tuple[ChoiceModel, ...]
    fits: tuple[tuple[Fit, ...], ...]
    pooled: tuple[Fit, ...]
    starts: int
    seconds: float

    @property
    def design(self) -> StudyDesign:
        """The design of the study."""
        return self.study.design

    @property
    def people(self) -> tuple[Choices, ...]:
        """Whose choices were fitted."""
        return self.study.people

    @property
    def choices(self) -> int:
        """The number of choices of all people."""
        return sum(len(person) for person in self.people)

    def best(self, criterion: str = "bic") -> tuple[str | None, ...]:
        """Return the name of each person's best model; None where a person has a single episode to leave out."""
        one_of(CRITERIA, "criterion")("criterion", criterion)
        return tuple(_best(row, criterion) for row in self.fits)

    @cached_property
    def totals(self) -> tuple[ModelTotal, ...]:
        """The models over all people, the lowest BIC first."""
        by_bic, by_held_out = self.best("bic"), self.best("cross_validated")
        totals = []
        for place, model in enumerate(self.models):
            mine = [row[place] for row in self.fits]
            held_out = [fit.cross_validated for fit in mine if fit.cross_validated is not None]
            total = sum(fit.log_likelihood for fit in mine)
            totals.append(
                ModelTotal(
                    model,
                    total,
                    sum(fit.aic for fit in mine),
                    sum(fit.bic for fit in mine),
                    sum(held_out) if held_out else None,
                    math.exp(total / self.choices),
                    by_bic.count(model.name),
                    by_held_out.count(model.name),
                    self.pooled[place],
                )
            )
        return tuple(sorted(totals, key=lambda entry: entry.bic))

    def rows(self) -> Iterator[list[Any]]:
        """Yield one row for every person and model, in the order of `FIT_COLUMNS`; the pooled fits come last."""
        by_bic, by_held_out = self.best("bic"), self.best("cross_validated")
        for place, row in enumerate(self.fits):
            for fit in row:
                name = fit.model.name
                yield _fit_row(fit, by_bic[place] == name, by_held_out[place] == name)
        for fit in self.pooled:
            yield _fit_row(fit, fit is min(self.pooled, key=lambda other: other.bic), None)

    def parameter_rows(self) -> Iterator[list[Any]]:
        """Yield one row for every person, model and parameter, in the order of `PARAMETER_COLUMNS`."""
        for row in (*self.fits, self.pooled):
            for fit in row:
                for each in fit.estimates:
                    who = [fit.participant, fit.model.name]
                    yield [*who, each.name, each.value, each.se, each.low, each.high, each.flag]

    def to_dict(self) -> dict[str, Any]:
        """Return the fits as plain data, ready for JSON."""
        return {
            "study": self.design.name,
            "version": self.design.version,
            "digest": self.design.digest,
            "kind": self.study.kind,
            "simulated": self.study.kind == "rehearsal",
            "fitted_with": this_software()["cobandit"],
            "people": len(self.people),
            "choices": self.choices,
            "starts": self.starts,
            "seconds": self.seconds,
            "rules": RULES,
            "notes": list(self.study.notes),
            "models": [total.to_dict() for total in self.totals],
            "fits": [[fit_dict(fit) for fit in row] for row in self.fits],
        }

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write ``fits.json``, ``fits.csv`` and ``parameters.csv`` into a folder, and return the files."""
        out = make_folder(Path(folder))
        return [
            save_json(out / "fits.json", self.to_dict()),
            save_csv(out / "fits.csv", FIT_COLUMNS, self.rows()),
            save_csv(out / "parameters.csv", PARAMETER_COLUMNS, self.parameter_rows()),
        ]

    def __repr__(self) -> str:
        return f"<ModelFits of {self.design.name}: {len(self.models)} models, {len(self.people)} people>"


RULES = {
    "people": "Those whom the analysis plan does not exclude; without a plan, those who have finished.",
    "rounds": "All rounds that count; practice and rounds that an AI took over are no choices of the person.",
    "history": "A model knows what the person saw: all arms, the own rewards, and nothing of a warm start.",
    "best": "Each person counts for the model with the best value; the simpler one of equals.",
    "cross_validation": (
        "Each episode is predicted by a fit to the person's other episodes (above 10 episodes, in 10 groups), with a "
        "weak prior on the parameters; people with one episode have no such value."
    ),
}
"""What is fitted and how models are compared, in words."""


def fit_models(
    data: StudyData | StudyChoices | str | os.PathLike[str],
    models: Sequence[str] | str | None = None,
    *,
    kind: str | None = None,
    starts: int = 4,
    cross_validate: bool = True,
    progress: Progress | None = None,
) -> ModelFits:
    """Fit models of people to the choices of a study, person by person and pooled, by maximum likelihood.

    ``data`` is a study in memory, the folder of an export, or the result of `read_choices`. ``models`` are names of
    `CHOICE_MODELS` (default: all); chance is always among them. ``starts`` is the number of searches for each fit.
    ``progress(done, all)`` counts people and the pooled fit.
    """
    require_extras("Fitting models to choices", stats=True)
    count = whole(1, 100)("starts", starts)
    named = chosen_models(models)
    known = named if CHANCE in [model.name for model in named] else (CHOICE_MODELS[CHANCE], *named)
    ordered = tuple(model for model in CHOICE_MODELS.values() if model in known)
    study = data if isinstance(data, StudyChoices) else read_choices(data, kind=kind)
    begun, rows = time.perf_counter(), []
    with one_blas_thread():
        for done, person in enumerate(study.people):
            name = person.participant
            rows.append(
                tuple(
                    fit_model(model, [person], name, starts=count, cross_validate=cross_validate) for model in ordered
                )
            )
            if progress is not None:
                progress(done + 1, len(study.people) + 1)
        everybody = joined(study.people)
        pooled = tuple(fit_model(model, everybody, EVERYBODY, starts=count, cross_validate=False) for model in ordered)
    if progress is not None:
        progress(len(study.people) + 1, len(study.people) + 1)
    return ModelFits(study, ordered, tuple(rows), pooled, count, time.perf_counter() - begun)


def fit_dict(fit: Fit) -> JsonObject:
    """Return a fit as plain data."""
    return {
        "participant": fit.participant,
        "model": fit.model.name,
        "choices": fit.choices,
        "log_likelihood": fit.log_likelihood,
        "aic": fit.aic,
        "bic": fit.bic,
        "cross_validated": fit.cross_validated,
        "starts": fit.starts,
        "found": fit.found,
        "converged": fit.converged,
        "estimates": [vars(estimate) for estimate in fit.estimates],
    }


def _best(row: Sequence[Fit], criterion: str) -> str | None:
    """Return the best model of one person. Values that differ by rounding errors only are equal."""
    values = [fit.bic if criterion == "bic" else _negative(fit.cross_validated) for fit in row]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    lowest = min(known)
    equals = [fit for fit, value in zip(row, known, strict=True) if value <= lowest + 1e-9 * max(1.0, abs(lowest))]
    return min(equals, key=lambda fit: len(fit.estimates)).model.name


def _negative(value: float | None) -> float | None:
    return None if value is None else -value


def _fit_row(fit: Fit, best_bic: bool, best_held_out: bool | None) -> list[object]:
    values = {**vars(fit), "model": fit.model.name, "parameters": len(fit.estimates), "aic": fit.aic, "bic": fit.bic}
    values |= {"best_bic": best_bic, "best_cross_validated": best_held_out}
    return [values[name] for name in FIT_COLUMNS]
