"""``cobandit study power``: the number of participants that the planned tests need, from simulated studies."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.numbers import percent
from cobandit.cli import completion, output, parsing
from cobandit.cli.declare import integer_option, option
from cobandit.cli.door import say
from cobandit.cli.formats import TextOrJson
from cobandit.cli.options import with_option_groups
from cobandit.cli.study.common import THE_OUTPUT

if TYPE_CHECKING:
    from cobandit.analysis import PowerAnalysis

THE_PEOPLE = "The simulated participants"
THE_WORK = "The simulation"
SIZES = "10,20,...,100"
BEHAVIOUR = "softmax,epsilon-greedy,win-stay-lose-shift"
_STEPS = re.compile(r"\s*(\d+)\s*,\s*(\d+)\s*,\s*(?:\.\.\.|…)\s*,\s*(\d+)\s*")

Seed = Annotated[int, integer_option("seed", 0, "Random seed", THE_WORK)]
Threads = Annotated[
    int | None, integer_option("threads", 1, "Threads (default: all cores); the results are equal", THE_WORK, high=4096)
]
Out = Annotated[Path | None, option("DIR", "Folder for tables, figures and an offline page", THE_OUTPUT)]

Behaviours = Annotated[
    list[str] | None, option("MIX|FILE.json", f"Mixture of behaviours (repeatable) [default: {BEHAVIOUR}]", THE_PEOPLE)
]

Participants = Annotated[str, option("N,N,...", "Numbers of participants to try, such as 10,20,...,100", THE_PEOPLE)]

Alike = Annotated[
    float, option("SHARE", "Share of teams whose members behave alike", THE_PEOPLE, parser=parsing.share("alike"))
]

Dropout = Annotated[
    float,
    option("SHARE", "Share of people who leave before the end", THE_PEOPLE, parser=parsing.share("dropout", 0.95)),
]

Design = Annotated[
    str, typer.Argument(metavar="NAME|FILE.toml", help="Shipped design, or a file", autocompletion=completion.designs)
]


@with_option_groups
def power(
    design: Design,
    behaviour: Behaviours = None,
    participants: Participants = SIZES,
    alike: Alike = 0.0,
    dropout: Dropout = 0.0,
    simulations: Annotated[
        int, integer_option("simulations", 1, "Number of simulated studies", THE_WORK, high=100_000)
    ] = 1000,
    plan: Annotated[Path | None, option("FILE.toml", "Analysis plan (default: the design's own)", THE_WORK)] = None,
    seed: Seed = 0,
    threads: Threads = None,
    out: Out = None,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Compute the power of every planned test.

    Simulate whole studies, and show the smallest n for a power of 80 % and 90 %.

    All participants are simulated. Power depends on their behaviour, so try several behaviours.
    """
    require_extras("A power analysis", stats=True, plot=out is not None)
    from cobandit.analysis import parse_plan, power_analysis, read_plan_text, read_population
    from cobandit.analysis.power import SIZES as DEFAULT_SIZES
    from cobandit.base.files import make_folder
    from cobandit.cli.progress import progress_bar
    from cobandit.studies import load_design

    study = load_design(design)
    people = [replace(read_population(text), alike=alike, dropout=dropout) for text in behaviour or [BEHAVIOUR]]
    chosen = None if plan is None else parse_plan(read_plan_text(plan), repr(str(plan)))
    sizes = DEFAULT_SIZES if participants == SIZES else sizes_of(participants)
    if out is not None:
        make_folder(out)  # checked before the work, not after it
    with progress_bar(len(people)) as labelled:
        analyses = [
            power_analysis(
                study,
                mixture,
                sizes,
                simulations,
                seed,
                plan=chosen,
                threads=threads,
                progress=labelled(mixture.label[:30]),
            )
            for mixture in people
        ]
    page = None
    if out is not None:
        words = ["--participants", participants, "--simulations", str(simulations), "--seed", str(seed)]
        words += ["--alike", f"{alike:g}"] if alike else []
        words += ["--dropout", f"{dropout:g}"] if dropout else []
        page = _saved(analyses, out, _command(design, behaviour or [], words, plan))
    if form.as_json:
        output.print_json({"simulated": True, "analyses": [analysis.to_dict() for analysis in analyses]})
    else:
        _print(analyses)
    if page is not None:
        say(f"The page is in {page}.")


