"""``cobandit bound``: the regret bounds of Theorem 1, and the exact limits of small teams."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from cobandit.cli import options as shared
from cobandit.cli import parsing
from cobandit.cli.declare import flag, option
from cobandit.cli.formats import TextOrJson

if TYPE_CHECKING:
    from cobandit.problem import Problem
    from cobandit.theory import Bound, ExactLimits

THEOREM_1 = {
    "printed": "Theorem 1 as the paper states it (p_max^2 under the second sum)",
    "proved": "the same with p_min^2 there, which its proof needs",
    "counted": "the proof's own sum, before its last and rough step",
    "unknown": "the footnote's form, for agents that do not know who sees more",
}

CORRECTED = {
    "linear": "every round lost: true of any team",
    "safe": "the smallest bound that is proved for this team",
    "corrected": "Theorem A, for these exploration constants",
    "curious": "Theorem A, for the smallest constants that it allows",
    "heeding": "Theorem B: this team with a heeding leader",
}

KINDS = THEOREM_1 | CORRECTED

LIMITS = {
    "perfect": "who knows the means",
    "one_brain": "a centralised agent that sees all rewards that the team sees",
    "steered_team": "the best leader of a steered team of 2 x 2 arms",
    "blind_team": "the best team of 2 x 2 arms whose follower sees no rewards",
}


@dataclass(frozen=True)
class BoundOptions:
    """What is bounded: horizons, and the exploration constants of the team."""

    horizon: Annotated[
        str | None, option("T[,T2,...]", "Horizon, or several (default: 2000; with --exact 2,4,8)", shared.THE_WORK)
    ] = None
    exact: Annotated[
        bool, flag("--exact", "Largest expected reward of any team, for random means", shared.THE_WORK)
    ] = False
    exploration: Annotated[
        float, typer.Option(help="Exploration constant c of the leader", rich_help_panel=shared.THE_TEAM)
    ] = 2.0
    follower_exploration: Annotated[
        float | None,
        typer.Option(help="Exploration constant of the follower (the leader's)", rich_help_panel=shared.THE_TEAM),
    ] = None

    @property
    def follower(self) -> float:
        """The exploration constant of the follower."""
        return self.exploration if self.follower_exploration is None else self.follower_exploration

    def __str__(self) -> str:
        follower = "" if self.follower_exploration is None else f", of the follower {self.follower_exploration:g}"
        return f"exploration {self.exploration:g}{follower}"


@shared.with_option_groups
def bound(
    means: Annotated[str | None, *shared.Means.__metadata__] = None,
    arms: shared.Arms = None,
    observability: shared.Observability = None,
    weights: shared.Weights = None,
    roles: shared.Roles = "observability",
    asked: BoundOptions = BoundOptions(),
    form: TextOrJson = TextOrJson(),
) -> None:
    """Print regret bounds: Theorem 1, corrected, or exact limits.

    The bounds are for Partner-Aware UCB with W = 1, L = 2 and a known horizon: two agents, Bernoulli rewards,
    missed observation. With --exact the means are random unless given, and every possible sequence of a few rounds
    is examined.
    """
    from cobandit.cli import output
    from cobandit.theory import bound as theorem
    from cobandit.theory import exact_limits

    means = means or ("random" if asked.exact else "fixed")
    horizon = asked.horizon or ("2,4,8" if asked.exact else "2000")
    given = shared.ProblemOptions(means, arms, observability=observability, weights=weights, roles=roles)
    problem = given.problem()
    horizons = parsing.numbers("--horizon", horizon, "1000,2000")
    if asked.exact:
        limits = [exact_limits(problem, rounds) for rounds in horizons]
        if form.as_json:
            output.print_json({"problem": problem.describe(), "limits": [limit.to_dict() for limit in limits]})
        else:
            _print_limits(problem, limits)
        return
    bounds = [theorem(problem, rounds, asked.exploration, asked.follower_exploration) for rounds in horizons]
    if form.as_json:
        output.print_json({"problem": problem.describe(), "bounds": [bounded.to_dict() for bounded in bounds]})
    else:
        _print_table(problem, bounds, asked)


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


def _print_table(problem: Problem, bounds: list[Bound], asked: BoundOptions) -> None:
    from cobandit.cli.output import console, number, paragraph, table
    from cobandit.engine.words import problem_lines

    screen = console()
    paragraph(screen, f"Upper bounds on the team regret R(T) of partner-aware-ucb (window 1, repeat 2, {asked})")
    for line in problem_lines(problem):
        paragraph(screen, line)
    for title, kinds in (("Theorem 1 (exploration 2)", THEOREM_1), ("Corrected", CORRECTED)):
        screen.print(f"\n{title}", markup=False, highlight=False)
        rows = table("horizon", *kinds)
        for limits in bounds:
            rows.add_row(f"{limits.horizon:,}", *(number(getattr(limits, kind)) for kind in kinds))
        screen.print(rows)
        for kind, meaning in kinds.items():
            screen.print(f"  {kind:<11}{meaning}")
    screen.print()
    for sentence in _sentences(problem, bounds[-1], asked):
        paragraph(screen, sentence)
    last = bounds[-1]
    screen.print()
    paragraph(screen, f"Plays after which a cell is, most likely, done with (u of the proof), T = {last.horizon:,}:")
    counts = table("", *(f"agent 1: {arm}" for arm in range(problem.arms[1])), first="left")
    for arm, row in enumerate(last.counts):
        counts.add_row(f"agent 0: {arm}", *("never" if math.isinf(count) else f"{count:,.0f}" for count in row))
    screen.print(counts)


def _sentences(problem: Problem, last: Bound, asked: BoundOptions) -> list[str]:
    """Return what the numbers mean: which bounds hold, condition (C), and the order of the regret."""
    sentences = [
        "The bounds of Theorem 1 do not hold in every problem: its proof overlooks standoffs, in which the leader "
        "waits for an action that the follower no longer plays. The corrected bounds hold.",
        _condition(last, asked),
    ]
    if last.logarithmic:
        sentences.append("Here safe is of the order of log T in the end.")
    else:
        sentences.append("No explicit bound of the order of log T is known for this problem and this team.")
    return [*sentences, *_standoff(problem, last, asked)]


def _condition(last: Bound, asked: BoundOptions) -> str:
    """Return whether condition (C) of Theorem A holds and, if not, which constants satisfy it."""
    text = "Condition (C), sqrt(2 c_F) >= w + (q/p) sqrt(2 c_L) with c_L >= 1/2,"
    if last.condition:
        return f"{text} holds: the follower explores enough."
    if last.constants is None:
        return f"{text} cannot hold: an agent sees nothing."
    least = f"c_L = {last.constants.leader:g} with c_F = {last.constants.follower:.4g} or more"
    given = f"c_L = {asked.exploration:g} and c_F = {asked.follower:g}"
    return f"{text} does not hold for {given}. It holds for {least}: --exploration, --follower-exploration."


def _standoff(problem: Problem, last: Bound, asked: BoundOptions) -> list[str]:
    """Return lines about standoffs: the exponent kappa and the share of runs that are held."""
    from cobandit.theory import standoff_probability

    if math.isinf(last.kappa):
        return ["No standoff is possible here."]
    if min(asked.exploration, asked.follower) < 0.5:
        return ["The theorems are about exploration constants of at least 0.5."]
    if last.kappa > 1.0:
        return [f"Exponent of standoffs: kappa = {last.kappa:.3g}, above 1, so the regret is of the order of log T."]
    share = standoff_probability(problem, last.horizon, asked.exploration, asked.follower_exploration)
    order = f"The regret is at most of the order of T^(1 - kappa) = T^{1.0 - last.kappa:.3g}"
    if last.kappa == 0.0:
        order = "No bound below the order of T is known"
        order += (
            ": a standoff is the rule, and the regret of such problems was measured to grow as T"
            if share == 1.0
            else ", but the best row attracts the leader more than a standoff does"
        )
    return [
        f"Exponent of standoffs: kappa = {last.kappa:.3g}. {order}.",
        f"Predicted share of runs in a standoff at T = {last.horizon:,}: {share:.1%}.",
    ]
