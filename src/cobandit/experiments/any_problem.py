"""Simulate any problem: a bandit, or a Markov problem, whose rounds are the steps of its episodes."""

from __future__ import annotations

from typing import Any

from cobandit.agents import Team
from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.engine import Result, simulate
from cobandit.problem import Problem


def team_kind(problem: object) -> type[Team]:
    """Return the class of the teams that play a problem."""
    if isinstance(problem, Problem):
        return Team
    from cobandit import mdp

    if not isinstance(problem, mdp.MarkovProblem):
        raise InvalidInput(f"problem must be a Problem or a MarkovProblem, got {short_repr(problem)}.")
    return mdp.Team


def simulate_any(problem: Any, team: Any, horizon: Any, runs: Any, seed: Any, **options: Any) -> Result:
    """Simulate a bandit or a Markov problem; for the latter, as many whole episodes as fit into the rounds."""
    if isinstance(problem, Problem):
        return simulate(problem, team, horizon, runs, seed, **options)
    from cobandit import mdp

    if isinstance(problem, mdp.MarkovProblem) and isinstance(horizon, int):
        horizon = max(1, horizon // problem.steps)
    return mdp.simulate(problem, team, horizon, runs, seed, **options)
