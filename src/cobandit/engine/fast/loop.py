"""The compiled round loop: any kinds of players, any mix of them, every model of the problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cobandit.engine.fast.arrays import Floats, Ints, Words
from cobandit.engine.fast.caching import compiled_loop
from cobandit.engine.fast.dispatch import begin_all, choose_all, keep_in, learn_all, squads_of
from cobandit.engine.fast.intrinsics import guessed
from cobandit.engine.fast.late import swap_with_known
from cobandit.engine.fast.protocols import Sizes
from cobandit.engine.fast.rows import Tag, kind_at
from cobandit.engine.fast.world import World, keep_moves


class Record(NamedTuple):
    """Keeps every round of one run, as `Trajectory` does, where that is ``wanted``."""

    wanted: int
    actions: Ints
    rewards: Floats
    seen: Floats
    predictions: Ints
    round_regret: Floats

    def keep(self, world: World, t: int, played: int, reward: float) -> None:
        """Record one round."""
        if self.wanted == 0:
            return
        self.rewards[t - 1] = reward
        self.round_regret[t - 1] = world.means[world.best[0]] - world.means[played]
        keep_moves(self, world, t - 1)


@compiled_loop
def play(
    tags: tuple[Tag, ...],
    team: tuple[Tag, ...],
    sizes: Sizes,
    memory: Ints,
    fresh: Words,
    state: Words,
    seeds: Words,
    horizon: int,
    checkpoints: Ints,
    out: Floats,
    drifts: int | None,
    delayed: int | None,
) -> None:
    """Play one run for each row of ``seeds`` into the rows of ``out``: task regret at each checkpoint.

    ``tags`` are those of the world, the rewards, the sight, the roles and the record (a `Record`, or a
    `diagnosis.Diagnosis`); in ``memory`` they are followed by the rows of the squads of the ``team``. ``drifts`` is
    None if the means are constant, else the tags continue with how they change; ``delayed`` is None without feedback
    delay, else the last two tags are `late.Waiting` and the delayed sight. If they are None, their code is not even
    compiled.
    """
    world = kind_at(tags[0], memory, 0)
    rewards = kind_at(tags[1], memory, 1)
    sight = kind_at(tags[2], memory, 2)
    roles = kind_at(tags[3], memory, 3)
    record = kind_at(tags[4], memory, 4)
    squads = squads_of(team, sizes, memory, len(tags))
    for run in range(out.shape[0]):
        for k in range(seeds.shape[1]):
            world.streams[k] = seeds[run, k]
        for k in range(fresh.shape[0]):
            state[k] = fresh[k]
        rewards.begin(world)
        roles.begin(world)
        best = 0
        for cell in range(1, world.cells):
            if world.means[cell] > world.means[best]:
                best = cell
        world.best[0] = best
        world.slot[0] = -1 if delayed is None else 0
        begin_all(squads, sizes, world)
        point = 0
        played = 0
        lost = 0.0
        for t in range(1, horizon + 1):
            if drifts is not None:
                if t > 1:
                    kind_at(tags[5], memory, 5).drift(world, t)
                best = world.best[0]
            if delayed is None:
                slot = world.slot[0] + 1
                slot = slot if slot < world.ring_size else 0
                world.slot[0] = slot
            played = guessed(choose_all(squads, sizes, world, t), played)
            if delayed is None:
                for j in range(world.agents):
                    world.ring[j * world.ring_size + slot] = world.arm[j]
            world.plays[played] += 1
            reward = rewards.draw(world, played)
            if delayed is None:
                learn_all(squads, sizes, world, t, played, sight, reward)
                keep_in(record, world, t, played, reward)
            else:
                for j in range(world.agents):
                    world.seen[j] = sight.see(world, j, reward)
                keep_in(record, world, t, played, reward)
                known = swap_with_known(kind_at(tags[-2], memory, len(tags) - 2), world, t, played)
                if known >= 0:
                    learn_all(squads, sizes, world, t, known, kind_at(tags[-1], memory, len(tags) - 1), reward)
            if drifts is not None:
                lost += world.means[best] - world.means[played]
            if t == checkpoints[point]:
                if drifts is None:
                    # Sum of n_a (mu_* - mu_a) in row-major order, as `reference.regret_of` adds it.
                    lost = 0.0
                    for cell in range(world.cells):
                        lost += world.plays[cell] * (world.means[best] - world.means[cell])
                out[run, point] = lost
                point = point + 1 if point + 1 < checkpoints.shape[0] else point


NO_RECORD = Record(0, np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1), np.zeros(1, dtype=np.int64), np.zeros(1))
"""Keeps regret alone."""
