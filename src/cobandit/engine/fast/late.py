"""Feedback delay: the rounds that wait, and how they are handed out (`Problem.delay`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cobandit.engine.fast.arrays import Floats, Ints
from cobandit.engine.fast.random import inlined
from cobandit.engine.fast.world import World, own_arm

NOTHING = -1
"""Replaces a team action while there is no feedback yet."""


class Waiting(NamedTuple):
    """The latest ``delay`` rounds: the team action of each, and what every agent saw."""

    cells: Ints
    looks: Floats


def make_waiting(delay: int, agents: int) -> Waiting:
    """Return an empty ring of ``delay`` rounds."""
    return Waiting(np.zeros(delay, dtype=np.int64), np.zeros(delay * agents))


@inlined
def swap_with_known(waiting: Any, world: World, t: int, played: int) -> Any:
    """Store round t in the ring, and return the team action of the round whose feedback is due, or `NOTHING`.

    ``world.seen`` then has the observations of that round, and the ring its arms; those of the next one will be in
    ``world.slot[0]``.
    """
    row = (t - 1) % world.late[0]
    known = waiting.cells[row]
    waiting.cells[row] = played
    for j in range(world.agents):
        seen = waiting.looks[row * world.agents + j]
        waiting.looks[row * world.agents + j] = world.seen[j]
        world.seen[j] = seen
    if t <= world.late[0]:
        return NOTHING
    slot = world.slot[0]
    for j in range(world.agents):
        world.ring[j * world.ring_size + slot] = own_arm(world, j, known)
    world.slot[0] = slot + 1 if slot + 1 < world.ring_size else 0
    return known
