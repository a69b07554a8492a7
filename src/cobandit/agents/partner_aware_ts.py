"""Partner-Aware Thompson sampling, the direction the paper's Conclusion names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import Memory, Posterior, best
from cobandit.agents.foresight import Window, block_of, own_axis
from cobandit.checks import MOST, whole


@dataclass
class PartnerAwareTS(Posterior, Agent):
    """Roles, foresight and hierarchy of Partner-Aware UCB; posterior samples in place of the index."""

    name: ClassVar[str] = "partner-aware-ts"
    paper: ClassVar[str] = "Conclusion (Limitations and Future Work), after Alg. 1 and Alg. 2"

    window: int = option(25, "W: how many past arms of a partner a prediction samples from", whole(1, MOST))
    repeat: int = option(1, "L: for how many rounds the leader keeps an arm", whole(1, MOST))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """An empty memory and an empty window."""
        super().reset(briefing, rng)
        self._memory = Memory(briefing.arms)
        self._window = Window(briefing, self.window)
        self._predictions: dict[int, int] = {}
        self._arm = 0

    @property
    def predictions(self) -> Mapping[int, int]:
        """The latest foreseen arm of each higher-ranked agent."""
        return self._predictions

    def choose(self) -> int:
        """Foresee the higher-ranked, sample the block that is left, play the own part of its best."""
        me = self.briefing
        if me.rank == 0 and (self.round - 1) % self.repeat != 0:
            return self._arm
        self._predictions = self._window.predict(self.rng)
        block = block_of(me, self._predictions)
        samples = self.sample(self._memory, me.binary, self.rng, block)
        self._arm = best(samples, self.ties, self.rng)[own_axis(me, self._predictions)]
        return self._arm

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the round."""
        self._memory.record(team_action, reward)
        self._window.record(team_action)
