"""``cobandit bound``: the numbers of Theorem 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.base.errors import UnknownName
from cobandit.cli import options as shared
from cobandit.cli import parsing

if TYPE_CHECKING:
    from cobandit.problem import Problem
    from cobandit.theory import Bound

KINDS = {
    "printed": "Theorem 1 as the paper states it (p_max squared under the second sum)",
    "proved": "the same with p_min squared there, which its proof needs",
    "counted": "the proof's own sum, before its last and rough step",
    "unknown": "the footnote's form, where nobody knows who observes better",
    "linear": "every round lost: true of any team",
    "safe": "the smaller of linear and of a repaired proof",
}


def bound(
    means: shared.Means = "fixed",
    arms: shared.Arms = None,
    observability: shared.Observability = None,
    weights: shared.Weights = None,
    roles: shared.Roles = "observability",
    horizon: Annotated[
        str, typer.Option(metavar="T[,T2,...]", help="One horizon or several.", rich_help_panel=shared.THE_WORK)
    ] = "2000",
    format: Annotated[
        str, typer.Option(metavar="table|json", help="For people, or for programs.", rich_help_panel=shared.THE_OUTPUT)
    ] = "table",
) -> None:
    """Print the upper bounds of Theorem 1 on the team regret.

    They are about Partner-Aware UCB with W = 1, L = 2, c = 2 and a known horizon: two agents, Bernoulli rewards, missed
    observation.
    """
    from cobandit.cli import output
    from cobandit.theory import bound as theorem

    if format not in ("table", "json"):
        raise UnknownName("format", format, ("table", "json"))
    given = shared.ProblemOptions(means, arms, observability=observability, weights=weights, roles=roles)
    problem = given.problem()
    bounds = [theorem(problem, rounds) for rounds in parsing.numbers("--horizon", horizon, "1000,2000")]
    if format == "json":
        output.print_json({"problem": problem.describe(), "bounds": [limits.to_dict() for limits in bounds]})
    else:
        _print_table(problem, bounds)


def _print_table(problem: Problem, bounds: list[Bound]) -> None:
    from cobandit.cli.output import console, number, paragraph, table
    from cobandit.engine.words import problem_lines

    screen = console()
    paragraph(screen, "Upper bounds on the team regret R(T) of partner-aware-ucb (window 1, repeat 2, exploration 2)")
    for line in problem_lines(problem):
        paragraph(screen, line)
    rows = table("horizon", *KINDS)
    for limits in bounds:
        rows.add_row(f"{limits.horizon:,}", *(number(getattr(limits, kind)) for kind in KINDS))
    screen.print(rows)
    for kind, meaning in KINDS.items():
        screen.print(f"  {kind:<9}{meaning}")
    last = bounds[-1]
    paragraph(
        screen,
        "Only linear and safe hold in every problem: the proof of the others overlooks how a team can be held up.",
    )
    if last.logarithmic:
        paragraph(screen, "Here safe is of the order of log T in the end.")
    else:
        paragraph(screen, "No bound of the order of log T is proved for this problem.")
    screen.print()
    paragraph(screen, f"Plays after which a cell is, most likely, done with (u of the proof), T = {last.horizon:,}:")
    counts = table("", *(f"agent 1: {arm}" for arm in range(problem.arms[1])), first="left")
    for arm, row in enumerate(last.counts):
        counts.add_row(f"agent 0: {arm}", *("never" if math.isinf(count) else f"{count:,.0f}" for count in row))
    screen.print(counts)
