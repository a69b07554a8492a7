"""Many runs side by side, a round at a time, with one seat played from outside: what a learner trains on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import config
from numpy.typing import NDArray

from cobandit.agents.base import Agent
from cobandit.base.streams import FIRST_OBSERVATION
from cobandit.engine.choice import NotCompiled
from cobandit.engine.fast.arrays import Floats, Ints, Words
from cobandit.engine.fast.caching import compiled_loop, make_ready
from cobandit.engine.fast.dispatch import begin_all, choose_all, learn_all, squads_of
from cobandit.engine.fast.models import (
    drift_kinds,
    require_known_problem,
    reward_kind,
    role_kind,
    sight_kind,
)
from cobandit.engine.fast.players import Seat, Squads, Stage, briefings_of, compiled_player, make_squads, make_stage
from cobandit.engine.fast.protocols import Sizes
from cobandit.engine.fast.rows import Tag, kind_at, memory_of
from cobandit.engine.fast.seeds import run_states, streams_of
from cobandit.engine.fast.world import World, find_best, make_world, next_slot, remember_arms
from cobandit.problem import Problem


@compiled_loop
def play_copies(
    tags: tuple[Tag, ...],
    team: tuple[Tag, ...],
    sizes: Sizes,
    memory: Ints,
    fresh: Words,
    states: Words,
    seeds: Words,
    seat: int,
    t: int,
    moves: Ints,
    arms: Ints,
    seen: Floats,
    rewards: Floats,
    lost: Floats,
    drifts: int | None,
) -> None:
    """Begin a run of every copy (t = 0), or play its round t with ``moves`` in the open seat.

    ``memory`` has the rows of all copies, one after the other. ``drifts`` is as in `loop.play`. The results of the
    round are written to ``arms`` and ``seen`` (copies x agents), ``rewards`` and ``lost``, the task regret of the
    round.
    """
    rows = memory.shape[0] // states.shape[0]
    for copy in range(states.shape[0]):
        world = kind_at(tags[0], memory, copy * rows)
        nature = kind_at(tags[1], memory, copy * rows + 1)
        sight = kind_at(tags[2], memory, copy * rows + 2)
        roles = kind_at(tags[3], memory, copy * rows + 3)
        squads = squads_of(team, sizes, memory, copy * rows + len(tags))
        if t == 0:
            for k in range(seeds.shape[1]):
                world.streams[k] = seeds[copy, k]
            for k in range(fresh.shape[0]):
                states[copy, k] = fresh[k]
            nature.begin(world)
            roles.begin(world)
            find_best(world)
            world.slot[0] = -1
            begin_all(squads, sizes, world)
        else:
            if drifts is not None and t > 1:
                kind_at(tags[4], memory, copy * rows + 4).drift(world, t)
            slot = next_slot(world)
            world.arm[seat] = moves[copy]
            played = choose_all(squads, sizes, world, t) + moves[copy] * world.strides[seat]
            remember_arms(world, slot)
            world.plays[played] += 1
            reward = nature.draw(world, played)
            world.seen[seat] = sight.see(world, seat, reward)
            learn_all(squads, sizes, world, t, played, sight, reward)
            for j in range(world.agents):
                arms[copy, j] = world.arm[j]
                seen[copy, j] = world.seen[j]
            rewards[copy] = reward
            lost[copy] = world.means[world.best[0]] - world.means[played]


class CopiesRound(NamedTuple):
    """The results of a round: arms and observations (copies x agents; NaN: nothing), rewards, task regret."""

    arms: NDArray[np.int64]
    seen: NDArray[np.float64]
    rewards: NDArray[np.float64]
    lost: NDArray[np.float64]


class Copies:
    """Copies of one problem with agents in all seats but one; all of them are in the same round.

    ``agents`` has None in the open seat. Copy c plays run ``first_run + c`` of a seed: the very run of a simulation.
    """

    def __init__(self, problem: Problem, agents: Sequence[Agent | None], horizon: int, copies: int) -> None:
        if config.DISABLE_JIT:
            raise NotCompiled("the compiler is switched off (NUMBA_DISABLE_JIT)")
        require_known_problem(problem)
        models = reward_kind(problem), sight_kind(problem), role_kind(problem), *drift_kinds(problem)
        self._drifts = 0 if problem.means.changes else None
        self._seat = list(agents).index(None)
        first, drawn = FIRST_OBSERVATION + problem.agents, problem.draws_roles
        players = [
            compiled_player(agent, Seat(briefing, first + i, drawn))
            for i, (agent, briefing) in enumerate(zip(agents, briefings_of(problem, horizon), strict=True))
            if agent is not None
        ]
        squads = make_squads(players)
        window = max(int(getattr(player, "window", 1)) for player in players)
        ranks = tuple(range(problem.agents)) if drawn else problem.known_ranks()
        self._streams, self._drawn_from = streams_of(problem)
        world = make_world(problem.arms, ranks, window, horizon, self._streams, relabel=problem.relabel)
        self._round = CopiesRound(
            np.zeros((copies, problem.agents), dtype=np.int64),
            np.zeros((copies, problem.agents)),
            np.zeros(copies),
            np.zeros(copies),
        )
        self._lay_out(squads, world, models, copies)
        self.t = 0
        make_ready(play_copies, self._arguments(self._no_seeds, 0, self._round.arms[:, 0].copy()), "copies of a team")

    def _lay_out(self, squads: Squads, world: World, models: tuple[Any, ...], copies: int) -> None:
        first = make_stage(squads, world, *models)
        self._states = np.zeros((copies, len(first.fresh)), dtype=np.uint64)
        self._stages: list[Stage] = [make_stage(squads, world, *models, state=state) for state in self._states]
        self._memory = np.concatenate([memory_of(stage.tags + stage.team) for stage in self._stages])
        self._no_seeds = np.zeros((copies, 4 * self._streams), dtype=np.uint64)

    def _arguments(self, seeds: NDArray[np.uint64], t: int, moves: NDArray[np.int64]) -> tuple[Any, ...]:
        tags, team, sizes, _, fresh, _ = self._stages[0]
        return (
            tags,
            team,
            sizes,
            self._memory,
            fresh,
            self._states,
            seeds,
            self._seat,
            t,
            moves,
            *self._round,
            self._drifts,
        )

    def begin(self, seed: int, first_run: int) -> None:
        """Begin a run of every copy."""
        self.t = 0
        seeds = run_states(seed, first_run, len(self._states), self._streams, self._drawn_from)
        play_copies(*self._arguments(seeds, 0, self._round.arms[:, 0].copy()))

    def play(self, moves: NDArray[np.int64]) -> CopiesRound:
        """Play one round of every copy; the next round overwrites the returned arrays."""
        self.t += 1
        play_copies(*self._arguments(self._no_seeds, self.t, moves))
        return self._round
