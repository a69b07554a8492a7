"""A lower bound on the long-run regret of any team, even of one controller that sees what any agent sees."""

from __future__ import annotations

import math
from typing import Any

from cobandit.base.checks import short_repr
from cobandit.base.errors import InvalidInput
from cobandit.problem import Bernoulli, FixedMeans, Missed, Problem


def lai_robbins(problem: Problem) -> float:
    """Return the Lai-Robbins constant C: the *task* regret of a team that learns in every problem grows at least as C
    log T.

    "Learns in every problem" means that regret grows slower than any power of T for all means; the bound is asymptotic
    and does not hold for any single T. C = sum over the cells of Delta_a / kl(q mu_a, q mu_*), with kl the divergence
    of two Bernoulli distributions and q = 1 - prod(1 - p_i) the probability that any agent sees a reward: the OR of the
    agents' observations is all the information a joint controller has, and no team does better than a controller. Team
    regret: times ``problem.team_factor``. If mu_* = 1, no cell could be better and C is 0. If no agent sees anything
    while cells differ, C is infinite.
    """
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem must be a Problem, got {short_repr(problem)}.")
    if problem.custom_models:
        raise InvalidInput(
            f"problem has a model of its own, {problem.custom_models[0]}; the lower bound is about shipped ones."
        )
    means: Any = problem.means
    if not isinstance(means, FixedMeans):
        raise InvalidInput(
            "problem has random or drifting means; the lower bound needs the means themselves: give them."
        )
    if not isinstance(problem.reward, Bernoulli) or not isinstance(problem.observation, Missed):
        raise InvalidInput(
            f"problem has {problem.reward.name} rewards and {problem.observation.name!r} observation; "
            "the lower bound is for Bernoulli rewards and 'missed' observation."
        )
    top = max(means.values)
    if top == 1.0:
        return 0.0
    sight = 1.0 - math.prod(1.0 - p for p in problem.observation.observability)
    total = 0.0
    for mean in means.values:
        if mean < top:
            divergence = _kl(sight * mean, sight * top)
            total += (top - mean) / divergence if divergence > 0.0 else math.inf
    return total


def _kl(x: float, y: float) -> float:
    """Return the divergence of Bernoulli(y) from Bernoulli(x), for x < y < 1, accurate also for x close to y."""
    if x == 0.0:
        return -math.log1p(-y)
    d = y - x
    # x log(x/y) + (1 - x) log((1 - x)/(1 - y)) with the linear terms of both logarithms, which all but cancel, added
    # up by hand: they make d^2 / (y (1 - y)).
    return d * d / (y * (1.0 - y)) + x * _beyond_linear(-d / y) + (1.0 - x) * _beyond_linear(d / (1.0 - y))


def _beyond_linear(u: float) -> float:
    """log(1 + u) - u."""
    return math.log1p(u) - u if abs(u) > 1e-4 else u * u * (-0.5 + u * (1.0 / 3.0 - 0.25 * u))
