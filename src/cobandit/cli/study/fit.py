"""``cobandit study fit``: fit models of people to the choices of a study, and compare them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import installed
from cobandit.cli import output
from cobandit.cli.declare import flag, integer_option, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import DATABASE, THE_OUTPUT, DatabaseUrl, Version
from cobandit.cli.study.source import Kind, StudyOrExport, checked_source, stored_data

if TYPE_CHECKING:
    from cobandit.analysis import FittedPopulation, ModelFits, Recovery, StudyChoices

THE_FIT = "The fit"
POPULATION = "population.json"


@with_option_groups
def fit(
    study: StudyOrExport,
    models: Annotated[str | None, option("NAME,NAME", "Models to fit (default: all)", THE_FIT)] = None,
    starts: Annotated[int, integer_option("starts", 1, "Searches for each fit", THE_FIT, high=100)] = 4,
    recovery: Annotated[bool, flag("--recovery", "Check that models and parameters can be found", THE_FIT)] = False,
    people: Annotated[
        int, integer_option("people", 2, "Simulated people per model of --recovery", THE_FIT, high=10_000)
    ] = 30,
    members: Annotated[
        int, integer_option("members", 1, "Simulated people in population.json", THE_FIT, high=10_000)
    ] = 60,
    seed: Annotated[int, integer_option("seed", 0, "Random seed of the simulated people", THE_FIT)] = 0,
    out: Annotated[Path | None, option("DIR", "Folder for the results (default: out/STUDY-fit)", THE_OUTPUT)] = None,
    kind: Kind = None,
    database: DatabaseUrl = DATABASE,
    version: Version = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Fit models of people to the choices of a study.

    The models are compared by BIC and by the likelihood of episodes that are left out of the fit.

    The folder gets fits.json, fits.csv (a row for each person and model), parameters.csv with standard errors,
    population.json (simulated people like these, for --behaviour of study simulate, power and calibrate), and a report.
    """
    format = checked_source("Fitting models to choices", study, kind, out)
    from cobandit.analysis import fit_models, fitted_population, recover_models
    from cobandit.analysis.choice_models import chosen_models
    from cobandit.cli.progress import progress_bar

    names = None if models is None else [name.strip() for name in models.split(",") if name.strip()]
    chosen_models(names)  # checked before the data are read
    data = _choices(study, format, kind, database, version)
    with progress_bar(1 + recovery) as labelled:
        fits = fit_models(data, names, starts=starts, progress=labelled("fitting"))
        recovered = recover_models(fits, people, seed, progress=labelled("recovering")) if recovery else None
    population = fitted_population(fits, members, seed)
    folder = Path("out") / f"{fits.design.name}-fit" if out is None else out
    files = fits.save(folder)
    files.append(population.save(folder / POPULATION))
    files += [] if recovered is None else recovered.save(folder)
    if installed("plot"):
        from cobandit.report import write_fit_report

        words = ["cobandit", "study", "fit", study, *([] if models is None else ["--models", models])]
        words += ["--starts", str(starts), "--seed", str(seed)]
        words += ["--recovery", "--people", str(people)] if recovery else []
        files.append(write_fit_report(fits, folder, population, recovered, {"command": shlex.join(words)}))
    if form.as_json:
        output.print_json(
            fits.to_dict()
            | {"population": population.to_dict(), "recovery": None if recovered is None else recovered.to_dict()}
        )
    else:
        _show(fits, population, recovered)
    for file in files:
        say(str(file))


def _choices(study: str, format: str | None, kind: str | None, database: str, version: int | None) -> StudyChoices:
    from cobandit.analysis import read_choices

    if format is not None:
        return read_choices(study, kind=kind)
    data, chosen = stored_data(study, kind, database, version)
    if not data.participants:
        raise InvalidInput(f"The study {study!r} has no {chosen} participants yet.")
    return read_choices(data, kind=chosen)


def _show(fits: ModelFits, population: FittedPopulation, recovered: Recovery | None) -> None:
    screen = output.console()
    who = "simulated participants" if fits.study.kind == "rehearsal" else "participants"
    output.paragraph(
        screen,
        f"{fits.design.title}: {len(fits.people)} {who}, {fits.choices:,} choices, "
        f"{len(fits.models)} models in {output.seconds(fits.seconds)}",
    )
    table = output.table("model", "k", "log-lik.", "BIC", "left out", "best", first="left")
    for total in fits.totals:
        held_out = "-" if total.cross_validated is None else output.number(total.cross_validated, 1)
        table.add_row(
            total.model.name,
            str(len(total.model.parameters)),
            output.number(total.log_likelihood, 1),
            output.number(total.bic, 1),
            held_out,
            f"{total.best_by_bic} / {total.best_by_cross_validation}",
        )
    screen.print(table)
    output.paragraph(
        screen,
        "Sums over people, each fitted alone; k parameters. BIC: lower is better. Left out: log-likelihood of episodes "
        "by a fit to the person's others; higher is better. Best: people for whom a model is the best, by either.",
    )
    parts = [f"{entry.model.name} {entry.people}" for entry in population.models]
    output.paragraph(screen, f"Population: {', '.join(parts)} of {len(fits.people)} people, by BIC.")
    if recovered is not None:
        shares = [f"{model.name} {100 * recovered.share(model.name):.0f} %" for model in recovered.models]
        output.paragraph(screen, f"Found again among {recovered.people} simulated people each: {', '.join(shares)}.")
    for note in fits.study.notes:
        output.paragraph(screen, note)
