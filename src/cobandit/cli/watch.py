"""``cobandit watch``: write a page that replays one run, round by round."""

from __future__ import annotations

from typing import Annotated

from cobandit.base.extras import require_extras
from cobandit.cli import options as shared
from cobandit.cli.declare import integer_option, option


@shared.with_option_groups
def watch(
    team: shared.TeamNames = None,
    agent_options: shared.AgentOptions = shared.AgentOptions(),
    problem_options: shared.ProblemOptions = shared.ProblemOptions(),
    work: shared.WorkOptions = shared.WorkOptions(horizon=300, runs=24),
    run: Annotated[int, integer_option("run", 0, "Run to watch, from 0", shared.THE_WORK)] = 0,
    out: Annotated[
        str | None, option("FILE.html", "Page to write (default: watch-run-N.html)", shared.THE_OUTPUT)
    ] = None,
) -> None:
    """Write a page that replays one run.

    It shows each round, and how each agent rated its options before the round.

    The team is given as for simulate. Small pictures show the other runs.
    """
    require_extras("This page", fast=work.engine == "fast", plot=True)
    from cobandit.base.checks import whole
    from cobandit.cli import output
    from cobandit.cli.door import say
    from cobandit.engine import simulation

    problem = problem_options.problem()
    chosen = shared.teams_of([shared.lineup_of(team or ["partner-aware-ucb"])], agent_options.values())[0]
    values = work.values()
    number = whole(0, work.runs - 1)("run", run)
    result = simulation.simulate(problem, chosen, **values)
    say(f"Run {number} can be watched in {result.watch(number, out)}: open it in a browser.")
    if (hint := output.fast_hint([result])) is not None:
        say(hint)
