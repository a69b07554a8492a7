"""Report of fitted models: which describes the choices best, the parameters, the population, and what is recovered."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cobandit.analysis.fitted_population import FittedPopulation
from cobandit.analysis.fitting import Estimate
from cobandit.analysis.model_fits import RULES, ModelFits, ModelTotal
from cobandit.analysis.recovery import Recovery
from cobandit.base.numbers import DASH, PAGE
from cobandit.report.kit.figure import LETTERS, NARROW, WIDE, figure_svg, new_figure, save_figure
from cobandit.report.kit.html import FIGURES, Frame, dated, figure_kinds
from cobandit.report.kit.palette import COLOURS
from cobandit.report.kit.static_svg import inline_figure
from cobandit.report.power.rehearsal import Table, write_rehearsal_page

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

NAME = "fit.html"
FIGURE = "best-models"
READING = "filled: by BIC; hollow: by the likelihood of episodes that were left out of the fit"
HEAD = 0.5
"""Inches of the heading of a figure, which the page does not show."""

SIMULATED = "All participants here are simulated; nothing here is evidence about people."
EXPLORATORY = (
    "Fitted models describe choices. They test no hypothesis, and the best of these models may still be wrong."
)


def write_fit_report(
    fits: ModelFits,
    out: str | os.PathLike[str],
    population: FittedPopulation | None = None,
    recovery: Recovery | None = None,
    about: Mapping[str, object] | None = None,
) -> Path:
    """Write ``out/fit.html`` and the figure of the best models, and return the path of the page.

    ``about`` contains ``when`` (default: now), ``command`` and any other facts to show.
    """
    folder = Path(out)
    save_figure(lambda: best_models_figure(fits, WIDE), folder / FIGURES, FIGURE)
    facts = {
        "Study": f"{fits.design.name}, version {fits.design.version}",
        "People": len(fits.people),
        "Choices": f"{fits.choices:,}",
        "Starts": fits.starts,
        "Fitted in": f"{fits.seconds:.1f} s",
    }
    best = fits.totals[0]
    frame = Frame(
        title=f"Models of people: {fits.design.title}",
        lead=f"{len(fits.models)} models, fitted to the choices of each of {len(fits.people)} people",
    )
    content = {
        "warning": SIMULATED if fits.study.kind == "rehearsal" else EXPLORATORY,
        "rules": RULES,
        "best": best,
        "people": len(fits.people),
        "most": max(fits.totals, key=lambda total: total.best_by_bic),
        "comparison": _comparison(fits),
        "pictures": _pictures(fits),
        "reading": READING,
        "figure": FIGURE,
        "figure_kinds": figure_kinds(FIGURE, folder),
        "parameters": _parameters(fits),
        "population": None if population is None else _population(population),
        "members": 0 if population is None else len(population.members),
        "confusion": None if recovery is None else _confusion(recovery),
        "recovered": None if recovery is None else _recovered(recovery),
        "simulated_people": 0 if recovery is None else recovery.people,
        "each": _each(fits),
        "notes": fits.study.notes,
    }
    return write_rehearsal_page(folder / NAME, "study/fit.html", frame, facts | dated(about), content)


def best_models_figure(fits: ModelFits, width: float) -> Figure:
    """Draw how many people each model describes best; ``width`` in inches."""
    totals, wide = fits.totals, width > NARROW
    labels = [total.model.label if wide else textwrap.fill(total.model.label, 20) for total in totals]
    height = 1.3 + 0.3 * len(totals)
    figure = new_figure((width, height), "People for whom a model is the best", READING, indent=0.02 * width)
    axes = figure.subplots(
        gridspec_kw={
            "left": 0.3 if wide else 0.42,
            "right": 0.96,
            "bottom": 0.55 / height,
            "top": 1 - 0.6 / height,
        }
    )
    held_out = any(total.cross_validated is not None for total in totals)
    for place, total in enumerate(totals):
        axes.plot([0, total.best_by_bic], [place] * 2, color=COLOURS[0], linewidth=1.0)
        axes.plot([total.best_by_bic], [place], "o", color=COLOURS[0], markersize=5.0)
        if held_out:
            axes.plot(
                [total.best_by_cross_validation], [place], "s", color=COLOURS[1], markersize=6.5, fillstyle="none"
            )
    axes.set_yticks(range(len(totals)), labels)
    axes.set_ylim(len(totals) - 0.4, -0.6)
    axes.set_xlim(left=-0.02 * len(fits.people))
    axes.locator_params(axis="x", integer=True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0, labelsize=LETTERS if wide else LETTERS - 1.0)
    axes.set_xlabel(f"people, of {len(fits.people)}")
    return figure


def _pictures(fits: ModelFits) -> list[Markup]:
    """Return the figure for wide screens and for narrow ones."""
    return [
        inline_figure(
            figure_svg(partial(best_models_figure, fits, width)),
            FIGURE,
            "How many people each model describes best",
            kind=kind,
            head=HEAD,
        )
        for kind, width in (("wide", WIDE), ("narrow", NARROW))
    ]


def _comparison(fits: ModelFits) -> Table:
    lowest = fits.totals[0].bic
    heads = ["Model", "Parameters", "Log-likelihood", "Probability", "AIC", "BIC", "Above best", "Left out", "People"]
    rows = [[total.model.label, *_total_cells(total, lowest)] for total in fits.totals]
    return Table("Models, the lowest BIC first", heads, rows)


def _total_cells(total: ModelTotal, lowest: float) -> list[str]:
    return [
        str(len(total.model.parameters)),
        PAGE.format(total.log_likelihood, 1),
        PAGE.format(total.probability, 3),
        PAGE.format(total.aic, 1),
        PAGE.format(total.bic, 1),
        PAGE.format(total.bic - lowest, 1),
        DASH if total.cross_validated is None else PAGE.format(total.cross_validated, 1),
        str(total.best_by_bic) + ("" if total.cross_validated is None else f" / {total.best_by_cross_validation}"),
    ]


def _parameters(fits: ModelFits) -> Table:
    heads = ["Model", "Parameter", "All people ± s.e.", "95 % interval", "Median person", "Middle half", "No s.e."]
    rows = []
    for place, model in enumerate(fits.models):
        for column, parameter in enumerate(model.parameters):
            pooled = fits.pooled[place].estimates[column]
            mine = [row[place].estimates[column] for row in fits.fits]
            values = [estimate.value for estimate in mine]
            low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
            lacking = sum(estimate.se is None for estimate in mine)
            rows.append(
                [
                    model.label,
                    parameter.name,
                    _value(pooled),
                    _interval(pooled),
                    _short(middle),
                    f"{_short(low)} to {_short(high)}",
                    DASH if parameter.scale == "whole" else f"{lacking} of {len(mine)}",
                ]
            )
    return Table("Parameters", heads, rows, words=2)


def _short(value: float) -> str:
    return f"{value:.3g}"


def _value(estimate: Estimate) -> str:
    if estimate.se is None:
        return f"{_short(estimate.value)} ({estimate.flag})"
    return f"{_short(estimate.value)} ± {_short(estimate.se)}"


def _interval(estimate: Estimate) -> str:
    if estimate.low is None or estimate.high is None:
        return DASH
    return f"{_short(estimate.low)} to {_short(estimate.high)}"


def _population(population: FittedPopulation) -> Table:
    rows = []
    for entry in population.models:
        values = entry.to_dict()
        spreads = np.sqrt(np.diagonal(entry.covariance)).tolist()
        parts = [
            f"{name} {_short(median)} (s.d. of the {scale} {_short(spread)})"
            for name, median, scale, spread in zip(
                values["parameters"], values["median"], values["scales"], spreads, strict=True
            )
        ]
        if entry.whole_values and entry.model.whole is not None:
            span = f"{min(entry.whole_values)} to {max(entry.whole_values)}"
            parts.append(f"{entry.model.whole.name} {span}, as fitted")
        rows.append([entry.model.label, "; ".join(parts) or "no parameters", str(entry.people)])
    return Table("The population", ["Model", "Median of each parameter", "People"], rows, words=2)


def _confusion(recovery: Recovery) -> Table:
    labels = [f"{place}: {model.label}" for place, model in enumerate(recovery.models, start=1)]
    rows = [
        [label, *(f"{100 * share:.0f} %" if share else "·" for share in (row / row.sum()).tolist())]
        for label, row in zip(labels, recovery.confusion, strict=True)
    ]
    numbers = [str(place) for place in range(1, len(labels) + 1)]
    return Table("Confusion matrix: simulated by (row), best by BIC (column)", ["Simulated by", *numbers], rows)


def _recovered(recovery: Recovery) -> Table:
    labels = {model.name: model.label for model in recovery.models}
    rows = [
        [labels[str(row[0])], str(row[1]), PAGE.format(row[3], 2), _short(row[4]), _short(row[5])]
        for row in recovery.rows()
    ]
    heads = ["Model", "Parameter", "Correlation of true and found", "Median, true", "Median, found"]
    return Table("Parameters found again", heads, rows, words=2)


def _each(fits: ModelFits) -> Table:
    heads = ["Person", "Best by BIC", "Parameters", "Best, left out", "Choices", "Log-likelihood", "Chance"]
    by_bic, by_held_out = fits.best("bic"), fits.best("cross_validated")
    places = {model.name: place for place, model in enumerate(fits.models)}
    rows = []
    for person, row, name, other in zip(fits.people, fits.fits, by_bic, by_held_out, strict=True):
        fit = row[places[str(name)]]
        values = ", ".join(f"{estimate.name} {_value(estimate)}" for estimate in fit.estimates)
        rows.append(
            [
                person.participant,
                fit.model.label,
                values or DASH,
                DASH if other is None else fits.models[places[other]].label,
                str(fit.choices),
                PAGE.format(fit.log_likelihood, 1),
                PAGE.format(row[places["chance"]].log_likelihood, 1),
            ]
        )
    return Table("Each person", heads, rows, words=4)
