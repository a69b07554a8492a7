"""Exact values of a known Markov decision process, by backward induction."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cobandit.problem.means import Tensor


@dataclass(frozen=True, eq=False)
class World:
    """What nature fixed for one run: how states follow each other, what a step pays, and where an episode starts.

    ``transitions[s, a, z]`` is P(z | s, a), ``means[s, a]`` is mu(s, a), ``start[s]`` the chance to begin in s; a
    is the number of a team action in row-major order.
    """

    transitions: Tensor
    means: Tensor
    start: Tensor

    @cached_property
    def next_limits(self) -> Tensor:
        """Cumulative transition probabilities: a uniform draw goes to the first state whose limit is above it."""
        return _limits(self.transitions)

    @cached_property
    def start_limits(self) -> Tensor:
        """The same of the start."""
        return _limits(self.start)


def _limits(chances: Tensor) -> Tensor:
    limits = np.cumsum(chances, axis=-1)
    behind_last = np.cumsum(chances[..., ::-1], axis=-1)[..., ::-1]
    limits[(behind_last - chances) <= 0.0] = 1.0  # rounding must not leave a gap behind the last possible state
    return np.asarray(limits)


@dataclass(frozen=True, eq=False)
class Values:
    """``q[h, s, a]`` is Q*, ``v[h, s]`` is V* = max_a Q*; both of the steps h, ..., H - 1 of an episode."""

    q: Tensor
    v: Tensor

    @property
    def gaps(self) -> Tensor:
        """V* - Q*, the task regret of one step."""
        return np.asarray(self.v[: len(self.q), :, np.newaxis] - self.q)


def optimal_values(world: World, steps: int) -> Values:
    """Return the optimal values of episodes of ``steps`` steps, in O(H S A S')."""
    states, cells = world.means.shape
    q = np.zeros((steps, states, cells))
    v = np.zeros((steps + 1, states))
    for h in range(steps - 1, -1, -1):
        q[h] = world.means + world.transitions @ v[h + 1] if h < steps - 1 else world.means
        v[h] = q[h].max(axis=1)
    return Values(q, v)


def policy_value(world: World, cells: NDArray[np.int64], steps: int) -> float:
    """Return the mean reward of an episode if ``cells[h, s]`` is the team action in state s at step h."""
    rows = np.arange(len(world.start))
    value = np.zeros(len(rows))
    for h in range(steps - 1, -1, -1):
        value = world.means[rows, cells[h]] + world.transitions[rows, cells[h]] @ value
    return float(world.start @ value)
