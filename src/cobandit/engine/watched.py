"""One run played again for display: its rounds, and each agent's rating of every team action before them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team
from cobandit.engine.match import Match
from cobandit.engine.trajectory import Trajectory
from cobandit.problem import Problem


@dataclass(frozen=True, eq=False)
class WatchedRun:
    """A run with what its players thought.

    ``ratings[t, k]`` is how player k rated every team action before round t (`Agent.ratings`; NaN: it rated none), an
    array of the shape of the arms; ``means[t]`` are the means of that round.
    """

    trajectory: Trajectory
    titles: tuple[str, ...]
    ratings: NDArray[np.float64]
    means: NDArray[np.float64]


def watch_run(problem: Problem, team: Team, horizon: int, seed: int, run: int) -> WatchedRun:
    """Return the run of a simulation, played by the reference engine."""
    match = Match(problem, team, horizon, seed, run)
    environment = match.environment
    players = [match.controller] if match.controller is not None else [partner.agent for partner in match.partners]
    instance = environment.instance
    trajectory = Trajectory.of_instance(run, instance, horizon, changing=problem.means.changes)
    ratings = np.full((horizon, len(players), *problem.arms), np.nan)
    means = np.empty((horizon, *problem.arms))
    rounds = match.rounds()
    for t in range(horizon):
        for k, player in enumerate(players):
            rated = player.ratings()
            if rated is not None:
                ratings[t, k] = rated
        action, outcome = next(rounds)
        means[t] = environment.means
        foreseen = [partner.predictions for partner in match.partners]
        trajectory.write_round(t, action, outcome.reward, outcome.seen, outcome.round_regret, foreseen)
    trajectory = dataclasses.replace(trajectory, ranks=match.ranks)
    return WatchedRun(trajectory, tuple(player.title for player in players), ratings, means)
