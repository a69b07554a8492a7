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
            if self.environment.begin_round():
                self._tell_oracles()
            action = self._choices(t)
            outcome = self.environment.step(action)
            if self.controller is not None:
                self.controller.observe(action, outcome.seen)
            for agent, seen in zip(self.agents, outcome.seen, strict=False):
                agent.observe(action, seen)
            yield action, outcome

    def _tell_oracles(self) -> None:
        """Whoever is told the means is told the new ones."""
        for player in (self.controller, *self.agents):
            if player is not None and player.oracle:
                player.briefing = dataclasses.replace(player.briefing, means=self.environment.means.copy())

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
    team_regrets: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Task regret of each run at each checkpoint.

    ``team_regrets``, of the same shape, is filled with the team regret as it adds up round by round: for sight that
    may change, where no one factor makes it of the task regret.
    """
    regrets = np.zeros((len(runs), len(checkpoints)))
    for row, run in enumerate(runs):
        match = Match(problem, team, horizon, seed, run)
        gaps = match.environment.instance.gaps
        counts = np.zeros(problem.arms, dtype=np.int64)
        at = 0
        task_lost = team_lost = 0.0
        for t, (action, outcome) in enumerate(match.rounds(), start=1):
            counts[action] += 1
            task_lost += outcome.round_regret
            if team_regrets is not None:
                team_lost += problem.team_factor_at(t) * outcome.round_regret
            if t == checkpoints[at]:
                # Counts times gaps is what the compiled kernel adds up; it will do as long as the gaps stay.
                regrets[row, at] = task_lost if problem.means.changes else regret_of(counts, gaps)
                if team_regrets is not None:
                    team_regrets[row, at] = team_lost
                at = min(at + 1, len(checkpoints) - 1)
        done(1)
    return regrets


def run_trajectory(problem: Problem, team: Team, horizon: int, seed: int, run: int) -> Trajectory:
    """One run with everything that happened in it."""
    match = Match(problem, team, horizon, seed, run)
    instance = match.environment.instance
    kept = Trajectory.empty(run, instance.means, instance.ranks, horizon, changing=problem.means.changes)
    for t, (action, outcome) in enumerate(match.rounds()):
        kept.actions[t] = action
        kept.rewards[t] = outcome.reward
        kept.seen[t] = [np.nan if seen is None else seen for seen in outcome.seen]
        if kept.round_regret is not None:
            kept.round_regret[t] = outcome.round_regret
        for i, agent in enumerate(match.agents):
            for j, arm in agent.predictions.items():
                kept.predictions[t, i, j] = arm
    return kept
