"""Posterior sampling (PSRL): draw a world from the posterior, and play the episode as if it were the true one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.agents.base import TeamAction, option
from cobandit.agents.beliefs import Posterior, best
from cobandit.base.checks import one_of, real
from cobandit.mdp.agents.centralised import EYES, CentralisedMarkov
from cobandit.mdp.agents.memory import CountingMarkovAgent, StateMemory
from cobandit.problem.means import Tensor


@dataclass
class SampledPlan(Posterior):
    """The options of posterior sampling: those of Thompson sampling, and the weight of the prior over next states."""

    move_prior: float = option(1.0, "total weight of the Dirichlet prior over next states", real(0.1))

    def sampled_values(self: Any, memory: StateMemory) -> Tensor:
        """Q of every step, state and team action in a world drawn from the posterior: H x S x A.

        Rewards first, state by state, then moves; where there is nothing to be moved to, nothing is drawn for it.
        """
        me = self.briefing
        rewards = self.sample(memory, me.binary, self.rng)
        q = np.zeros((me.steps, *rewards.shape))
        moves = self._sampled_moves(memory) if me.steps > 1 else memory.sums[..., np.newaxis]
        values = np.zeros(me.states)
        for h in range(me.steps - 1, -1, -1):
            q[h] = rewards
            if h < me.steps - 1:
                for state, value in enumerate(values.tolist()):
                    q[h] = q[h] + moves[:, :, state] * value
            values = q[h].max(axis=1)
        return q

    def _sampled_moves(self: Any, memory: StateMemory) -> Tensor:
        states = self.briefing.states
        if states == 1:
            return np.ones(memory.moves.shape)
        drawn = self.rng.standard_gamma(self.move_prior / states + memory.moves)
        total = np.zeros(memory.sums.shape)
        for state in range(states):
            total = total + drawn[:, :, state]
        return np.asarray(drawn / total[:, :, np.newaxis])


@dataclass
class NaivePSRL(SampledPlan, CountingMarkovAgent):
    """Posterior sampling over all team actions, as if the others would comply."""

    name: ClassVar[str] = "naive-psrl"
    paper: ClassVar[str] = 'Conclusion (future work), after "naive Thompson" of Effect of Partner-Awareness'
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.psrl:psrl"

    def plan(self) -> None:
        """Draw a world and solve it."""
        self._q = self.sampled_values(self._memory)

    def choose(self, state: int, step: int) -> int:
        """Return the own coordinate of the best team action in the drawn world."""
        return best(self._q[step, state].reshape(self.briefing.arms), self.ties, self.rng)[self.briefing.agent]


@dataclass
class CentralisedPSRL(SampledPlan, CentralisedMarkov):
    """Posterior sampling over team actions by one joint controller."""

    name: ClassVar[str] = "centralised-psrl"
    paper: ClassVar[str] = "Conclusion (future work): one brain, the yardstick for what not talking costs"
    compiled: ClassVar[str] = "cobandit.mdp.fast.kinds.psrl:centralised_psrl"

    eyes: str = option("all", "whose eyes it has: " + ", ".join(EYES), one_of(EYES))

    def plan(self) -> None:
        """Draw a world and solve it."""
        self._q = self.sampled_values(self._memory)

    def choose(self, state: int, step: int) -> TeamAction:
        """Return the best team action in the drawn world."""
        return best(self._q[step, state].reshape(self.briefing.arms), self.ties, self.rng)
