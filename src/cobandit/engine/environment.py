"""The world of one run: it takes a team action and answers with the reward and what each agent saw of it."""

from __future__ import annotations

from dataclasses import dataclass

from cobandit.agents.base import TeamAction
from cobandit.engine.streams import Streams
from cobandit.problem import Problem


@dataclass(frozen=True)
class Outcome:
    """One round's answer: r*_t(a_t), and what each agent saw (None: it knows it saw nothing)."""

    reward: float
    seen: tuple[float | None, ...]


class Environment:
    """Nature for one run of a problem."""

    def __init__(self, problem: Problem, streams: Streams) -> None:
        self.problem = problem
        self.instance = problem.instance(streams.setup)
        self._streams = streams

    def step(self, team_action: TeamAction) -> Outcome:
        """Play one round: one draw of the reward stream and one of each observation stream, always."""
        spreads = self.instance.spreads
        reward = self.problem.reward.draw(
            float(self.instance.means[team_action]),
            0.0 if spreads is None else float(spreads[team_action]),
            self._streams.rewards,
        )
        observation = self.problem.observation
        seen = tuple(observation.see(i, reward, rng) for i, rng in enumerate(self._streams.observations))
        return Outcome(reward, seen)
