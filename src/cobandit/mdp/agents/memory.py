"""What an agent remembers of states: the public counts of moves, and its own seen rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cobandit.agents.base import TeamAction
from cobandit.mdp.agents.base import MarkovAgent
from cobandit.problem.means import Tensor


class StateMemory:
    """Arrays over states x actions: ``counts`` and ``sums`` of the agent's own seen rewards, public ``visits`` and
    ``moves``.

    The counts are the public visits, except under *missed-known* observation. Actions are team actions in row-major
    order, or the own arms of an agent that ignores the others.
    """

    def __init__(self, states: int, actions: int) -> None:
        self.counts = np.zeros((states, actions), dtype=np.int64)
        self.sums = np.zeros((states, actions))
        self.visits = np.zeros((states, actions), dtype=np.int64)
        self.moves = np.zeros((states, actions, states), dtype=np.int64)

    def record(self, state: int, action: int, reward: float | None, next_state: int) -> None:
        """Update with one step; a reward of None is one that was not seen."""
        self.visits[state, action] += 1
        self.moves[state, action, next_state] += 1
        if reward is not None:
            self.counts[state, action] += 1
            self.sums[state, action] += reward

    def expected(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of the next state's value after each action, as the moves have been (0 where none was).

        Added up from state to state, in the order in which the compiled engine does it.
        """
        total, squares = np.zeros(self.sums.shape), np.zeros(self.sums.shape)
        for state, value in enumerate(values.tolist()):
            weights = self.moves[:, :, state]
            total = total + weights * value
            squares = squares + weights * (value * value)
        tried = np.maximum(self.visits, 1)
        mean = total / tried
        return mean, np.maximum(squares / tried - mean * mean, 0.0)


@dataclass
class CountingMarkovAgent(MarkovAgent):
    """The common part of agents that remember their seen rewards and the moves after each team action."""

    def reset(self, briefing: Any, rng: np.random.Generator) -> None:
        """Start with an empty memory of team actions."""
        super().reset(briefing, rng)
        self._memory = StateMemory(briefing.states, int(np.prod(briefing.arms)))

    def observe(self, team_action: TeamAction, reward: float | None, state: int, step: int, next_state: int) -> None:
        """Remember the step."""
        cell = int(np.ravel_multi_index(team_action, self.briefing.arms))
        self._memory.record(state, cell, reward, next_state)
