"""One run under way: the plain loop over episodes and steps, for any agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import TeamAction
from cobandit.agents.checks import checked_choice
from cobandit.base.streams import Streams, generator, transition_stream
from cobandit.engine.reference import regret_of
from cobandit.mdp.agents.base import MarkovBriefing, MarkovController
from cobandit.mdp.model import MarkovProblem
from cobandit.mdp.team import Team
from cobandit.mdp.trajectory import MarkovTrajectory
from cobandit.problem import accept
from cobandit.problem.means import Tensor


class Outcome(NamedTuple):
    """One step's answer: its state and step, the reward, what each agent saw of it, the next state, and the regret."""

    state: int
    step: int
    reward: float
    seen: tuple[float | None, ...]
    next_state: int
    round_regret: float


class Nature:
    """The world of one run: takes a team action, answers with rewards and the next state.

    It has the bandit's streams, and one more for starts and moves, from which every episode takes one draw and
    every step another, whatever the team does.
    """

    def __init__(self, problem: MarkovProblem, streams: Streams, moves: np.random.Generator) -> None:
        self.problem = problem
        self.instance = problem.instance(streams.setup)
        self.gaps = self.instance.values.gaps
        self.round = 1
        self.state = self.step = 0
        self._streams, self._moves = streams, moves

    def begin_episode(self) -> int:
        """Return the state in which the next episode starts."""
        self.state = _drawn(self.instance.world.start_limits, self._moves)
        self.step = 0
        return self.state

    def act(self, team_action: TeamAction) -> Outcome:
        """Make one step."""
        problem, instance, state, step = self.problem, self.instance, self.state, self.step
        cell = int(np.ravel_multi_index(team_action, problem.arms))
        spread = 0.0 if instance.spreads is None else float(instance.spreads[state, cell])
        reward = accept.drawn_number(
            problem.reward,
            "draw",
            self.round,
            problem.reward.draw(self.round, float(instance.world.means[state, cell]), spread, self._streams.rewards),
            problem.reward.binary,
        )
        seen = tuple(problem.seats.see(self.round, i, reward, rng) for i, rng in enumerate(self._streams.observations))
        next_state = _drawn(instance.world.next_limits[state, cell], self._moves)
        self.round += 1
        self.state, self.step = next_state, step + 1
        return Outcome(state, step, reward, seen, next_state, float(self.gaps[step, state, cell]))


def _drawn(limits: NDArray[np.float64], rng: np.random.Generator) -> int:
    return int(np.searchsorted(limits, rng.random(), side="right"))


class MarkovMatch:
    """Nature and the players reset for it: an agent in every seat, or one joint controller."""

    def __init__(self, problem: MarkovProblem, team: Team, horizon: int, seed: int, run: int) -> None:
        streams = Streams.of(seed, run, problem.agents)
        self.nature = Nature(problem, streams, generator(seed, run, transition_stream(problem.agents)))
        self.horizon = horizon
        self.players = team.players(problem.agents)
        self.joint = isinstance(self.players[0], MarkovController)
        for i, player in enumerate(self.players):
            instance = self.nature.instance
            optimal = instance.values.q.copy() if player.oracle else None
            player.reset(briefing_for(player, problem, i, instance.ranks, horizon, optimal), streams.choices[i])

    def steps(self) -> Iterator[tuple[TeamAction, Outcome]]:
        """Play all episodes, one step at a time."""
        problem = self.nature.problem
        for _ in range(self.horizon // problem.steps):
            state = self.nature.begin_episode()
            for player in self.players:
                player.plan()
            for step in range(problem.steps):
                chosen = [player.choose(state, step) for player in self.players]
                joint = chosen[0] if self.joint else tuple(chosen)
                action = checked_choice(joint, problem.arms, self.players, self.nature.round)
                outcome = self.nature.act(action)
                for i, player in enumerate(self.players):
                    seen: Any = outcome.seen if self.joint else outcome.seen[i]
                    player.observe(action, seen, state, step, outcome.next_state)
                state = outcome.next_state
                yield action, outcome


def briefing_for(
    player: object,
    problem: MarkovProblem,
    agent: int,
    ranks: tuple[int, ...],
    horizon: int,
    optimal: Tensor | None = None,
) -> MarkovBriefing:
    """Return what a player in the seat of an agent knows before the first episode; ``optimal`` is Q of the optimum."""
    return MarkovBriefing(
        agent,
        problem.arms,
        ranks,
        horizon,
        binary=problem.binary,
        observation=problem.observation.name,
        best_observer=problem.best_observer if isinstance(player, MarkovController) else -1,
        states=problem.states,
        steps=problem.steps,
        ceiling=problem.ceiling,
        optimal=optimal,
    )


def run_regrets(
    problem: MarkovProblem,
    team: Team,
    horizon: int,
    seed: int,
    runs: range,
    checkpoints: NDArray[np.int64],
    done: Callable[[int], None],
) -> NDArray[np.float64]:
    """Task regret of each run at each checkpoint, on the plain engine.

    It is the sum of n(h, s, a) (V*_h(s) - Q*_h(s, a)) in row-major order, as the compiled engine adds it up.
    """
    regrets = np.zeros((len(runs), len(checkpoints)))
    for row, run in enumerate(runs):
        match = MarkovMatch(problem, team, horizon, seed, run)
        counts = np.zeros(match.nature.gaps.shape, dtype=np.int64)
        point = 0
        for t, (action, outcome) in enumerate(match.steps(), start=1):
            counts[outcome.step, outcome.state, int(np.ravel_multi_index(action, problem.arms))] += 1
            if t == checkpoints[point]:
                regrets[row, point] = regret_of(counts, match.nature.gaps)
                point = min(point + 1, len(checkpoints) - 1)
        done(1)
    return regrets


def run_trajectory(problem: MarkovProblem, team: Team, horizon: int, seed: int, run: int) -> MarkovTrajectory:
    """Return one run with all its steps, on the plain engine."""
    match = MarkovMatch(problem, team, horizon, seed, run)
    trajectory = MarkovTrajectory.of_run(problem, run, match.nature.instance, horizon)
    for t, (action, outcome) in enumerate(match.steps()):
        foreseen = [] if match.joint else [player.predictions for player in match.players]
        trajectory.write_round(t, action, outcome.reward, outcome.seen, outcome.round_regret, foreseen)
        trajectory.states[t] = outcome.state
    return trajectory
