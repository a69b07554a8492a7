"""``cobandit reproduce``, ``sweep`` and ``report``: experiments of many curves, stored in chunks, with one report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.extras import installed, require_extras
from cobandit.base.json_types import JsonObject
from cobandit.cli import completion, parsing
from cobandit.cli.declare import flag, integer_option, option
from cobandit.cli.door import INTERRUPTED, say
from cobandit.cli.formats import THE_OUTPUT, TextOrJson
from cobandit.cli.options import with_option_groups

if TYPE_CHECKING:
    from cobandit.experiments import ChunkEvent, Executor, Job, PanelResult
    from cobandit.experiments.claims import Outcome
    from cobandit.experiments.spec import Chunk

EXECUTORS = ("processes", "dask")
LONG = "long"
"""The word that replaces a number of rounds for the long form of a panel."""

OUTCOMES: tuple[Outcome, ...] = ("holds", "does not hold", "undecided")
THE_WORK = "The work"

Out = Annotated[Path, option("DIR", "Folder for chunks, figures and the report", THE_OUTPUT)]
Engine = Annotated[
    str, option("|".join(EXECUTORS), "Local processes or a Dask cluster; the results are equal", THE_WORK)
]
Address = Annotated[
    str | None, option("tcp://HOST:PORT", "Address of the Dask scheduler (default: local workers)", THE_WORK)
]
Workers = Annotated[
    int | None, integer_option("workers", 1, "Worker processes (default: all cores)", THE_WORK, high=4096)
]
Resume = Annotated[bool, flag("--resume", "Continue an interrupted run: play only missing chunks", THE_WORK)]

Relabel = Annotated[bool, flag("--relabel", "Random permutation of each agent's arms in every run", THE_WORK)]

Diagnose = Annotated[
    bool, flag("--diagnose", "Causes of regret in the report, from 200 more runs per curve", THE_OUTPUT)
]


@dataclass(frozen=True)
class MachineOptions:
    """Where the chunks of a job run."""

    engine: Engine = "processes"
    dask_address: Address = None
    workers: Workers = None
    resume: Resume = False

    def executor(self) -> Executor:
        """Return the executor that the options describe."""
        if self.engine == "dask":
            from cobandit.experiments.dask import Dask

            return Dask(self.dask_address, self.workers)
        if self.engine != "processes":
            raise UnknownName("engine", self.engine, EXECUTORS)
        if self.dask_address is not None:
            raise InvalidInput("--dask-address requires --engine dask.")
        from cobandit.experiments import Processes

        return Processes(self.workers)


@with_option_groups
def reproduce(
    panels: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PANEL]...",
            help="Panels such as sim1-left, or mdp:NAME (default: the paper's)",
            autocompletion=completion.panels,
        ),
    ] = None,
    runs: Annotated[
        int | None, integer_option("runs", 1, "Runs of each curve (default: 100; curiosity: 4000)", THE_WORK)
    ] = None,
    horizon: Annotated[
        str | None, option("INTEGER|long", "Rounds per run, or long (10^7 in theorem-1-standoff)", THE_WORK)
    ] = None,
    index: Annotated[str, option("NAME", "Index variant of the UCB family", THE_WORK)] = "paper",
    seed: Annotated[int, integer_option("seed", 0, "Random seed", THE_WORK)] = 0,
    relabel: Relabel = False,
    chunk_runs: Annotated[int, integer_option("chunk_runs", 1, "Runs per stored chunk", THE_WORK)] = 500,
    machine: MachineOptions = MachineOptions(),
    out: Out = Path("out/reproduce"),
    diagnose: Diagnose = False,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Reproduce the paper's simulation figures.

    Check each claim about them and write one offline report.

    Finished chunks are stored immediately: continue an interrupted run with --resume.
    """
    require_extras("Reproducing the paper's figures", parquet=True, plot=True, dask=machine.engine == "dask")
    from cobandit.experiments import Job, Settings
    from cobandit.experiments.spec import CHUNK_RUNS

    if horizon == LONG:
        horizon = _long_horizon(panels or [])
    settings = Settings(
        runs=100 if runs is None else runs,
        panel_runs=runs is None,
        seed=seed,
        horizon=None if horizon is None else parsing.number(horizon),
        index=index,
        chunk_runs=chunk_runs,
        relabel=relabel,
    )
    job = Job.paper(panels or (), settings)
    again = [
        "reproduce",
        *(panels or []),
        *_runs_words(job, runs),
        "--index",
        index,
        "--seed",
        str(seed),
        "--out",
        str(out),
    ]
    if horizon is not None:
        again += ["--horizon", horizon]
    if settings.chunk_runs != CHUNK_RUNS:
        again += ["--chunk-runs", str(chunk_runs)]
    executor = machine.executor()
    again += ["--relabel"] * relabel + ["--diagnose"] * diagnose
    results = _run(job, out, executor, machine.resume, again)
    about = {"title": job.title, "executor": executor.name, "command": f"cobandit {shlex.join(again)}"}
    _finish(results, out, form.as_json, about, diagnose)


