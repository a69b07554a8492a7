"""One Markov problem and one team, ready for the compiled loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.streams import FIRST_OBSERVATION, SETUP, generator, stream_count
from cobandit.engine.choice import NotCompiled
from cobandit.engine.fast.models import BernoulliRewards, GaussianRewards, sight_kind
from cobandit.engine.fast.players import Seat, Squads, Stage, compiled_player, make_squads, make_stage
from cobandit.engine.fast.seeds import run_states
from cobandit.mdp.fast.loop import NO_RECORD, StepRecord
from cobandit.mdp.fast.world import MarkovWorld, make_markov_world
from cobandit.mdp.match import briefing_for
from cobandit.mdp.model import Instance, MarkovProblem
from cobandit.mdp.team import Team
from cobandit.problem import Bernoulli, Gaussian


@dataclass(frozen=True)
class MarkovGame:
    """Everything the loop needs to know, apart from seed and runs; ``label`` names the team."""

    problem: MarkovProblem
    label: str
    horizon: int
    squads: Squads
    world: MarkovWorld
    models: tuple[Any, ...]

    @property
    def streams(self) -> int:
        """How many streams a run has: the bandit's, and one for starts and moves."""
        return stream_count(self.problem.agents) + 1

    @property
    def world_size(self) -> int:
        """How many numbers describe the drawn world of one run."""
        problem = self.problem
        pairs, places = problem.states * problem.cells, problem.steps * problem.states
        return pairs * (2 + problem.states) + problem.states + places * (problem.cells + 1) + problem.agents

    def stage(self, record: StepRecord = NO_RECORD) -> Stage:
        """Return the memory in which one thread plays, for any number of runs."""
        return make_stage(self.squads, self.world, *self.models, record)

    def arguments(
        self, stage: Stage, seed: int, runs: range, checkpoints: NDArray[np.int64], out: NDArray[np.float64]
    ) -> tuple[Any, ...]:
        """Return the arguments of `loop.play`, in its order; nature draws every run's world here, from its set-up
        stream.
        """
        drawn = np.zeros((len(runs), self.world_size))
        for row, run in zip(drawn, runs, strict=True):
            row[:] = packed_world(self.problem.instance(generator(seed, run, SETUP)))
        seeds = run_states(seed, runs.start, len(runs), self.streams)
        return (*stage, seeds, drawn, checkpoints, out)


def packed_world(instance: Instance) -> NDArray[np.float64]:
    """Return a run's world as one row of numbers: means, spreads, limits, start, gaps, best team actions, ranks."""
    world, values = instance.world, instance.values
    spreads = np.zeros(world.means.shape) if instance.spreads is None else instance.spreads
    parts = (
        world.means,
        spreads,
        world.next_limits,
        world.start_limits,
        values.gaps,
        values.q.argmax(axis=2),
        instance.ranks,
    )
    return np.concatenate([np.ravel(part).astype(np.float64) for part in parts])


def make_game(problem: MarkovProblem, team: Team, horizon: int) -> MarkovGame:
    """Return the game of a problem and a team, or `NotCompiled`."""
    if type(problem) is not MarkovProblem:
        raise NotCompiled(f"the problem is a {type(problem).__name__}, which has no compiled form")
    flat: tuple[Any, ...] = np.zeros(1), 1, 0.0, 0.0
    rewards: Any
    if type(problem.reward) is Bernoulli:
        rewards = BernoulliRewards(*flat)
    elif type(problem.reward) is Gaussian:
        rewards = GaussianRewards(*flat, *flat)
    else:
        raise NotCompiled(f"the reward is {type(problem.reward).__name__}, which has no compiled form")
    models = rewards, sight_kind(problem.seats)
    drawn = problem.draws_roles
    ranks = tuple(range(problem.agents)) if drawn else problem.known_ranks()
    first = FIRST_OBSERVATION + problem.agents
    players = []
    for i, player in enumerate(team.players(problem.agents)):
        briefing = briefing_for(player, problem, i, ranks, horizon)
        players.append(compiled_player(player, Seat(briefing, first + i, drawn)))
    world = make_markov_world(problem, stream_count(problem.agents) + 1)
    return MarkovGame(problem, team.label, horizon, make_squads(players), world, models)
