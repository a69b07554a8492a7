"""The reference engine: the plain round loop, for any agent."""

from __future__ import annotations

import dataclasses
import numbers
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Agent, Briefing, Controller, TeamAction
from cobandit.agents.team import Team
from cobandit.checks import shown
from cobandit.engine.environment import Environment, Outcome
from cobandit.engine.streams import Streams
from cobandit.engine.trajectory import Trajectory
from cobandit.errors import AgentError
from cobandit.problem import Problem


class Match:
    """One run under way: an environment and the players reset for it."""

    def __init__(self, problem: Problem, team: Team, horizon: int, seed: int, run: int) -> None:
        streams = Streams.of(seed, run, problem.agents)
        self.environment = Environment(problem, streams)
        self.horizon = horizon
        instance = self.environment.instance
        briefing = Briefing(
            0, problem.arms, instance.ranks, horizon, binary=problem.binary, observation=problem.observation.name
        )

        def told(player: Agent | Controller, agent: int) -> Briefing:
            return dataclasses.replace(
                briefing,
                agent=agent,
                means=instance.means.copy() if player.oracle else None,
                best_observer=problem.best_observer if isinstance(player, Controller) else -1,
            )

        self.agents = team.agents(problem.agents)
        for i, agent in enumerate(self.agents):
            agent.reset(told(agent, i), streams.choices[i])
        self.controller = None if team.controller is None else team.controller.clone()
        if self.controller is not None:
            self.controller.reset(told(self.controller, 0), streams.choices[0])

    def rounds(self) -> Iterator[tuple[TeamAction, Outcome]]:
        """Play all rounds, one at a time."""
        for t in range(1, self.horizon + 1):
            action = self._choices(t)
            outcome = self.environment.step(action)
            if self.controller is not None:
                self.controller.observe(action, outcome.seen)
                self.controller.round += 1
            for agent, seen in zip(self.agents, outcome.seen, strict=False):
                agent.observe(action, seen)
                agent.round += 1
            yield action, outcome

    def _choices(self, t: int) -> TeamAction:
        arms = self.environment.problem.arms
        if self.controller is not None:
            chosen = self.controller.choose()
            if not isinstance(chosen, tuple) or len(chosen) != len(arms):
                raise AgentError(
                    f"{self.controller} chose {shown(chosen)} in round {t}; "
                    f"a tuple of {len(arms)} arms, one for each agent, is needed."
                )
            names = [str(self.controller)] * len(arms)
        else:
            chosen = tuple(agent.choose() for agent in self.agents)
            names = [str(agent) for agent in self.agents] if not _legal(chosen, arms) else []
        if not _legal(chosen, arms):
            i = next(i for i, arm in enumerate(chosen) if not _legal((arm,), (arms[i],)))
            raise AgentError(
                f"{names[i]} at place {i} chose {shown(chosen[i])} in round {t}; "
                f"its arms are the whole numbers from 0 to {arms[i] - 1}."
            )
        return tuple(int(arm) for arm in chosen)


def _legal(chosen: TeamAction, arms: tuple[int, ...]) -> bool:
    return all(
        isinstance(arm, numbers.Integral) and not isinstance(arm, bool) and 0 <= arm < size
        for arm, size in zip(chosen, arms, strict=True)
    )


def regret_of(counts: NDArray[np.int64], gaps: NDArray[np.float64]) -> float:
    """Sum of n_a Delta_a in row-major order, term by term, as the compiled kernel adds them."""
    total = 0.0
    for n, gap in zip(counts.ravel().tolist(), gaps.ravel().tolist(), strict=True):
        total += n * gap
    return total


def run_regrets(
    problem: Problem,
    team: Team,
    horizon: int,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    done: Callable[[int], None],
) -> NDArray[np.float64]:
    """Task regret of each run at each checkpoint."""
    regrets = np.zeros((len(runs), len(checkpoints)))
    for row, run in enumerate(runs):
        match = Match(problem, team, horizon, seed, run)
        gaps = match.environment.instance.gaps
        counts = np.zeros(problem.arms, dtype=np.int64)
        at = 0
        for t, (action, _) in enumerate(match.rounds(), start=1):
            counts[action] += 1
            if t == checkpoints[at]:
                regrets[row, at] = regret_of(counts, gaps)
                at = min(at + 1, len(checkpoints) - 1)
        done(1)
    return regrets


def run_trajectory(problem: Problem, team: Team, horizon: int, seed: int, run: int) -> Trajectory:
    """One run with everything that happened in it."""
    match = Match(problem, team, horizon, seed, run)
    instance = match.environment.instance
    kept = Trajectory.empty(run, instance.means, instance.ranks, horizon)
    for t, (action, outcome) in enumerate(match.rounds()):
        kept.actions[t] = action
        kept.rewards[t] = outcome.reward
        kept.seen[t] = [np.nan if seen is None else seen for seen in outcome.seen]
        for i, agent in enumerate(match.agents):
            for j, arm in agent.predictions.items():
                kept.predictions[t, i, j] = arm
    return kept