def _saved(analyses: list[PowerAnalysis], out: Path, command: str) -> Path:
    """Write tables, figures and page, and return the path of the page."""
    from cobandit.analysis import save_power_analyses
    from cobandit.report import write_power_report

    save_power_analyses(analyses, out, command=command)
    return write_power_report(analyses, out, {"command": command})


def _command(design: str, behaviours: Sequence[str], words: list[str], plan: Path | None) -> str:
    """Return the command line that repeats the analysis."""
    mixtures = [word for text in behaviours for word in ("--behaviour", text)]
    plans = [] if plan is None else ["--plan", str(plan)]
    return f"cobandit {shlex.join(['study', 'power', design, *mixtures, *words, *plans])}"


def sizes_of(text: str) -> tuple[Any, ...]:
    """Return numbers separated by commas; ``10,20,...,100`` continues with the same step."""
    steps = _STEPS.fullmatch(text)
    if steps is None:
        return parsing.numbers("--participants", text, SIZES)
    first, second, last = (int(number) for number in steps.groups())
    if not first < second <= last or (last - first) % (second - first):
        raise InvalidInput(f"--participants is {text!r}; {first} in steps of {second - first} does not lead to {last}.")
    if (last - first) // (second - first) > 10_000:
        raise InvalidInput(f"--participants is {text!r}, far more sizes than can be of use.")
    return tuple(range(first, last + 1, second - first))


def _print(analyses: list[PowerAnalysis]) -> None:
    from cobandit.analysis.power_curves import TARGETS

    screen = output.console()
    first = analyses[0]
    output.paragraph(
        screen,
        f"{first.design.name}: {first.simulations:,} simulated studies of up to {first.sizes[-1]:,} participants, "
        f"alpha {first.plan.alpha:g}, seed {first.seed}, {first.engine} engine, "
        f"{output.seconds(sum(analysis.seconds for analysis in analyses))}",
    )
    output.paragraph(
        screen, "All participants are simulated; if people decide otherwise, the true power is another one."
    )
    for analysis in analyses:
        screen.print()
        output.paragraph(screen, f"Participants: {analysis.population.label}")
        output.paragraph(screen, analysis.chance)
        for sentence in analysis.team_sentences:
            output.paragraph(screen, sentence)
        rows = output.table("n", *(curve.hypothesis.id for curve in analysis.curves))
        for place, n in enumerate(analysis.sizes):
            cells = [curve.points[place].planned for curve in analysis.curves]
            shares = [f"{percent(c.value)} % ({percent(c.low)} to {percent(c.high)})" for c in cells]
            rows.add_row(analysis.people(n), *shares)
        screen.print(rows)
        heads = [f"{percent(target)} % at n" for target in TARGETS]
        smallest = output.table("test", *heads, "d_z", "wrong way", first="left")
        for curve in analysis.curves:
            last = curve.points[-1]
            effect = "-" if last.effect is None else output.plus_minus(last.effect, last.effect_sd, 2)
            reached = [
                analysis.needed(curve.smallest(target)).replace("not reached by n =", "above") for target in TARGETS
            ]
            smallest.add_row(curve.hypothesis.id, *reached, effect, f"{percent(last.opposite, 1)} %")
        screen.print(smallest)
    output.paragraph(
        screen,
        "Power as planned, with Wilson's 95 % interval"
        + (" and Holm's correction within families" if any(c.hypothesis.family for c in first.curves) else "")
        + f"; d_z and the share that is significant the wrong way at n = {first.sizes[-1]:,}.",
    )
    for note in first.notes:
        output.paragraph(screen, note)
    reasons = dict.fromkeys(test.reason for test in first.left_out)
    for reason in reasons:
        ids = ", ".join(test.hypothesis.id for test in first.left_out if test.reason == reason)
        output.paragraph(screen, f"Left out: {ids} ({reason}).")
