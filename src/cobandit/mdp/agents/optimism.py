"""Planning with optimism (UCBVI): an index for every state, step and action, by backward induction.

    Q_h(s,a) = estimate + E[V_{h+1}] + scale sqrt(1/n + (Var[V_{h+1}] + (H-h-1)^2 / n) / n)
    V_h(s)   = BACKUP of min(H-h, max Q_h(s, .))

Mean and variance are over the moves seen so far; estimate, scale and the value of an untried action are those of the
bandit's index variants (`UpperConfidence`). Only V is clipped: the last step's index has exactly the bits of the
bandit's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobandit.agents.base import option
from cobandit.agents.beliefs import COMPANION_FLOOR, LINES, TIES, UpperConfidence
from cobandit.base.checks import one_of
from cobandit.mdp.agents.memory import StateMemory
from cobandit.problem.means import Tensor

Backup = Callable[[int, Tensor], Tensor]
"""From the step and Q of it (states x actions) to the value of each state."""


@dataclass
class OptimisticPlan(UpperConfidence):
    """The options of the UCBVI family, which are those of the UCB family, and its plan."""

    index: str = option("companion", "index variant: " + ", ".join(LINES), one_of(LINES))
    ties: str = option("first", "which of equal indices wins: " + ", ".join(TIES), one_of(TIES, "tie rule"))

    def plan_values(self: Any, memory: StateMemory, backup: Backup) -> Tensor:
        """Q of every step, state and action, as things are at the start of an episode: H x S x actions.

        In the companion code's first episode there is none, since its index begins with the second round.
        """
        me = self.briefing
        q = np.zeros((me.steps, *memory.sums.shape))
        if self.starts_at_random():
            return q
        scale = self.scale(self.round, me.horizon)
        values = np.zeros(me.states)
        for h in range(me.steps - 1, -1, -1):
            q[h] = self.indices_of_step(memory, scale, me.ceiling * (me.steps - 1 - h), values)
            values = backup(h, q[h])
        return q

    def indices_of_step(self: Any, memory: StateMemory, scale: float, most: float, values: Tensor) -> Tensor:
        """Q of one step; ``most`` is the most that the steps behind it can give, ``values`` what they are worth."""
        counts, sums = memory.counts, memory.sums
        companion = self.index == "companion"
        floored = np.maximum(counts, COMPANION_FLOOR)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimates = (1.0 + sums) / (2.0 + counts) if companion else np.where(counts > 0, sums / counts, math.inf)
        if most == 0.0:
            return np.asarray(estimates + scale * (1.0 / np.sqrt(floored)))
        tried = memory.visits > 0
        visits = np.maximum(memory.visits, 1)
        mean, variance = memory.expected(values)
        spans = np.sqrt(1.0 / floored + (variance + most * most / visits) / visits)
        untried = estimates + most + scale * (1.0 / np.sqrt(floored))
        return np.asarray(np.where(tried, estimates + mean + scale * spans, untried))

    def starts_at_random(self: Any) -> bool:
        """Return whether the arms of this episode are simply drawn: the companion code draws the first."""
        return bool(self.index == "companion" and self.episode == 0)


def joint_max(ceiling: float, steps: int) -> Backup:
    """Return the backup V_h(s) = min(H-h, max_a Q_h(s,a)), as if all agents played the best team action."""

    def backup(h: int, q: Tensor) -> Tensor:
        return np.asarray(np.minimum(q.max(axis=1), ceiling * (steps - h)))

    return backup
