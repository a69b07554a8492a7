"""``cobandit compare``: compare several teams on one problem, as a table and as a figure."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Annotated

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.cli import completion
from cobandit.cli import options as shared
from cobandit.cli.declare import flag, option
from cobandit.cli.formats import CSV, TextJsonCsvOrPlot

if TYPE_CHECKING:
    from cobandit.engine.result import RegretName
    from cobandit.experiments import TeamComparison

TEAMS = (
    "partner-aware-ucb",
    "partner-aware-ts",
    "naive-ucb",
    "naive-ts",
    "very-naive-ucb",
    "knowledge-gradient",
    "centralised-ucb",
)


LONGEST_HEAD = 11
"""Maximal number of letters in one line of a column head; longer names are broken."""


@shared.with_option_groups
def compare(
    team: Annotated[
        list[str] | None,
        option("NAME[+NAME...]", "(see cobandit agents)", shared.THE_TEAM, autocompletion=completion.lineups),
    ] = None,
    agent_options: shared.AgentOptions = shared.AgentOptions(),
    problem_options: shared.ProblemOptions = shared.ProblemOptions(),
    work: shared.WorkOptions = shared.WorkOptions(runs=400),
    regret: Annotated[
        str, option("task|team", "Regret to show: of the task, or as the agents observe it", shared.THE_OUTPUT)
    ] = "task",
    form: TextJsonCsvOrPlot = TextJsonCsvOrPlot(),
    figure: Annotated[
        str | None, option("FILE.svg|png|pdf", "File for a figure of the comparison", shared.THE_OUTPUT)
    ] = None,
    diagnose: Annotated[
        bool, flag("--diagnose", "Causes of each team's regret, as table, figure and JSON", shared.THE_OUTPUT)
    ] = False,
) -> None:
    """Compare teams on one problem, with common random numbers.

    Each --team is one team: NAME uses that agent in every seat, NAME+NAME names one agent per seat. An option is passed
    to every agent that has it. Without --team, the paper's algorithms and baselines are compared.
    """
    require_extras("This comparison", fast=work.engine == "fast", plot=figure is not None)
    from cobandit.cli import output
    from cobandit.cli.door import say
    from cobandit.cli.progress import progress_bar
    from cobandit.engine.result import checked_regret
    from cobandit.experiments.comparison import COLUMNS, compare_teams
    from cobandit.report.simulation.comparison import checked_figure, draw_comparison

    shown_regret: RegretName = checked_regret("regret", regret)
    if diagnose and form.style == CSV:
        raise InvalidInput("--format must be json or text with --diagnose, got csv.")
    problem = problem_options.problem()
    lineups = [shared.lineup_of([name]) for name in dict.fromkeys(team or TEAMS)]
    teams = shared.teams_of(lineups, agent_options.values())
    for lineup in teams:
        lineup.playing(problem).agents(problem.agents)  # refuse a team of the wrong size before anything else
    target = None if figure is None else checked_figure(figure)
    with progress_bar(len(teams)) as progress:
        compared = compare_teams(problem, teams, **work.values(), progress=progress, diagnose=diagnose)
    if target is not None:
        draw_comparison(compared.results, target, regret=shown_regret)
    if form.as_json:
        output.print_json(compared.to_dict())
    elif form.style == CSV:
        output.print_csv(COLUMNS, compared.rows(shown_regret))
    else:
        print_comparison(compared, shown_regret)
        if form.plot:
            _print_curves(compared, shown_regret)
        if diagnose:
            print_causes(compared)
    if (hint := output.fast_hint(compared.results)) is not None:
        say(hint)
    if target is not None:
        say(f"The figure is in {target}.")


def print_comparison(compared: TeamComparison, regret: RegretName) -> None:
    """Print the teams as the rows of a table."""
    from cobandit.cli.output import (
        SUMMARISED,
        console,
        decimals_for,
        number,
        paragraph,
        played,
        plus_minus,
        seconds,
        table,
    )
    from cobandit.engine.words import problem_lines

    results = compared.results
    first = results[0]
    engines = " and ".join(sorted({result.engine for result in results}))
    screen = console()
    for line in problem_lines(first.problem):
        paragraph(screen, line)
    paragraph(
        screen,
        f"{played(first.runs, first.horizon)} for each team, seed {first.seed}, {engines} engine, "
        f"{seconds(sum(result.seconds for result in results))}",
    )
    finals = [compared.finals(result, regret) for result in results]
    places = decimals_for([value for row in finals for value in row if value is not None])
    heads = ("\nteam", f"{regret} regret\nmean ± se", "\nmedian", "\n10 %", "\n90 %", "growth\nT/2 to T")
    rows = table(*heads, first="left")
    for label, result, (mean, se, *quantiles) in zip(compared.labels, results, finals, strict=True):
        growth = compared.growth(result)
        rows.add_row(
            label,
            plus_minus(mean, se, places),
            *(number(value, places) for value in quantiles),
            "-" if growth is None else f"x {growth:.2f}",
        )
    screen.print(rows)
    factor = f"{first.problem.team_factor:.3g} times the task regret"
    if regret == "task":
        paragraph(screen, f"Team regret (the paper's R, what the agents observe of the loss) is {factor}.")
    else:
        paragraph(screen, f"Team regret is the paper's R, what the agents observe of the loss: {factor}.")
    if not first.keeps_runs:
        paragraph(screen, SUMMARISED)


def _print_curves(compared: TeamComparison, regret: RegretName) -> None:
    from cobandit.cli.curves import Curve, print_curves

    summaries = [result.summary() for result in compared.results]
    curves = [
        Curve(label, (summary.task_regret if regret == "task" else summary.team_regret).mean.tolist())
        for label, summary in zip(compared.labels, summaries, strict=True)
    ]
    print_curves(f"{regret} regret, mean of the runs", summaries[0].checkpoints.tolist(), curves)


def print_causes(compared: TeamComparison) -> None:
    """Print the task regret of each team by its causes, as a table."""
    from cobandit.cli.output import console, decimals_for, number, paragraph, table

    counted = [result.diagnostics for result in compared.results]
    places = decimals_for([value for each in counted for value in each.regret[-1].tolist()])
    heads = [textwrap.wrap(name, LONGEST_HEAD) for name in ("team", *counted[0].causes)]
    most = max(map(len, heads))
    rows = table(*("\n".join([""] * (most - len(lines)) + lines) for lines in heads), first="left")
    for label, each in zip(compared.labels, counted, strict=True):
        rows.add_row(label, *(number(value, places) for value in each.regret[-1].tolist()))
    screen = console()
    screen.print(rows)
    paragraph(screen, "Task regret by cause, mean of the runs; --format json has all that was counted.")
