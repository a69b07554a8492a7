"""Win-stay-lose-shift: a simple model of how people play (see `softmax`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import random_arm
from cobandit.base.checks import real


@dataclass
class WinStayLoseShift(Agent):
    """Keeps its own arm after a good round and changes it after a bad one, except for slips.

    A round is good if the reward is at least the mean of all seen so far, and above 0.
    """

    name: ClassVar[str] = "win-stay-lose-shift"
    label: ClassVar[str] = "Win-Stay Lose-Shift"
    paper: ClassVar[str] = "Experiments (a stand-in for a participant)"
    needs_actions: ClassVar[bool] = False
    compiled: ClassVar[str] = "cobandit.engine.fast.kinds.win_stay_lose_shift:win_stay_lose_shift"

    slip: float = option(0.1, "probability of a random arm instead", real(0.0, 1.0))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Start without an arm."""
        super().reset(briefing, rng)
        self._arm = -1
        self._won = True
        self._sum, self._count = 0.0, 0

    def choose(self) -> int:
        """Return the last arm, another one, or a slip."""
        arms = self.briefing.own_arms
        if self._arm < 0 or self.rng.random() < self.slip:
            return random_arm(arms, self.rng)
        if self._won or arms == 1:
            return self._arm
        return (self._arm + 1 + random_arm(arms - 1, self.rng)) % arms

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Remember the own arm and whether it was good; a round in which nothing was seen changes nothing."""
        self._arm = team_action[self.briefing.agent]
        if reward is not None:
            self._sum += reward
            self._count += 1
            self._won = reward > 0.0 and reward * self._count >= self._sum
