"""What the environments share: checks at the door, which run comes next, and what a learner is paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Agent
from cobandit.agents.checks import is_arm
from cobandit.agents.team import Team
from cobandit.base.checks import one_of, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import MOST_RUNS, checked_seed
from cobandit.problem import Problem

RewardName = Literal["seen", "team", "task"]
REWARDS = ("seen", "team", "task")
"""The agent's own seen reward, the team's (the weighted mean of what everybody saw), or r* itself."""


def checked_problem(problem: Any) -> Problem:
    """The problem, or an error."""
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem is {short_repr(problem)}; a Problem is needed, such as Problem.bernoulli(...).")
    if problem.delay:
        raise InvalidInput(
            f"problem has a delay of {problem.delay:,} rounds; "
            "an environment answers every step at once, so a delay of 0 is needed."
        )
    return problem


def checked_reward(reward: Any) -> str:
    """The name of what a learner is paid, or an error."""
    return str(one_of(REWARDS, "reward")("reward", reward))


def partners_of(problem: Problem, team: Any, seat: int) -> list[Agent | None]:
    """The agents of a team, fresh, with nobody in the learner's seat."""
    team = Team.from_any(team)
    if team.controller is not None:
        raise InvalidInput(f"{team.label} is one brain for the whole team; a learner takes the seat of an agent.")
    agents: list[Agent | None] = list(team.playing(problem).agents(problem.agents))
    agents[whole(0, problem.agents - 1)("seat", seat)] = None
    return agents


def checked_move(name: str, move: Any, arms: int) -> int:
    """An arm as a whole number, or an error."""
    if isinstance(move, np.ndarray) and move.size == 1:
        move = move.item()
    if not is_arm(move, arms):
        raise InvalidInput(f"{name} is {short_repr(move)}; a whole number from 0 to {arms - 1} is needed.")
    return int(move)


def paid(
    reward: str, agent: int, weights: Sequence[float], seen: NDArray[np.float64], rewards: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What an agent is paid for a round of each copy; ``seen`` is copies x agents, NaN counts as 0."""
    if reward == "task":
        return rewards.copy()
    known = np.nan_to_num(seen, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return known[:, agent].copy() if reward == "seen" else known @ np.asarray(weights)


class Luck:
    """Which run comes next: with a seed its first one, without one the next of the latest seed.

    Run r of a seed has the very luck of run r of a simulation with that seed.
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


def seen_row(seen: Sequence[float | None]) -> NDArray[np.float64]:
    """What the agents saw as one row of numbers; NaN: nothing."""
    return np.array([[np.nan if look is None else look for look in seen]])
