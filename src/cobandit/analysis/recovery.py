"""Whether models can be distinguished, and parameters be found again, with as many choices as the study has.

For each model, people are simulated who play as its agent with parameters of the fitted size, in the same design. All
models are then fitted to their choices. The *confusion matrix* says which model is found for which, the correlations
say how well the parameters are found.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cobandit.analysis.choice_models import ChoiceModel
from cobandit.analysis.choices import Array, read_choices
from cobandit.analysis.model_fits import ModelFits, Progress, fit_models
from cobandit.base.checks import whole
from cobandit.base.files import make_folder, save_csv, save_json
from cobandit.base.streams import CrowdStream, checked_seed, generator
from cobandit.studies.rehearsed_data import rehearsed_data

PEOPLE = 30
"""How many people are simulated for each model by default."""

OUTER = 0.1
"""This share of the fitted values at either end is replaced by the quantile there."""

RECOVERY_COLUMNS = ("model", "parameter", "people", "correlation", "median_true", "median_found", "bias_on_fit_scale")
"""The columns of ``recovery.csv``."""


@dataclass(frozen=True)
class ParameterRecovery:
    """How well one parameter is found: ``correlation`` and ``bias`` (found minus true) are on the scale of the fit.

    ``correlation`` is None where all true or all found values are equal.
    """

    model: str
    parameter: str
    true: tuple[float, ...]
    found: tuple[float, ...]
    correlation: float | None
    bias: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "model": self.model,
            "parameter": self.parameter,
            "correlation": self.correlation,
            "bias_on_fit_scale": self.bias,
            "true": list(self.true),
            "found": list(self.found),
        }


@dataclass(frozen=True, eq=False)
class Recovery:
    """``confusion[i, j]`` counts the people who were simulated by model i and are best described (BIC) by model j."""

    models: tuple[ChoiceModel, ...]
    confusion: Array
    parameters: tuple[ParameterRecovery, ...]
    people: int
    seed: int
    seconds: float

    def share(self, model: str) -> float:
        """Return the share of a model's people for whom the same model is found."""
        place = [known.name for known in self.models].index(model)
        return float(self.confusion[place, place] / self.confusion[place].sum())

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name, ready for JSON."""
        return {
            "simulated": True,
            "people_per_model": self.people,
            "seed": self.seed,
            "seconds": self.seconds,
            "models": [model.name for model in self.models],
            "confusion": self.confusion.astype(int).tolist(),
            "parameters": [parameter.to_dict() for parameter in self.parameters],
        }

    def rows(self) -> Iterator[list[Any]]:
        """Yield one row for each parameter, in the order of `RECOVERY_COLUMNS`."""
        for each in self.parameters:
            medians = [float(np.median(each.true)), float(np.median(each.found))]
            yield [each.model, each.parameter, len(each.true), each.correlation, *medians, each.bias]

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write ``recovery.json``, ``recovery.csv`` and ``confusion.csv`` into a folder, and return the files."""
        out, names = make_folder(Path(folder)), [model.name for model in self.models]
        rows = ([name, *row] for name, row in zip(names, self.confusion.astype(int).tolist(), strict=True))
        return [
            save_json(out / "recovery.json", self.to_dict()),
            save_csv(out / "recovery.csv", RECOVERY_COLUMNS, self.rows()),
            save_csv(out / "confusion.csv", ["simulated", *names], rows),
        ]


def recover_models(
    fits: ModelFits, people: int = PEOPLE, seed: int | None = 0, *, progress: Progress | None = None
) -> Recovery:
    """Simulate ``people`` people for each fitted model, fit all models to them and compare with the truth.

    Parameters are drawn from the estimates of the study's people; the outermost tenth at either end is drawn in, as
    estimates on a bound say little. In a design for several people, whole teams are simulated.
    """
    count, number = whole(2, 10_000)("people", people), checked_seed(seed)
    team = len(fits.design.participant_seats)
    count = -(-count // team) * team
    names = [model.name for model in fits.models]
    confusion = np.zeros((len(names), len(names)))
    begun, parameters = time.perf_counter(), list[ParameterRecovery]()
    for place, model in enumerate(fits.models):
        rng = generator(number, CrowdStream.RECOVERY, place)
        true = _true_values(model, fits, place, count, rng)
        crowd = [
            (model.make(values), int(rng.integers(2**63)), i % len(fits.design.orders)) for i, values in enumerate(true)
        ]
        simulated = read_choices(rehearsed_data(fits.design, crowd, answers="none"), kind="rehearsal")

        def part(done: int, total: int, place: int = place) -> None:
            if progress is not None:
                progress(place * total + done, total * len(names))

        again = fit_models(simulated, names, starts=fits.starts, cross_validate=False, progress=part)
        for name in again.best("bic"):
            confusion[place, names.index(str(name))] += 1
        parameters += _compared(model, true, [row[place].values for row in again.fits])
    return Recovery(fits.models, confusion, tuple(parameters), count, number, time.perf_counter() - begun)


def _true_values(
    model: ChoiceModel, fits: ModelFits, place: int, count: int, rng: np.random.Generator
) -> list[tuple[float, ...]]:
    """Draw parameters of people from the fitted ones."""
    known = np.array([row[place].values for row in fits.fits]).reshape(len(fits.fits), -1)
    picks = known[rng.integers(len(known), size=count)]
    if known.size:
        low, high = np.quantile(known, [OUTER, 1.0 - OUTER], axis=0)
        picks = np.clip(picks, low, high)
    for column, parameter in enumerate(model.parameters):
        if parameter.scale == "whole":
            picks[:, column] = np.rint(picks[:, column])
    return [tuple(row) for row in picks.tolist()]


def _compared(
    model: ChoiceModel, true: Sequence[tuple[float, ...]], estimates: Sequence[tuple[float, ...]]
) -> list[ParameterRecovery]:
    compared = []
    for column, parameter in enumerate(model.parameters):
        was = tuple(row[column] for row in true)
        now = tuple(row[column] for row in estimates)
        a, b = (np.asarray(parameter.fitted(np.array(values)), dtype=np.float64) for values in (was, now))
        varies = a.std() > 1e-9 and b.std() > 1e-9
        correlation = float(np.corrcoef(a, b)[0, 1]) if varies else None
        compared.append(ParameterRecovery(model.name, parameter.name, was, now, correlation, float((b - a).mean())))
    return compared
