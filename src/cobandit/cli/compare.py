"""``cobandit compare``: several teams side by side on one problem, as a table and as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobandit.base.errors import UnknownName
from cobandit.base.extras import require_extras
from cobandit.cli import options as shared
from cobandit.cli import parsing

if TYPE_CHECKING:
    from cobandit.engine import Result

TEAMS = (
    "partner-aware-ucb",
    "partner-aware-ts",
    "naive-ucb",
    "naive-ts",
    "very-naive-ucb",
    "knowledge-gradient",
    "centralised-ucb",
)
POINTS = 100


def compare(
    team: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[+NAME...]", help="(see cobandit agents)", rich_help_panel=shared.THE_TEAM),
    ] = None,
    window: shared.Window = None,
    repeat: shared.Repeat = None,
    exploration: shared.Exploration = None,
    index: shared.Index = None,
    ties: shared.Ties = None,
    discount: shared.Discount = None,
    option: shared.Option = None,
    means: shared.Means = "fixed",
    arms: shared.Arms = None,
    reward: shared.Reward = "bernoulli",
    sd: shared.Spread = None,
    observation: shared.Observation = None,
    observability: shared.Observability = None,
    noise: shared.Noise = None,
    weights: shared.Weights = None,
    roles: shared.Roles = "observability",
    horizon: shared.Horizon = "2000",
    runs: shared.Runs = "400",
    seed: shared.Seed = "0",
    engine: shared.Engine = "auto",
    threads: shared.Threads = None,
    regret: Annotated[
        str,
        typer.Option(
            metavar="task|team",
            help="Which regret to show: the task's, or the share of it that the agents observe.",
            rich_help_panel=shared.THE_OUTPUT,
        ),
    ] = "task",
    format: shared.Format = "table",
    figure: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.svg|png|pdf", help="Draw the comparison into this file.", rich_help_panel=shared.THE_OUTPUT
        ),
    ] = None,
) -> None:
    """Compare teams on one problem, all with the same luck.

    Each --team is one team: NAME fills every place with that agent, NAME+NAME names one for each place. An option goes
    to every agent that has it. Without --team, the paper's algorithms and baselines are compared.
    """
    require_extras("This comparison", fast=engine == "fast", plot=figure is not None)
    from cobandit.cli import output
    from cobandit.cli.door import say
    from cobandit.cli.progress import progress_bar
    from cobandit.engine import simulation
    from cobandit.report.simulation import comparison

    style = shared.checked_format(format)
    if regret not in comparison.REGRETS:
        raise UnknownName("regret", regret, comparison.REGRETS)
    problem = shared.problem_of(
        means=means,
        arms=arms,
        reward=reward,
        sd=sd,
        observation=observation,
        observability=observability,
        noise=noise,
        weights=weights,
        roles=roles,
    )
    given = {
        "window": window,
        "repeat": repeat,
        "exploration": exploration,
        "index": index,
        "ties": ties,
        "discount": discount,
    }
    lineups = [[part.strip() for part in name.split("+")] for name in dict.fromkeys(team or TEAMS)]
    teams = shared.teams_of(lineups, shared.agent_options(given, option))
    for one in teams:
        one.agents(problem.agents)  # a team of the wrong size is told of before the others have played
    target = None if figure is None else comparison.checked_figure(figure)
    rounds, count, start = parsing.value(horizon), parsing.value(runs), parsing.value(seed)
    results = []
    with progress_bar(len(teams)) as progress:
        for one in teams:
            results.append(
                simulation.simulate(
                    problem,
                    one,
                    rounds,
                    runs=count,
                    seed=start,
                    engine=engine,
                    threads=None if threads is None else parsing.value(threads),
                    checkpoints=_checkpoints(rounds),
                    progress=progress(one.label),
                )
            )
    results.sort(key=lambda result: result.summary().task_regret.mean[-1])
    if target is not None:
        comparison.draw_comparison(results, target, regret=regret)
    if style == "json":
        output.print_json(_plain(results))
    elif style == "csv":
        heads = ("team", "mean", "se", "median", "q10", "q90", "growth", "engine", "seconds")
        output.print_csv(
            heads,
            (
                (result.team.label, *_finals(result, regret), _growth(result), result.engine, result.seconds)
                for result in results
            ),
        )
    else:
        _print_table(results, regret)
    if target is not None:
        say(f"The figure is in {target}.")


def _checkpoints(horizon: Any) -> Any:
    """Evenly spread rounds with T/2 and T among them; what is no horizon is left to be refused."""
    if isinstance(horizon, bool) or not isinstance(horizon, (int, float)) or horizon < 1 or horizon % 1:
        return None
    return sorted({-(-k * int(horizon) // POINTS) for k in range(1, POINTS + 1)})


def _growth(result: Result) -> float | None:
    """By how much the mean regret grows while the number of rounds doubles, from T/2 to T."""
    summary = result.summary()
    means = summary.task_regret.mean
    halfway = means[summary.checkpoints.index(-(-result.horizon // 2))]
    return means[-1] / halfway if halfway > 0.0 else None


def _finals(result: Result, regret: str) -> tuple[float, float | None, float, float, float]:
    """Mean, standard error, median and quantiles after the last round."""
    summary = result.summary()
    chosen = summary.task_regret if regret == "task" else summary.team_regret
    return (chosen.mean[-1], chosen.se[-1], chosen.median[-1], chosen.q10[-1], chosen.q90[-1])


def _plain(results: list[Result]) -> dict[str, Any]:
    first = results[0].provenance()
    shared_facts = {key: first[key] for key in ("cobandit", "problem", "horizon", "runs", "seed")}
    return {
        **shared_facts,
        "teams": [
            {
                "label": result.team.label,
                "team": result.team.describe(),
                "engine": result.engine,
                "seconds": result.seconds,
                "growth": _growth(result),
                **result.summary().to_dict(),
            }
            for result in results
        ],
    }


def _print_table(results: list[Result], regret: str) -> None:
    from cobandit.cli.output import (
        SUMMARISED,
        console,
        decimals_for,
        number,
        paragraph,
        played,
        plus_minus,
        problem_lines,
        seconds,
        table,
    )

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
    finals = [_finals(result, regret) for result in results]
    places = decimals_for([value for row in finals for value in row if value is not None])
    heads = ("\nteam", f"{regret} regret\nmean ± se", "\nmedian", "\n10 %", "\n90 %", "growth\nT/2 to T")
    rows = table(*heads, first="left")
    for result, (mean, se, *quantiles) in zip(results, finals, strict=True):
        growth = _growth(result)
        rows.add_row(
            result.team.label,
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
