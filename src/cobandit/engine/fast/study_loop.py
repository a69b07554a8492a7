"""The compiled round loop of studies: episodes in which one seat changes its player after the warm start."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobandit.base.streams import REWARDS, SETUP
from cobandit.engine.fast.arrays import Floats, Ints, Words
from cobandit.engine.fast.caching import compiled_loop
from cobandit.engine.fast.dispatch import begin_one, choose_one, learn_one, squads_of
from cobandit.engine.fast.protocols import Sizes
from cobandit.engine.fast.random import inlined, uniform
from cobandit.engine.fast.rows import Tag, kind_at
from cobandit.engine.fast.world import World, find_best, keep_moves, next_slot, remember_arms


class StudyRecord(NamedTuple):
    """Keeps every round of one participant, where that is ``wanted``; ``rounds`` is how many an episode has."""

    wanted: int
    actions: Ints
    rewards: Floats
    seen: Floats
    predictions: Ints
    rounds: int

    def keep_round(self, world: World, episode: int, k: int, reward: float) -> None:
        """Record one round of an episode."""
        if self.wanted == 0:
            return
        row = episode * self.rounds + k
        self.rewards[row] = reward
        keep_moves(self, world, row)


@inlined
def set_means(world: World, given_means: Floats, mean_range: Floats, number: int, turned: bool) -> None:
    """Set the means of an episode, given or drawn. A swap of all agents' arms turns the row-major order round."""
    setup, cells = np.int64(SETUP), world.cells
    for cell in range(cells):
        mean = mean_range[0]
        if given_means.shape[0] > 0:
            mean = given_means[number, cell]
        else:
            mean += (mean_range[1] - mean_range[0]) * uniform(world.streams, setup)
        world.means[cells - 1 - cell if turned else cell] = mean


@inlined
def draw_reward(world: World, played: int, turned: bool) -> float:
    """Return the reward of the cell that was played.

    Luck is drawn for every cell, so that it is the same for any choices: a participant meets the same luck under each
    condition, and conditions are compared within the participant.
    """
    luck, cells = np.int64(REWARDS), world.cells
    lucky = cells - 1 - played if turned else played
    reward = 0.0
    for cell in range(cells):
        draw = uniform(world.streams, luck)
        if cell == lucky and draw < world.means[played]:
            reward = 1.0
    return reward


@compiled_loop
def play_participants(
    tags: tuple[Tag, ...],
    team: tuple[Tag, ...],
    sizes: Sizes,
    memory: Ints,
    fresh: Words,
    state: Words,
    occupants: Ints,
    warm_occupants: Ints,
    sequences: Ints,
    swaps: int,
    warm_rounds: int,
    rounds: int,
    given_means: Floats,
    mean_range: Floats,
    seeds: Words,
    orders: Ints,
    people: Ints,
    checkpoints: Ints,
    regrets: Floats,
    good: Ints,
) -> None:
    """Play every participant through every episode that counts, into the rows of ``regrets`` and ``good``.

    ``occupants[condition, seat]`` is the number of the player in a seat, -1 for those of people, where
    ``people[p, seat]`` plays, and ``warm_occupants`` the same for the warm start. ``seeds[p, set, episode]`` are the
    states of an episode's streams. ``tags`` are those of the world, the sight and the record.
    """
    world = kind_at(tags[0], memory, 0)
    sight = kind_at(tags[1], memory, 1)
    record = kind_at(tags[2], memory, 2)
    squads = squads_of(team, sizes, memory, 3)
    for p in range(orders.shape[0]):
        for which in range(sequences.shape[1]):
            condition = sequences[orders[p], which]
            turned = swaps == 1 and which % 2 == 1
            for number in range(good.shape[2]):
                for k in range(seeds.shape[3]):
                    world.streams[k] = seeds[p, which, number, k]
                for k in range(fresh.shape[0]):
                    state[k] = fresh[k]
                set_means(world, given_means, mean_range, number, turned)
                find_best(world)
                best = world.best[0]
                world.slot[0] = -1
                for seat in range(world.agents):
                    player = occupants[condition, seat]
                    begin_one(squads, sizes, people[p, seat] if player < 0 else player, world)
                    if player < 0 and warm_rounds > 0:
                        begin_one(squads, sizes, warm_occupants[seat], world)

                regret, successes, point = 0.0, 0, 0
                for k in range(warm_rounds + rounds):
                    slot = next_slot(world)
                    warm = k < warm_rounds
                    played = 0
                    for seat in range(world.agents):
                        player, t = occupants[condition, seat], k + 1
                        if player < 0:
                            player, t = (warm_occupants[seat], t) if warm else (people[p, seat], t - warm_rounds)
                        world.arm[seat] = choose_one(squads, sizes, player, world, t)
                        played += world.arm[seat] * world.strides[seat]
                    remember_arms(world, slot)
                    reward = draw_reward(world, played, turned)
                    for seat in range(world.agents):
                        world.seen[seat] = sight.see(world, seat, reward)
                    for seat in range(world.agents):
                        player, t = occupants[condition, seat], k + 1
                        if player < 0:
                            player, t = (warm_occupants[seat], t) if warm else (people[p, seat], t - warm_rounds)
                        learn_one(squads, sizes, player, world, t, played, world.seen[seat])
                    record.keep_round(world, condition * good.shape[2] + number, k, reward)
                    if not warm:
                        regret += world.means[best] - world.means[played]
                        successes += int(reward)
                        if k + 1 - warm_rounds == checkpoints[point]:
                            regrets[p, condition, number, point] = regret
                            point = point + 1 if point + 1 < checkpoints.shape[0] else point
                good[p, condition, number] = successes


NO_RECORD = StudyRecord(0, np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64), 0)
"""Keeps outcomes alone."""
