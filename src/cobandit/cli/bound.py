"""``cobandit bound``: the numbers of Theorem 1, and the exact limits of small teams."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.cli import options as shared
from cobandit.cli import parsing
from cobandit.cli.formats import TextOrJson

if TYPE_CHECKING:
    from cobandit.problem import Problem
    from cobandit.theory import Bound, ExactLimits

KINDS = {
    "printed": "Theorem 1 as the paper states it (p_max squared under the second sum)",
    "proved": "the same with p_min squared there, which its proof needs",
    "counted": "the proof's own sum, before its last and rough step",
    "unknown": "the footnote's form, where nobody knows who observes better",
    "linear": "every round lost: true of any team",
    "safe": "the smaller of linear and of a repaired proof",
}

LIMITS = {
    "perfect": "who knows the means",
    "one_brain": "one brain with everybody's eyes: no team can do better",
    "steered_team": "the best leader of a steered team of 2 x 2 arms",
    "blind_team": "the best team of 2 x 2 arms whose follower sees no rewards",
}


@shared.with_option_groups
def bound(
    means: Annotated[str | None, *shared.Means.__metadata__] = None,
    arms: shared.Arms = None,
    observability: shared.Observability = None,
    weights: shared.Weights = None,
    roles: shared.Roles = "observability",
    horizon: Annotated[
        str | None,
        typer.Option(
            metavar="T[,T2,...]",
            help="One horizon or several (2000; with --exact 2,4,8).",
            rich_help_panel=shared.THE_WORK,
        ),
    ] = None,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="The most reward that any team can expect from random means, in place of the bounds.",
            rich_help_panel=shared.THE_WORK,
        ),
    ] = False,
    form: TextOrJson = TextOrJson(),
) -> None:
    """Print regret bounds: Theorem 1, or exact limits.

    The bounds are about Partner-Aware UCB with W = 1, L = 2, c = 2 and a known horizon: two agents, Bernoulli rewards,
    missed observation. With --exact the means are random if not given, and every possible course of a few rounds
    is examined.
    """
    from cobandit.cli import output
    from cobandit.theory import bound as theorem
    from cobandit.theory import exact_limits

    means = means or ("random" if exact else "fixed")
    horizon = horizon or ("2,4,8" if exact else "2000")
    given = shared.ProblemOptions(means, arms, observability=observability, weights=weights, roles=roles)
    problem = given.problem()
    horizons = parsing.numbers("--horizon", horizon, "1000,2000")
    if exact:
        limits = [exact_limits(problem, rounds) for rounds in horizons]
        if form.as_json:
            output.print_json({"problem": problem.describe(), "limits": [limit.to_dict() for limit in limits]})
        else:
            _print_limits(problem, limits)
        return
    bounds = [theorem(problem, rounds) for rounds in horizons]
    if form.as_json:
        output.print_json({"problem": problem.describe(), "bounds": [bounded.to_dict() for bounded in bounds]})
    else:
        _print_table(problem, bounds)


def _print_limits(problem: Problem, limits: list[ExactLimits]) -> None:
    from cobandit.cli.output import console, paragraph, table
    from cobandit.engine.words import problem_lines

    screen = console()
    paragraph(screen, "The most reward of the task that can be expected, all means unknown and uniform on [0, 1]")
    for line in problem_lines(problem):
        paragraph(screen, line)
    rows = table("horizon", *(kind.replace("_", " ") for kind in LIMITS))
    for limit in limits:
        values = (getattr(limit, kind) for kind in LIMITS)
        rows.add_row(f"{limit.horizon:,}", *("too large" if value is None else f"{value:.3f}" for value in values))
    screen.print(rows)
    for kind, meaning in LIMITS.items():
        screen.print(f"  {kind.replace('_', ' '):<14}{meaning}")


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
