"""What the environments share: checks at the door, which run comes next, and what a learner is paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Agent
from cobandit.agents.checks import HIDDEN, is_arm
from cobandit.agents.team import Team, require_visible_actions
from cobandit.base.checks import one_of, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import MOST_RUNS, checked_seed
from cobandit.problem import Problem

RewardName = Literal["seen", "team", "task"]
REWARDS = ("seen", "team", "task")
"""The agent's own seen reward, the team's (the weighted mean of all seen rewards), or r* itself."""


def checked_problem(problem: Any) -> Problem:
    """Return the problem, or an error."""
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem must be a Problem, such as Problem.bernoulli(...), got {short_repr(problem)}.")
    if problem.delay:
        raise InvalidInput(
            f"delay must be 0, because an environment answers every step immediately, got {problem.delay:,} rounds."
        )
    return problem


def checked_reward(reward: Any) -> str:
    """Return the name of the learner's reward, or raise an error."""
    return str(one_of(REWARDS, "reward")("reward", reward))


def partners_of(problem: Problem, team: Any, seat: int) -> list[Agent | None]:
    """Return fresh agents of a team, with None in the learner's seat."""
    team = Team.from_any(team)
    if team.controller is not None:
        raise InvalidInput(f"{team.label} is one brain for the whole team; a learner takes the seat of an agent.")
    agents: list[Agent | None] = list(team.playing(problem).agents(problem.agents))
    agents[whole(0, problem.agents - 1)("seat", seat)] = None
    require_visible_actions(problem, agents)
    return agents


def checked_move(name: str, move: Any, arms: int) -> int:
    """Return an arm as an integer, or an error."""
    if isinstance(move, np.ndarray) and move.size == 1:
        move = move.item()
    if not is_arm(move, arms):
        raise InvalidInput(f"{name} must be an integer from 0 to {arms - 1}, got {short_repr(move)}.")
    return int(move)


def paid(
    reward: str, agent: int, weights: Sequence[float], seen: NDArray[np.float64], rewards: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return an agent's reward for a round of each copy; ``seen`` is copies x agents, NaN counts as 0."""
    if reward == "task":
        return rewards.copy()
    known = np.nan_to_num(seen, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return known[:, agent].copy() if reward == "seen" else known @ np.asarray(weights)


class Luck:
    """Which run comes next: with a seed its first one, without one the next of the latest seed.

    Run r of a seed has the same luck as run r of a simulation with that seed.
    """

    def __init__(self, step: int = 1) -> None:
        self._step = step
        self.seed: int | None = None
        self.run = 0

    def next(self, seed: Any = None) -> tuple[int, int]:
        """Seed and number of the run that begins now; of the first one, where several are played side by side."""
        if seed is not None or self.seed is None:
            self.seed, self.run = checked_seed(seed), 0
        else:
            self.run = self.run + self._step if self.run + 2 * self._step <= MOST_RUNS else 0
        return self.seed, self.run


def observed_arms(problem: Problem, agent: int, arms: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a copy of the arms of a round as an agent observes them: those of its partners may be `HIDDEN`.

    The last axis of ``arms`` has all agents.
    """
    observed = arms.copy()
    if problem.hides_actions:
        observed[...] = HIDDEN
        observed[..., agent] = arms[..., agent]
    return observed


def seen_row(seen: Sequence[float | None]) -> NDArray[np.float64]:
    """Return the agents' observations as one row of numbers; NaN: nothing."""
    return np.array([[np.nan if look is None else look for look in seen]])
