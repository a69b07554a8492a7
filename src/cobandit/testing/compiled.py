"""The contract of compiled forms: they play what the plain agent plays, to the last bit."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cobandit.agents.base import Agent, Controller
from cobandit.agents.naive import NaiveUCB
from cobandit.agents.team import Team
from cobandit.base.checks import whole
from cobandit.base.errors import AgentError, InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.streams import checked_seed
from cobandit.engine import reference
from cobandit.engine.trajectory import Trajectory
from cobandit.problem import Problem

_PARTS = {"actions": "the arms", "seen": "what was seen", "predictions": "the predictions"}


def compiled_problems() -> list[Problem]:
    """Return the default problems: two and three agents, rewards of 0 and 1 and others, nothing seen, drawn roles."""
    return [
        Problem.bernoulli(arms=(3, 2), observability=(0.6, 0.9)),
        Problem.bernoulli(arms=(2, 3, 2), observability=(0.6, 0.4, 0.5), observation="missed-known", roles="random"),
        Problem.gaussian(arms=(2, 4), noise=(0.6, 0.4)),
    ]


def check_compiled(
    agent: Agent | Controller, *, problems: Iterable[Problem] | None = None, horizon: int = 200, seed: int = 0
) -> None:
    """Compare an agent's compiled form with the agent itself; stop at the first round that differs.

    It plays in each seat with naive UCB agents (a joint controller plays alone), on each of the ``problems`` for which
    it has a compiled form; `compiled_problems` by default. Each takes seconds to compile, once.
    """
    require_extras("The fast engine", fast=True)
    from cobandit.engine import fast

    if not isinstance(agent, (Agent, Controller)):
        raise InvalidInput(f"agent must be an agent or a joint controller, got {agent!r}.")
    rounds, start = whole(2)("horizon", horizon), checked_seed(seed)
    reasons = []
    compared = 0
    for problem in compiled_problems() if problems is None else problems:
        for team in _teams(agent, problem.agents):
            reason = fast.obstacle(problem, team, rounds)
            if reason is not None:
                reasons.append(reason)
                continue
            for run in range(2):
                plain = reference.run_trajectory(problem, team, rounds, start, run)
                _compare(plain, fast.run_trajectory(problem, team, rounds, start, run), team, problem)
            compared += 1
    if not compared:
        raise AgentError(f"Nothing could be compared: {'; '.join(dict.fromkeys(reasons)) or 'no problems were given'}.")


def _teams(agent: Agent | Controller, places: int) -> list[Team]:
    if isinstance(agent, Controller):
        return [Team.of(agent)]
    others = [NaiveUCB() for _ in range(places)]
    return [Team([*others[:place], agent, *others[place + 1 :]], check_protocol=False) for place in range(places)]


def _compare(plain: Trajectory, quick: Trajectory, team: Team, problem: Problem) -> None:
    if plain.same_as(quick):
        return
    where = f"{team.label} with {' x '.join(map(str, problem.arms))} arms, {problem.observation.name} observation"
    for t in range(len(plain)):
        for name, words in _PARTS.items():
            ours, theirs = getattr(plain, name)[t], getattr(quick, name)[t]
            if not np.array_equal(ours, theirs, equal_nan=True):
                raise AgentError(
                    f"The compiled form differs in round {t + 1} ({where}): {words} are {ours.tolist()} as the agent "
                    f"itself plays and {theirs.tolist()} compiled. Are all draws taken in the same order?"
                )
    raise AgentError(f"The compiled form met other means, ranks or rewards ({where}).")
