"""``cobandit arena``: a tournament of all leaders and followers in every setting, reported on one page."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cobandit.base.extras import require_extras
from cobandit.base.json_types import JsonObject
from cobandit.cli import completion
from cobandit.cli.declare import flag, integer_option, option
from cobandit.cli.door import say
from cobandit.cli.experiments import (
    OUTCOMES,
    THE_WORK,
    MachineOptions,
    watched,
)
from cobandit.cli.formats import THE_OUTPUT, TextOrJson
from cobandit.cli.options import with_option_groups

if TYPE_CHECKING:
    from cobandit.experiments import ArenaResult

WHO = "Who plays, and where"
ALL = "(repeatable; default: all)"


@with_option_groups
def arena(
    setting: Annotated[
        list[str] | None, option("NAME", f"Setting {ALL}", WHO, autocompletion=completion.arena_settings)
    ] = None,
    leader: Annotated[
        list[str] | None, option("NAME", f"Leader {ALL}", WHO, autocompletion=completion.arena_leaders)
    ] = None,
    follower: Annotated[
        list[str] | None, option("NAME", f"Follower {ALL}", WHO, autocompletion=completion.arena_followers)
    ] = None,
    own: Annotated[
        list[str] | None,
        option("MODULE:CLASS", "Your own agent, as leader, follower and team (repeatable)", WHO, "--with"),
    ] = None,
    runs: Annotated[int, integer_option("runs", 2, "Runs of each team in each setting", THE_WORK, high=20_000)] = 2000,
    seed: Annotated[int, integer_option("seed", 0, "Random seed", THE_WORK)] = 0,
    relabel: Annotated[
        bool, flag("--relabel/--no-relabel", "Random permutation of each agent's arms in every run", THE_WORK)
    ] = True,
    machine: MachineOptions = MachineOptions(),
    out: Annotated[Path, option("DIR", "Folder for chunks and the report", THE_OUTPUT)] = Path("out/arena"),
    form: TextOrJson = TextOrJson(),
) -> None:
    """Run a tournament of all leaders and followers.

    Play every leader with every follower, and every whole team, in every setting, and write one offline report.

    All teams use the same random numbers. Finished chunks are stored immediately: continue an interrupted tournament
    with --resume.
    """
    require_extras("The arena", parquet=True, plot=True, dask=machine.engine == "dask")
    from cobandit.experiments.arena import Arena, arena_settings

    players = Arena.of(setting or (), leader or (), follower or (), own or (), relabel=relabel)
    settings = arena_settings(runs, seed)
    again = ["arena", "--runs", str(runs), "--seed", str(seed), "--out", str(out)]
    for switch, names in (("--setting", setting), ("--leader", leader), ("--follower", follower), ("--with", own)):
        again += [part for name in names or () for part in (switch, name)]
    again += [] if relabel else ["--no-relabel"]
    executor = machine.executor()
    with watched(out, again, executor) as watch:
        result = players.run(out, settings, executor, resume=machine.resume, watch=watch)
    finish_arena(result, out, form.as_json, {"executor": executor.name, "command": f"cobandit {shlex.join(again)}"})


def finish_arena(result: ArenaResult, out: Path, as_json: bool, about: JsonObject) -> None:
    """Write the report and the result files, and print the rankings and verdicts as text or JSON."""
    from cobandit.cli import output
    from cobandit.cli.progress import working
    from cobandit.experiments.arena.settings import MARKOV
    from cobandit.report import write_arena_report

    with working("drawing figures"):
        page = write_arena_report(result, out, about)
    result.save(out / "arena.json")
    result.save(out / "arena.csv")
    if as_json:
        output.print_json({"report": str(page), **about, **result.to_dict()})
        return
    screen = output.console()
    brains = result.arena.brains
    for index, league in (("UCB", result.league()), ("UCBVI", result.league([MARKOV]))):
        grid = output.table(
            "team", f"to partner-aware {index}", "medians", f"to centralised {index}", "won", first="left"
        )
        for row in league:
            numbers = (row.to_aware, row.to_aware_median, row.to_central)
            won = "-" if row.team in brains else f"{row.won}/{row.settings}"
            grid.add_row(row.label, *(output.number(value, 2) for value in numbers), won)
        if league:
            screen.print(grid)
    width = max(len(outcome) for outcome in OUTCOMES)
    for _, verdict in result.verdicts:
        screen.print(f"  {verdict.outcome:<{width}}  {verdict.claim}", soft_wrap=True)
    outcomes = [verdict.outcome for _, verdict in result.verdicts]
    counts = ", ".join(f"{outcome} {outcomes.count(outcome)}" for outcome in OUTCOMES)
    output.paragraph(screen, f"Claims at {result.settings.runs:,} runs: {counts}.")
    say(f"The report is in {page}.")
