"""A problem as the theorems see it: rows are the leader's arms, columns the follower's."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.problem import Bernoulli, FixedMeans, Missed, Problem

LONGEST = 2**63 - 1


@dataclass(frozen=True, eq=False)
class Table:
    """A problem as the proofs see it: rows are the leader's arms, columns the follower's.

    ``means`` is mu, ``row_gaps`` is Delta-tilde, ``gaps`` is Delta; ``best_columns`` is j*(i) and ``best_row`` the
    leader's part of a_*. ``sees`` holds the observability of leader and follower.
    """

    means: NDArray[np.float64]
    gaps: NDArray[np.float64]
    row_gaps: NDArray[np.float64]
    best_columns: NDArray[np.int64]
    best_row: int
    sees: tuple[float, float]

    @classmethod
    def of(cls, problem: Problem, leader: int) -> Table:
        """Return the table of a checked problem, with the given agent in the lead."""
        assert isinstance(problem.means, FixedMeans)
        means = np.array(problem.means.values).reshape(problem.arms)
        if leader == 1:
            means = means.T
        tops = means.max(axis=1)
        p = problem.observation.levels
        return cls(
            means=means,
            gaps=tops.max() - means,
            row_gaps=tops[:, np.newaxis] - means,
            best_columns=means.argmax(axis=1),
            best_row=int(tops.argmax()),
            sees=(p[leader], p[1 - leader]),
        )

    @property
    def largest_gap(self) -> float:
        """Delta_max."""
        return float(self.gaps.max())

    @property
    def row_best(self) -> NDArray[np.bool_]:
        """Where the best cell of each row stands; the first one where several are best."""
        mask = np.zeros(self.gaps.shape, dtype=np.bool_)
        mask[np.arange(len(mask)), self.best_columns] = True
        return mask

    @property
    def other_rows(self) -> NDArray[np.bool_]:
        """The cells outside the best row."""
        mask = np.ones(self.gaps.shape, dtype=np.bool_)
        mask[self.best_row] = False
        return mask


def per_gap(amount: float, sees: float, gaps: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return amount / (p gap)^2; infinite where p gap is 0, even for an amount of 0: no sum is finite at T = 1."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore", under="ignore"):
        inverse = 1.0 / np.square(sees * gaps)
        return np.where(np.isinf(inverse), math.inf, amount * inverse)


def leaders_of(problem: Problem) -> tuple[int, ...]:
    """Return the agents that may lead: one, or both where the roles are drawn at random."""
    return (0, 1) if problem.roles == "random" else (problem.known_ranks().index(0),)


def check_problem(problem: Any) -> None:
    """Refuse a problem that the theorems are not about."""
    if not isinstance(problem, Problem):
        raise InvalidInput(f"problem must be a Problem, got {short_repr(problem)}.")
    if problem.roles == "elected":
        raise InvalidInput("roles is 'elected'; Theorem 1 is about leaders that are known, or drawn ('random').")
    if problem.agents != 2:
        raise InvalidInput(f"problem has {problem.agents} agents; Theorem 1 is about 2, a leader and a follower.")
    if problem.custom_models:
        raise InvalidInput(
            f"problem has a model of its own, {problem.custom_models[0]}; Theorem 1 is about shipped ones."
        )
    if not isinstance(problem.means, FixedMeans):
        raise InvalidInput("problem has random or drifting means; Theorem 1 needs the means themselves: give them.")
    if not isinstance(problem.reward, Bernoulli):
        raise InvalidInput(f"problem has {problem.reward.name} rewards; Theorem 1 is about Bernoulli rewards.")
    if not isinstance(problem.observation, Missed):
        raise InvalidInput(
            f"problem has {problem.observation.name!r} observation; Theorem 1 is about 'missed' observation."
        )
    if problem.hides_actions:
        raise InvalidInput("problem has actions='hidden'; Theorem 1 is about observed actions.")
    if problem.delay:
        raise InvalidInput(f"problem has a delay of {problem.delay:,} rounds; Theorem 1 is about a delay of 0.")


def check_horizon(name: str, horizon: Any) -> int:
    """Return a horizon as an int, or refuse it."""
    return int(whole(1, LONGEST)(name, horizon))
