"""The compiled loop over episodes and steps: any kinds of players, any mix of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from cobandit.engine.fast.arrays import Floats, Ints, Words
from cobandit.engine.fast.caching import compiled_loop
from cobandit.engine.fast.dispatch import begin_all, call_own_method, choose_all, learn_all, overload, squads_of
from cobandit.engine.fast.pipeline import PART_OPTIONS
from cobandit.engine.fast.protocols import Code, Sight, Sizes, Squads
from cobandit.engine.fast.random import inlined, uniform
from cobandit.engine.fast.rows import Tag, kind_at, player
from cobandit.engine.fast.world import keep_moves
from cobandit.mdp.fast.world import EPISODE, NEXT, PLACE, STATE, STEP, MarkovWorld, count_move, first_above, set_ranks


class StepRecord(NamedTuple):
    """Keeps every step of one run, as `MarkovTrajectory` does, where that is ``wanted``."""

    wanted: int
    actions: Ints
    rewards: Floats
    seen: Floats
    predictions: Ints
    states: Ints
    regrets: Floats

    def keep(self, world: MarkovWorld, t: int, played: int, reward: float) -> None:
        """Record one step."""
        if self.wanted == 0:
            return
        self.rewards[t - 1] = reward
        self.states[t - 1] = world.here[STATE]
        self.regrets[t - 1] = world.gaps[world.here[PLACE] * world.cells + played]
        keep_moves(self, world, t - 1)


_NONE = np.zeros(1, dtype=np.int64)
NO_RECORD = StepRecord(0, _NONE, np.zeros(1), np.zeros(1), _NONE, _NONE, np.zeros(1))
"""Keeps regret alone."""


# Not `plan`: a method of every kind hides a field of that name, and the bank has one.
call_own_method("plan_episode", "world t", PART_OPTIONS)


def plan_all(squads: Squads, sizes: Sizes, world: MarkovWorld, t: int) -> None:
    """Let all agents plan the episode that begins with round t."""
    for squad, size in zip(squads, sizes, strict=True):
        for k in range(size):
            player(squad, k).plan_episode(world, t)


@overload(plan_all, jit_options=PART_OPTIONS, strict=False)
def _plan_all(squads: types.Type, sizes: types.Type, world: types.Type, t: types.Type) -> Code:
    def last(squads: Squads, sizes: Sizes, world: MarkovWorld, t: int) -> None:
        for k in range(sizes[0]):
            player(squads[0], k).plan_episode(world, t)

    def more(squads: Squads, sizes: Sizes, world: MarkovWorld, t: int) -> None:
        for k in range(sizes[0]):
            player(squads[0], k).plan_episode(world, t)
        plan_all(squads[1:], sizes[1:], world, t)

    return last if len(squads) == 1 else more


@inlined
def load_world(world: MarkovWorld, drawn: Floats, run: int) -> None:
    """Load the world that nature drew for a run, in the order of `game.packed_world`."""
    at = 0
    pairs, places = world.states * world.cells, world.steps * world.states
    for k in range(pairs):
        world.means[k] = drawn[run, k]
        world.spreads[k] = drawn[run, pairs + k]
    at = 2 * pairs
    for k in range(pairs * world.states):
        world.next_limits[k] = drawn[run, at + k]
    at += pairs * world.states
    for k in range(world.states):
        world.start_limits[k] = drawn[run, at + k]
    at += world.states
    for k in range(places * world.cells):
        world.gaps[k] = drawn[run, at + k]
    at += places * world.cells
    for k in range(places):
        world.best[k] = np.int64(drawn[run, at + k])
    at += places
    for k in range(world.agents):
        world.ranks[k] = np.int64(drawn[run, at + k])
    set_ranks(world)


@inlined
def make_step(
    squads: Squads, sizes: Sizes, world: MarkovWorld, t: int, rewards: Any, sight: Sight, record: StepRecord
) -> None:
    """Play one step of all agents; the world is then in the next state."""
    state, place = world.here[STATE], world.here[PLACE]
    played = choose_all(squads, sizes, world, t)
    pair = state * world.cells + played
    world.plays[place * world.cells + played] += 1
    reward = rewards.draw(world, pair)
    u = uniform(world.streams, 2 + 2 * world.agents)
    world.here[NEXT] = first_above(world.next_limits, pair * world.states, world.states, u)
    learn_all(squads, sizes, world, t, played, sight, reward)
    record.keep(world, t, played, reward)
    world.visits[pair] += 1
    count_move(world.link_counts, world.links, world.moves, pair, world.states, world.here[NEXT])
    world.place_visits[place] += 1


@compiled_loop
def play(
    tags: tuple[Tag, ...],
    team: tuple[Tag, ...],
    sizes: Sizes,
    memory: Ints,
    fresh: Words,
    state: Words,
    seeds: Words,
    drawn: Floats,
    checkpoints: Ints,
    out: Floats,
) -> None:
    """Play one run for each row of ``seeds`` and ``drawn`` into the rows of ``out``: task regret at each checkpoint."""
    world = kind_at(tags[0], memory, 0)
    rewards = kind_at(tags[1], memory, 1)
    sight = kind_at(tags[2], memory, 2)
    record = kind_at(tags[3], memory, 3)
    squads = squads_of(team, sizes, memory, 4)
    horizon = checkpoints[checkpoints.shape[0] - 1]
    for run in range(out.shape[0]):
        for k in range(seeds.shape[1]):
            world.streams[k] = seeds[run, k]
        for k in range(fresh.shape[0]):
            state[k] = fresh[k]
        load_world(world, drawn, run)
        begin_all(squads, sizes, world)
        t, point, episode = 0, 0, 0
        while t < horizon:
            world.here[EPISODE] = episode
            u = uniform(world.streams, 2 + 2 * world.agents)
            world.here[STATE] = first_above(world.start_limits, 0, world.states, u)
            plan_all(squads, sizes, world, t + 1)
            for step in range(world.steps):
                t += 1
                world.here[STEP] = step
                world.here[PLACE] = step * world.states + world.here[STATE]
                make_step(squads, sizes, world, t, rewards, sight, record)
                world.here[STATE] = world.here[NEXT]
                if t == checkpoints[point]:
                    # Sum of n (V* - Q*) in row-major order, as `match.run_regrets` adds it.
                    lost = 0.0
                    for k in range(world.steps * world.states * world.cells):
                        lost += world.plays[k] * world.gaps[k]
                    out[run, point] = lost
                    point = point + 1 if point + 1 < checkpoints.shape[0] else point
                if t == horizon:
                    break
            episode += 1
