"""One problem and one team, ready for the compiled loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.team import Team, require_visible_actions
from cobandit.engine.fast.late import make_waiting
from cobandit.engine.fast.loop import NO_RECORD
from cobandit.engine.fast.models import (
    drift_kinds,
    heard_kind,
    require_known_problem,
    reward_kind,
    role_kind,
    sight_kind,
)
from cobandit.engine.fast.players import Squads, Stage, compiled_team, make_squads, make_stage
from cobandit.engine.fast.seeds import run_states, streams_of
from cobandit.engine.fast.world import World, make_world
from cobandit.engine.match import require_patience
from cobandit.problem import Problem
from cobandit.problem.problem import ranks_of


@dataclass(frozen=True)
class Game:
    """Everything the loop needs to know, apart from seed and runs; ``label`` names the team."""

    problem: Problem
    label: str
    horizon: int
    players: list[Any]
    squads: Squads
    world: World
    models: tuple[Any, ...]

    def stage(self, record: Any = NO_RECORD) -> Stage:
        """Return the memory in which one thread plays, for any number of runs."""
        delay, agents = self.problem.delay, self.problem.agents
        late = (make_waiting(delay, agents), heard_kind(self.problem)) if delay else ()
        return make_stage(self.squads, self.world, *self.models, record, *drift_kinds(self.problem), *late)

    def arguments(
        self, stage: Stage, seed: int, runs: range, checkpoints: NDArray[np.int64], out: NDArray[np.float64]
    ) -> tuple[Any, ...]:
        """Return the arguments of `loop.play`, in its order."""
        seeds = run_states(seed, runs.start, len(runs), *streams_of(self.problem))
        drifts = 0 if self.problem.means.changes else None
        return (*stage, seeds, self.horizon, checkpoints, out, drifts, 0 if self.problem.delay else None)

    def drawn(self, stage: Stage) -> tuple[NDArray[np.float64], tuple[int, ...]]:
        """Return the means, those of its last round, and the ranks, drawn or elected, of the last run played on a
        stage.
        """
        world = stage.tags[0].value
        ranks = tuple(world.ranks.tolist())
        votes = getattr(stage.team[0].value, "order", None) if self.problem.roles == "elected" else None
        if votes is not None:
            ranks = ranks_of(votes[0].tolist())
        return world.means.reshape(self.problem.arms).copy(), ranks


def make_game(problem: Problem, team: Team, horizon: int) -> Game:
    """Return the game of a problem and a team, or `NotCompiled`."""
    require_known_problem(problem)
    models = reward_kind(problem), sight_kind(problem), role_kind(problem)
    members = team.playing(problem).players(problem.agents)
    require_patience(problem, members)
    require_visible_actions(problem, members)
    players = compiled_team(problem, members, horizon)
    windows = [int(getattr(player, "window", 1)) for player in players]
    ranks = tuple(range(problem.agents)) if problem.draws_roles else problem.known_ranks()
    streams, _ = streams_of(problem)
    world = make_world(problem.arms, ranks, max(windows), horizon, streams, problem.delay, problem.relabel)
    return Game(problem, team.label, horizon, players, make_squads(players), world, models)
