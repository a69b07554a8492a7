"""``cobandit study calibrate``: rehearse the paper's two studies and compare them with the published numbers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.extras import require_extras
from cobandit.base.numbers import percent
from cobandit.cli import output
from cobandit.cli.declare import integer_option, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.power import THE_PEOPLE, THE_WORK, Out, Seed, Threads

if TYPE_CHECKING:
    from cobandit.analysis.calibration import Calibration, Rehearsal


@with_option_groups
def calibrate(
    studies: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[burger] [casino] [casino-bank]",
            help="Studies; casino-bank adds the bank (default: burger casino)",
        ),
    ] = None,
    participants: Annotated[
        int | None,
        integer_option("participants", 2, "Participants of a study (default: as published)", THE_PEOPLE, high=10_000),
    ] = None,
    behaviour: Annotated[
        list[str] | None, option("MIX|FILE.json", "Further mixture or fitted population (repeatable)", THE_PEOPLE)
    ] = None,
    simulations: Annotated[
        int | None,
        integer_option("simulations", 2, "Simulated studies (default: burger 1000, casino 50)", THE_WORK, high=100_000),
    ] = None,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Compare simulated participants with the paper.

    Rehearse the paper's studies and show the published numbers next to ours.

    Every population is played with both index variants of the robots. The results are not evidence about people.
    """
    require_extras("Rehearsing the paper's studies", stats=True, plot=out is not None)
    from cobandit.analysis import calibrate as rehearse_all
    from cobandit.analysis import read_population
    from cobandit.analysis.calibration import STUDIES
    from cobandit.base.files import make_folder
    from cobandit.cli.progress import progress_bar

    if out is not None:
        make_folder(out)  # checked before the work, not after it
    names = studies or list(STUDIES)
    further = [read_population(text) for text in behaviour or []]
    with progress_bar(1) as labelled:
        rehearsed = rehearse_all(
            names,
            simulations,
            participants,
            seed,
            further=further,
            threads=threads,
            progress=labelled("rehearsing"),
        )
    words = ["study", "calibrate", *names, *(word for text in behaviour or [] for word in ("--behaviour", text))]
    for flag, value in (("--participants", participants), ("--simulations", simulations), ("--seed", seed)):
        words += [] if value is None else [flag, str(value)]
    page = None
    if out is not None:
        from cobandit.report import write_calibration_report

        command = f"cobandit {shlex.join(words)}"
        rehearsed.save(out, command=command)
        page = write_calibration_report(rehearsed, out, {"command": command})
    if form.as_json:
        output.print_json(rehearsed.to_dict())
    else:
        _print(rehearsed)
    if page is not None:
        say(f"The page is in {page}.")


def _print(rehearsed: Calibration) -> None:
    from cobandit.analysis import PUBLISHED
    from cobandit.analysis.calibration import FITTING, WARNING

    screen = output.console()
    output.paragraph(screen, WARNING)
    for study in rehearsed.studies:
        ranked = rehearsed.of(study)
        nearest = ranked[0]
        screen.print()
        output.paragraph(
            screen,
            f"The {study} study: {nearest.simulations:,} simulated studies of {rehearsed.participants[study]} "
            f"participants for each of {len(ranked)} rehearsals, seed {rehearsed.seed}",
        )
        first = "regret" if study == "burger" else "coins"
        published = {number.id: number for number in PUBLISHED[study]}
        shown = [which for which in ("aware", "naive", "difference", "bank") if f"{first}-{which}" in published]
        rows = output.table("participants", "index", *shown, "distance", first="left")
        ids = [f"{first}-{which}" for which in shown]
        rows.add_row("published", "?", *(output.number(published[id].value) for id in ids), "")
        for rehearsal in ranked:
            means = [output.number(rehearsal.row(id).mean) for id in ids]
            rows.add_row(rehearsal.population.label, rehearsal.index, *means, output.number(rehearsal.distance, 2))
        screen.print(rows)
        output.paragraph(screen, f"Nearest: {nearest.population.label}, {nearest.index} index. {FITTING}")
        _print_numbers(nearest)
        against = [f"{other.population.label} ({other.index})" for other in ranked if other.contradicts]
        if against:
            output.paragraph(screen, f"Against the published direction: {'; '.join(against)}.")
        missing = [number.text for number in PUBLISHED[study] if number.missing]
        output.paragraph(screen, f"Published, but not simulated: {'; '.join(missing)}.")


def _print_numbers(rehearsal: Rehearsal) -> None:
    rows = output.table("number", "published", "ours ± sd", "off by", "s.e. off", first="left")
    for row in rehearsal.rows:
        if row.is_share:
            rows.add_row(row.published.text, row.published.claim, f"{percent(row.mean)} %", "", "")
            continue
        places = output.decimals_for([row.mean])
        off = "" if row.off is None else output.number(row.off, 1)
        ours = output.plus_minus(row.mean, row.sd, places)
        rows.add_row(row.published.text, row.published.as_text(), ours, output.number(row.difference, places), off)
    output.console().print(rows)
