"""Predicting higher-ranked partners, state by state: windows of past arms, or a bank of decayed histograms.

What is foreseen is a distribution rho_h(s, .) over the arms of each higher-ranked agent at every step and state. The
choice draws from it, and the plan backs values up over it.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from cobandit.agents.base import TeamAction
from cobandit.agents.beliefs import random_arm
from cobandit.mdp.agents.base import MarkovBriefing
from cobandit.problem.means import Tensor

DECAYS = (0.0, 0.6, 0.9, 0.97, 1.0)
"""How much of the past each histogram of the bank keeps from visit to visit."""

SHARE = 0.01
"""How much of the weights the bank spreads evenly over its histograms after every visit."""

PRIOR = 0.5
"""The initial value of every bin of a histogram of the bank."""


class StateWindows:
    """The last W arms of each higher-ranked agent at every step and state (`agents.foresight.Window`)."""

    def __init__(self, briefing: MarkovBriefing, window: int) -> None:
        self.arms = {agent: briefing.arms[agent] for agent in briefing.higher}
        places = briefing.steps, briefing.states
        self.past: dict[tuple[int, int, int], deque[int]] = {}
        self.window = window
        self.histograms = {agent: np.zeros((*places, size)) for agent, size in self.arms.items()}

    def predict(self, step: int, state: int, rng: np.random.Generator) -> dict[int, int]:
        """Return a foreseen arm for each higher-ranked agent, one draw each (uniform before the first visit)."""
        foreseen = {}
        for agent, size in self.arms.items():
            past = self.past.get((agent, step, state))
            foreseen[agent] = past[random_arm(len(past), rng)] if past else random_arm(size, rng)
        return foreseen

    def record(self, team_action: TeamAction, step: int, state: int) -> None:
        """Remember the arms of a step."""
        for agent, histogram in self.histograms.items():
            past = self.past.setdefault((agent, step, state), deque(maxlen=self.window))
            if len(past) == self.window:
                histogram[step, state, past[0]] -= 1
            past.append(team_action[agent])
            histogram[step, state, team_action[agent]] += 1

    def chances(self, agent: int, step: int) -> Tensor:
        """rho_h(s, .) of one agent for all states: S x arms."""
        counts = self.histograms[agent][step]
        seen = counts.sum(axis=1, keepdims=True)
        return np.where(seen > 0, counts / np.maximum(seen, 1), 1.0 / self.arms[agent])


class StateBanks:
    """A Bayesian mixture of decayed histograms of each higher-ranked agent at every step and state."""

    def __init__(self, briefing: MarkovBriefing) -> None:
        self.arms = {agent: briefing.arms[agent] for agent in briefing.higher}
        shape = briefing.steps, briefing.states, len(DECAYS)
        self.weights = {agent: np.full(shape, 1.0 / len(DECAYS)) for agent in self.arms}
        self.bins = {agent: np.full((*shape, size), PRIOR) for agent, size in self.arms.items()}

    def predict(self, step: int, state: int, rng: np.random.Generator) -> dict[int, int]:
        """Return a foreseen arm for each higher-ranked agent, one draw each."""
        foreseen = {}
        for agent, size in self.arms.items():
            left = rng.random()
            chances = self.chances(agent, step)[state].tolist()
            arm = 0
            while arm < size - 1 and left >= chances[arm]:
                left -= chances[arm]
                arm += 1
            foreseen[agent] = arm
        return foreseen

    def record(self, team_action: TeamAction, step: int, state: int) -> None:
        """Weigh the histograms by what they foresaw, then let each take the arm in."""
        for agent, size in self.arms.items():
            weights, bins = self.weights[agent][step, state], self.bins[agent][step, state]
            arm = team_action[agent]
            total = 0.0
            for k in range(len(DECAYS)):
                weights[k] *= bins[k, arm] / _sum(bins[k])
                total += weights[k]
            for k, decay in enumerate(DECAYS):
                weights[k] = (1.0 - SHARE) * (weights[k] / total) + SHARE / len(DECAYS)
                for other in range(size):
                    bins[k, other] = PRIOR + decay * (bins[k, other] - PRIOR)
                bins[k, arm] += 1.0

    def chances(self, agent: int, step: int) -> Tensor:
        """rho_h(s, .) of one agent for all states: S x arms."""
        weights, bins = self.weights[agent][step], self.bins[agent][step]
        mixture = np.zeros((len(bins), self.arms[agent]))
        for k in range(len(DECAYS)):
            totals = np.zeros(len(bins))
            for arm in range(self.arms[agent]):
                totals = totals + bins[:, k, arm]
            mixture = mixture + (weights[:, k] / totals)[:, np.newaxis] * bins[:, k]
        return mixture


def _sum(values: Any) -> float:
    total = 0.0
    for value in values.tolist():
        total += value
    return total
