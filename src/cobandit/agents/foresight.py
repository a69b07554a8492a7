"""Predicting higher-ranked partners from a window of their past arms (Alg. 1, lines 5 and 11)."""

from __future__ import annotations

from collections import deque

import numpy as np

from cobandit.agents.base import Briefing, TeamAction
from cobandit.agents.beliefs import random_arm

Block = tuple[int | slice, ...]
"""An index of the team actions in which the foreseen coordinates are as foreseen."""


class Window:
    """The last W arms of each higher-ranked agent; foresees an arm by sampling their histogram.

    Sampling the histogram rho_t is the same as taking one of the remembered rounds, each with equal
    chance, so no histogram is kept: one draw per higher-ranked agent, the leader's first.
    """

    def __init__(self, briefing: Briefing, window: int) -> None:
        self.arms = {agent: briefing.arms[agent] for agent in briefing.higher}
        self.past = {agent: deque[int](maxlen=window) for agent in briefing.higher}

    def predict(self, rng: np.random.Generator) -> dict[int, int]:
        """Return a foreseen arm for each higher-ranked agent (uniform in the first round)."""
        return {
            agent: past[random_arm(len(past), rng)] if past else random_arm(self.arms[agent], rng)
            for agent, past in self.past.items()
        }

    def record(self, team_action: TeamAction) -> None:
        """Remember the round's arms."""
        for agent, past in self.past.items():
            past.append(team_action[agent])


def block_of(briefing: Briefing, predictions: dict[int, int]) -> Block:
    """Return the part of the team actions in which the foreseen coordinates are as foreseen."""
    return tuple(predictions.get(agent, slice(None)) for agent in range(len(briefing.arms)))


def own_axis(briefing: Briefing, predictions: dict[int, int]) -> int:
    """Return which axis of such a block is the agent's own."""
    return sum(1 for agent in range(briefing.agent) if agent not in predictions)
