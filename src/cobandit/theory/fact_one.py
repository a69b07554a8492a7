"""Fact 1: a team whose members all see every reward plays like one single agent.

With p_i = 1 for all, naive UCB agents have the same counts and estimates and break ties in the same way (first index).
So each plays its part of the same cell, the one that a single UCB agent over all team actions would play.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import real, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import Streams, checked_seed
from cobandit.problem import FixedMeans, Noisy, Problem
from cobandit.problem.labels import to_agents


def single_agent_ucb(rewards: Any, exploration: float = 0.025) -> NDArray[np.int64]:
    """Return the cells, in row-major numbering, that one UCB agent plays: a plain loop that shares no code with the
    agents.

    ``rewards[t]`` holds r*_t(a) of every team action a, drawn in advance; the horizon T is its length. The index is the
    empirical mean plus sqrt(c log(T^2) / n), infinite for a cell never tried; of equal ones the first wins.
    """
    table = _rewards(rewards)
    horizon, cells = table.shape
    # scale * (1 / root) and not sqrt(... / n): the agents round in this order, and Fact 1 is checked to the last bit.
    scale = math.sqrt(2.0 * float(real(0.0)("exploration", exploration)) * math.log(horizon))
    counts, sums = [0] * cells, [0.0] * cells
    indices = [math.inf] * cells
    played = np.empty(horizon, dtype=np.int64)
    for t in range(horizon):
        cell = indices.index(max(indices))
        counts[cell] += 1
        sums[cell] += float(table[t, cell])
        indices[cell] = sums[cell] / counts[cell] + scale * (1.0 / math.sqrt(counts[cell]))
        played[t] = cell
    return played


def fact_one(problem: Problem, actions: Any, rewards: Any, exploration: float = 0.025) -> bool:
    """Return whether a team played exactly as the single UCB agent with the same random numbers.

    ``actions[t, i]`` is agent i's arm in round t, ``rewards[t]`` contains r*_t of every team action. All agents of the
    problem must see every reward, as Fact 1 supposes.
    """
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem must be a Problem, got {short_repr(problem)}.")
    if problem.custom_models:
        raise InvalidInput(f"problem has a model of its own, {problem.custom_models[0]}; Fact 1 is about shipped ones.")
    full = 0.0 if isinstance(problem.observation, Noisy) else 1.0
    if any(level != full for level in problem.observation.levels):
        name = "noise" if isinstance(problem.observation, Noisy) else "observability"
        raise InvalidInput(
            f"{name} is {short_repr(problem.observation.levels)}; "
            f"Fact 1 is about full sight, so {full:g} for every agent."
        )
    if problem.hides_actions:
        raise InvalidInput("problem has actions='hidden'; Fact 1 is about observed actions.")
    if problem.delay:
        raise InvalidInput(f"problem has a delay of {problem.delay:,} rounds; Fact 1 is about a delay of 0.")
    table = _rewards(rewards)
    if table.shape[1] != problem.cells:
        raise InvalidInput(f"rewards has {table.shape[1]} cells a round; the problem has {problem.cells} team actions.")
    arms = np.asarray(actions)
    if arms.shape != (len(table), problem.agents) or arms.dtype.kind not in "iu":
        raise InvalidInput(
            f"actions has shape {arms.shape} and type {arms.dtype}; "
            f"integers of shape {(len(table), problem.agents)}, an arm per round and agent, are needed."
        )
    single = np.unravel_index(single_agent_ucb(table, exploration), problem.arms)
    return bool(np.array_equal(arms, np.stack(single, axis=1)))


def potential_rewards(problem: Problem, horizon: int, seed: int, run: int = 0) -> NDArray[np.float64]:
    """Return the rewards that every team action would have given in a run of a simulation: rounds x arms of each agent.

    For given means and Bernoulli rewards: the engines draw one number a round, and every action is paid by it.
    """
    if not isinstance(problem, Problem) or type(problem.means) is not FixedMeans or problem.reward.name != "bernoulli":
        raise InvalidInput(f"problem must be one with given means and Bernoulli rewards, got {short_repr(problem)}.")
    rounds = whole(1)("horizon", horizon)
    streams = Streams.of(checked_seed(seed), whole(0)("run", run), problem.agents, problem.relabel)
    draws = np.asarray(streams.rewards.random(size=(rounds, *(1,) * problem.agents)))
    means = np.array(problem.means.values).reshape(problem.arms)
    if streams.labels is not None:
        means = to_agents(means, problem.draw_labels(streams.labels))
    return np.asarray(draws < means, dtype=np.float64)


def _rewards(rewards: Any) -> NDArray[np.float64]:
    """Return the rewards with one row per round and one column per cell."""
    try:
        table = np.asarray(rewards, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim < 2 or table.size == 0 or not np.isfinite(table).all():
        raise InvalidInput(
            f"rewards is {short_repr(rewards)}; "
            "an array of finite numbers is needed, first the round, then the team action."
        )
    return table.reshape(len(table), -1)