def _runs_words(job: Job, runs: int | None) -> list[str]:
    """Return the words of a command for the number of runs; none if panels have their own numbers."""
    if runs is None and any(panel.runs is not None for panel in job.panels):
        return []
    return ["--runs", str(job.settings.runs)]


def _long_horizon(panels: list[str]) -> str:
    """Return the number of rounds of the long form of the panels. All panels must have a long form."""
    from cobandit.experiments.figures import STANDOFF, panel

    rounds = {panel(name).long_horizon for name in panels}
    if len(rounds) != 1 or None in rounds:
        named = ", ".join(panels) or "no panel"
        raise InvalidInput(f"--horizon {LONG} is for panels with a long form, {STANDOFF} alone; {named} was named.")
    return str(rounds.pop())


@with_option_groups
def sweep(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.toml", help="TOML file with problem, teams and grid of options")
    ],
    relabel: Relabel = False,
    machine: MachineOptions = MachineOptions(),
    out: Annotated[Path | None, option("DIR", "Output folder (default: out/ and the name of FILE)", THE_OUTPUT)] = None,
    diagnose: Diagnose = False,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Run your own experiment from a TOML file.

    It can have any problem, any teams and any grid of options, and gets the same report as the paper's figures.
    """
    require_extras("A sweep", parquet=True, plot=True, dask=machine.engine == "dask")
    from cobandit.experiments import Job

    job = Job.sweep(file, relabel)
    folder = Path("out") / file.stem if out is None else out
    executor = machine.executor()
    again = ["sweep", str(file), "--out", str(folder), *["--relabel"] * relabel, *["--diagnose"] * diagnose]
    results = _run(job, folder, executor, machine.resume, again)
    about = {"title": job.title, "executor": executor.name, "command": f"cobandit {shlex.join(again)}"}
    _finish(results, folder, form.as_json, about, diagnose)


@with_option_groups
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder written by reproduce, sweep or arena")],
    diagnose: Diagnose = False,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Rebuild the report of stored results.

    Nothing is simulated, unless you add --diagnose.
    """
    require_extras("A report", parquet=True, plot=True)
    from cobandit.experiments import Arena, Job, read_manifest

    if read_manifest(folder).get("kind") == "arena":
        from cobandit.cli.arena import finish_arena

        if diagnose:
            raise InvalidInput(f"--diagnose is for what reproduce and sweep have filled; {folder} is of an arena.")
        players, settings = Arena.stored(folder)
        finish_arena(players.results(folder, settings), folder, form.as_json, {"executor": "stored"})
        return
    job = Job.stored(folder)
    _finish(job.results(folder), folder, form.as_json, {"title": job.title, "executor": "stored"}, diagnose)


def _run(job: Job, out: Path, executor: Executor, resume: bool, again: list[str]) -> list[PanelResult]:
    with watched(out, again, executor) as watch:
        return job.run(out, executor, resume=resume, watch=watch)


