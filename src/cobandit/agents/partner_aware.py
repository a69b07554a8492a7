"""Common part of partner-aware agents: predict the higher-ranked agents, then choose among the remaining team actions.

Alg. 1 (follower), Alg. 2 (leader) and the recursion to N agents (Generalization to More Agents). Each algorithm defines
the value of a team action: an index for UCB, a posterior sample for Thompson sampling.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobandit.agents.base import Agent, Briefing, TeamAction, option
from cobandit.agents.beliefs import Memory, random_arm
from cobandit.agents.foresight import Block, Window, block_of
from cobandit.base.checks import MOST, real, whole
from cobandit.base.records import optional


def follower_option() -> Any:
    """Return the option ``follower_exploration`` of agents that have an exploration constant."""
    help = "exploration constant c of a follower; None: as the leader's"
    return option(None, help, optional(real(0.0)), described=False)


def role_exploration(agent: Any, rank: int) -> float:
    """Return the exploration constant that an agent uses in a rank: 0 leads, all others follow."""
    follower = agent.follower_exploration
    return float(agent.exploration if rank == 0 or follower is None else follower)


@dataclass
class PartnerAware(Agent):
    """Predicts every higher-ranked agent, then plays its part of the best remaining team action.

    The leader (rank 0) predicts no one and re-decides every ``repeat`` (L) rounds; every other agent samples each
    higher-ranked agent's last ``window`` (W) arms, fixes those coordinates and maximises over its own and all
    lower-ranked coordinates.
    """

    window: int = option(25, "W: number of past arms that a prediction samples from", whole(1, MOST))
    repeat: int = option(1, "L: rounds for which the leader keeps an arm", whole(1, MOST))

    def reset(self, briefing: Briefing, rng: np.random.Generator) -> None:
        """Alg. 1 and 2, line "Initialize"."""
        super().reset(briefing, rng)
        self._memory = Memory(briefing.arms)
        self._window = Window(briefing, self.window)
        self._predictions: dict[int, int] = {}
        self._arm = 0

    @property
    def predictions(self) -> Mapping[int, int]:
        """The latest foreseen arm of each higher-ranked agent."""
        return self._predictions

    @abstractmethod
    def prefer(self, block: Block) -> TeamAction:
        """Return the position of the best team action in a block."""

    def starts_at_random(self) -> bool:
        """Return whether this round's arm is simply drawn."""
        return False

    def choose(self) -> int:
        """Choose (Alg. 1, lines 5-6; Alg. 2, lines 5-8, corrected: re-decide if (t - 1) mod L = 0)."""
        me = self.briefing
        if me.rank == 0 and (self.round - 1) % self.repeat != 0:
            return self._arm
        if self.starts_at_random():
            self._arm = random_arm(me.own_arms, self.rng)
            return self._arm
        self._predictions = self._window.predict(self.rng)
        free = iter(self.prefer(block_of(me, self._predictions)))
        aim = tuple(self._predictions[i] if i in self._predictions else next(free) for i in range(len(me.arms)))
        self._arm = self.part_of(aim)
        return self._arm

    def observe(self, team_action: TeamAction, reward: float | None) -> None:
        """Alg. 1, lines 8-11; Alg. 2, lines 10-12."""
        self._memory.record(team_action, reward)
        self._window.record(team_action)
