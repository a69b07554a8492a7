"""When a leader takes its partner's choice for a refusal (Theorem B of docs/discussion/theorem-1-proofs.md)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Briefing, TeamAction
from cobandit.base.checks import real
from cobandit.base.errors import InvalidInput

LEAST_EXPLORATION = 0.5
"""Theorem B needs c above this; the threshold grows without limit as c approaches it."""


def heeding_threshold(exploration: float) -> float:
    """Return theta = ((sqrt(2c) + 1) / (sqrt(2c) - 1))^2 for the follower's exploration constant c > 1/2.

    A follower that plays a team action A times rather than another one that was played n times, with A > theta n, has
    shown that the other one is worse (with the probability of Theorem B's good event).
    """
    c = real(0.0)("exploration", exploration)
    if c <= LEAST_EXPLORATION:
        raise InvalidInput(f"exploration must be above 0.5 for a heeding leader (Theorem B), got {c:g}.")
    root = math.sqrt(2.0 * c)
    return ((root + 1.0) / (root - 1.0)) ** 2


def follower_threshold(agent: Any) -> float:
    """Return theta for the team of an agent with ``exploration`` and ``follower_exploration``; refuse c below 1/2."""
    follower = agent.exploration if agent.follower_exploration is None else agent.follower_exploration
    name = "exploration" if agent.follower_exploration is None else "follower_exploration"
    if follower <= LEAST_EXPLORATION:
        raise InvalidInput(f"{name} must be above 0.5 for a heeding leader (Theorem B), got {follower:g}.")
    if agent.exploration < LEAST_EXPLORATION:
        raise InvalidInput(
            f"exploration must be at least 0.5 for a heeding leader (Theorem B), got {agent.exploration:g}."
        )
    return heeding_threshold(follower)


class Refusals:
    """What partners answered to each arm of the leader: the latest team action, and its plays before that answer.

    An answer counts if every row that partners may have foreseen was the same: the own arm of this round and of the W
    rounds before. State is plain arrays, so that it can be stored.
    """

    def __init__(self, agent: int, window: int, arms: tuple[int, ...]) -> None:
        self.agent, self.window = agent, window
        self.plays = np.zeros(arms, dtype=np.int64)
        self.answers: list[TeamAction | None] = [None] * arms[agent]
        self.answer_plays = [0] * arms[agent]
        self.last, self.streak = -1, 0

    @classmethod
    def empty(cls, briefing: Briefing, window: int) -> Refusals:
        """Return the memory of a leader that has seen no answers."""
        return cls(briefing.agent, window, briefing.arms)

    def declined(self, threshold: float) -> NDArray[np.bool_]:
        """Return which team actions the leader passes over: theta n_a < A of another answer in the same row."""
        mask = np.zeros(self.plays.shape, dtype=np.bool_)
        rows = np.moveaxis(mask, self.agent, 0)
        plays = np.moveaxis(self.plays, self.agent, 0)
        for row, answer in enumerate(self.answers):
            if answer is not None:
                rows[row] = threshold * plays[row] < self.answer_plays[row]
                mask[answer] = False
        return mask

    def record(self, team_action: TeamAction) -> None:
        """Note a round."""
        row = team_action[self.agent]
        self.streak = self.streak + 1 if row == self.last else 0
        self.last = row
        if self.streak >= self.window:
            self.answers[row] = team_action
            self.answer_plays[row] = int(self.plays[team_action])
        self.plays[team_action] += 1