@contextmanager
def watched(out: Path, again: list[str], executor: Executor) -> Iterator[Callable[[ChunkEvent], None]]:
    """Show progress bars of a job. After Ctrl-C, print which chunks are stored and how to continue.

    At the end, if plain Python took long, name the extra that would have been faster.
    """
    from cobandit.cli.output import slow_hint

    slow_here = not installed("fast") and getattr(executor, "address", None) is None
    finished, slow = 0, 0.0

    def counted(event: ChunkEvent) -> None:
        nonlocal finished, slow
        finished += event.kind in ("kept", "finished")
        if slow_here and _shipped(event.chunk):
            slow += event.seconds
        if event.kind == "unusable":
            say(f"Chunk {event.chunk.id} is {event.detail}: it is played again.")
        show(event)

    try:
        with _bars() as show:
            yield counted
        if (hint := slow_hint(slow)) is not None:
            say(hint)
    except KeyboardInterrupt:
        say(f"Interrupted. {finished} finished chunks are stored in {out}; continue with:")
        say(f"  cobandit {shlex.join(again)} --resume")
        raise typer.Exit(INTERRUPTED) from None


def _shipped(chunk: Chunk) -> bool:
    """Return whether all agents are shipped with the package: user-defined agents always run in plain Python."""
    players = chunk.curve.team.players(chunk.curve.problem.agents)
    return all(type(player).__module__.startswith("cobandit.") for player in players)


@contextmanager
def _bars() -> Iterator[Callable[[ChunkEvent], None]]:
    """Show one bar per panel, with rate and remaining time, on terminals only."""
    if not sys.stderr.isatty():
        yield lambda event: None
        return
    from cobandit.cli.progress import run_bars

    tasks: dict[str, Any] = {}
    with run_bars(transient=False) as bars:

        def show(event: ChunkEvent) -> None:
            name = event.chunk.panel
            if event.kind in ("planned", "kept"):
                if name not in tasks:
                    tasks[name] = bars.add_task(name, total=0)
                total = (bars.tasks[tasks[name]].total or 0) + event.chunk.runs
                bars.update(tasks[name], total=total)
            if event.kind in ("kept", "finished"):
                bars.advance(tasks[name], event.chunk.runs)

        yield show


def _finish(results: list[PanelResult], out: Path, as_json: bool, about: JsonObject, diagnose: bool) -> None:
    """Write the figures and the report, and print the verdicts as text or JSON."""
    from cobandit.cli import output
    from cobandit.cli.progress import working
    from cobandit.report import write_report

    with working("drawing figures"):
        page = write_report(results, out, about, diagnose=diagnose)
    if as_json:
        output.print_json({"report": str(page), **about, "panels": [result.to_dict() for result in results]})
        return
    _print_verdicts(results)
    say(f"The report is in {page}.")


def _print_verdicts(results: list[PanelResult]) -> None:
    """Print each claim of each panel with its verdict and the number that decides it."""
    from cobandit.cli.output import console, number, paragraph

    screen = console()
    width = max(len(outcome) for outcome in OUTCOMES)
    for result in results:
        paragraph(screen, f"{result.panel.name}: {result.panel.title}")
        for verdict in result.verdicts:
            first = verdict.findings[0]
            interval = f"{number(first.value, 2)} [{number(first.low, 2)}, {number(first.high, 2)}]"
            screen.print(f"  {verdict.outcome:<{width}}  {verdict.claim} {interval}", soft_wrap=True)
    outcomes = [verdict.outcome for result in results for verdict in result.verdicts]
    if outcomes:
        every = [result.runs for result in results]
        counts = ", ".join(f"{outcome} {outcomes.count(outcome)}" for outcome in OUTCOMES)
        numbers = " to ".join(f"{runs:,}" for runs in sorted({min(every), max(every)}))
        paragraph(screen, f"Claims at {numbers} runs a curve: {counts}.")
