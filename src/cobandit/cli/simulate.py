"""``cobandit simulate``: simulate one team on one problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.numbers import percent
from cobandit.cli import options as shared
from cobandit.cli import parsing
from cobandit.cli.declare import flag, option
from cobandit.cli.formats import CSV, TextJsonCsvOrPlot

if TYPE_CHECKING:
    from cobandit.engine import Diagnostics, Result

STATISTICS = ("mean", "se", "median", "q10", "q90")
ROWS_SHOWN = 10


@shared.with_option_groups
def simulate(
    team: shared.TeamNames = None,
    agent_options: shared.AgentOptions = shared.AgentOptions(),
    problem_options: shared.ProblemOptions = shared.ProblemOptions(),
    work: shared.WorkOptions = shared.WorkOptions(),
    checkpoints: Annotated[
        str | None, option("N|T,T", "Rounds at which regret is stored: their number or a list", shared.THE_WORK)
    ] = None,
    form: TextJsonCsvOrPlot = TextJsonCsvOrPlot(),
    out: Annotated[str | None, option("FILE.parquet", "Parquet file for every run", shared.THE_OUTPUT)] = None,
    diagnose: Annotated[
        bool, flag("--diagnose", "Causes of the regret, mismatches, correct predictions, locks", shared.THE_OUTPUT)
    ] = False,
) -> None:
    """Simulate a team on a problem and print its regret.

    One --team uses that agent in every seat. Given once per agent, in the order of the seats, they form a mixed team,
    and an option is passed to every member that has it. Without --team it is partner-aware-ucb.
    """
    require_extras("This simulation", fast=work.engine == "fast", parquet=out is not None)
    from cobandit.base.parquet import checked_output
    from cobandit.cli import output
    from cobandit.cli.door import say
    from cobandit.cli.progress import progress_bar
    from cobandit.engine import simulation

    if diagnose and form.style == CSV:
        raise InvalidInput("--format must be json or text with --diagnose, got csv.")
    problem = problem_options.problem()
    chosen = shared.teams_of([shared.lineup_of(team or ["partner-aware-ucb"])], agent_options.values())[0]
    target = None if out is None else checked_output(out)
    with progress_bar(1) as progress:
        result = simulation.simulate(
            problem,
            chosen,
            **work.values(),
            checkpoints=None if checkpoints is None else parsing.value(checkpoints),
            out=target,
            progress=progress(chosen.label),
            diagnose=diagnose,
        )
    if form.as_json:
        counted = {} if result.counted is None else {"diagnostics": result.counted.to_dict()}
        output.print_json({**result.provenance(), **result.summary().to_dict(), **counted})
    elif form.style == CSV:
        print_result_csv(result)
    else:
        print_result_table(result)
        if form.plot:
            _print_curves(result)
        if result.counted is not None:
            _print_diagnostics(result.counted)
    if (hint := output.fast_hint([result])) is not None:
        say(hint)
    if target is not None:
        say(f"Every run is kept in {target}.")


def print_result_csv(result: Result) -> None:
    """Print both regrets at every checkpoint, as CSV."""
    from cobandit.cli import output

    summary = result.summary()
    both = {"task_regret": summary.task_regret, "team_regret": summary.team_regret}
    heads = ["t", *(f"{name}_{statistic}" for name in both for statistic in STATISTICS)]
    columns = [regret.to_dict()[statistic] for regret in both.values() for statistic in STATISTICS]
    output.print_csv(heads, zip(summary.checkpoints.tolist(), *columns, strict=True))


def print_result_table(result: Result) -> None:
    """Print both regrets at some checkpoints, as a table."""
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
    from cobandit.engine.result import picked_rows
    from cobandit.engine.words import problem_lines, team_line

    screen = console()
    paragraph(screen, team_line(result.team))
    for line in problem_lines(result.problem):
        paragraph(screen, line)
    paragraph(
        screen,
        f"{played(result.runs, result.horizon)}, seed {result.seed}, {result.engine} engine, {seconds(result.seconds)}",
    )
    summary = result.summary()
    task, team = summary.task_regret, summary.team_regret
    places = decimals_for([*task.q90, *task.mean])
    rows = table(
        "\nround", "task regret\nmean ± se", "\nmedian", "\n10 %", "\n90 %", "team regret\nmean ± se", "\nmedian"
    )
    for k in picked_rows(len(summary.checkpoints), ROWS_SHOWN):
        rows.add_row(
            f"{summary.checkpoints[k]:,}",
            plus_minus(task.mean[k], task.se[k], places),
            *(number(values[k], places) for values in (task.median, task.q10, task.q90)),
            plus_minus(team.mean[k], team.se[k], places),
            number(team.median[k], places),
        )
    screen.print(rows)
    paragraph(
        screen,
        "Task regret: what always playing the best team action would have earned more. Team regret (the paper's R): "
        f"the part of it that the agents observe, here {result.problem.team_factor:.3g} times the task regret.",
    )
    if not result.keeps_runs:
        paragraph(screen, SUMMARISED)


def _print_curves(result: Result) -> None:
    from cobandit.cli.curves import Curve, print_curves

    summary = result.summary()
    task = summary.task_regret
    curves = [Curve("mean", task.mean.tolist()), Curve("median", task.median.tolist())]
    print_curves("task regret", summary.checkpoints.tolist(), curves)


def _print_diagnostics(diagnostics: Diagnostics) -> None:
    from cobandit.cli.output import console, decimals_for, number, paragraph, plus_minus, table

    screen = console()
    last, se = diagnostics.regret[-1], diagnostics.regret_se[-1]
    total, places = float(last.sum()), decimals_for(last)
    rows = table("cause of task regret", "mean ± se", "share")
    for name, mean, error in zip(diagnostics.causes, last, se, strict=True):
        rows.add_row(name, plus_minus(mean, error, places), f"{percent(mean / total)}%" if total > 0.0 else "-")
    rows.add_row("all", number(total, places), "100%" if total > 0.0 else "-")
    screen.print(rows)
    for sentence in diagnostics.sentences():
        paragraph(screen, sentence)
