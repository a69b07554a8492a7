"""What every kind of player can read in compiled code: the world of one run. All arrays are flat.

The streams of a run are numbered as in `base.streams`: set-up, rewards, each agent's observation, each agent's own
choices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cobandit.agents.beliefs import COMPANION_FLOOR
from cobandit.base.cells import strides_of
from cobandit.engine.fast.arrays import Cells, Floats, Ints, Words
from cobandit.engine.fast.random import inlined

LONGEST_TABLE = 1 << 20
"""Up to this many plays of a cell, 1 / sqrt(n) is looked up; larger counts are rare and computed."""


class World(NamedTuple):
    """The current run.

    ``arm[i]`` is agent i's latest arm, ``aim[i]`` the cell of which it is a part (`aim_at`; -1: of none) and
    ``seen[i]`` its observation; ``own[i * cells + cell]`` agent i's arm in a cell; ``ring[i * ring_size + k]`` its past
    arms, those of the current round in ``slot[0]``. ``order`` lists the agents by rank. ``block[i * cells + k]`` for k
    < ``block_size[i]`` are the cells in which all agents that rank above agent i play arm 0; row ``agents`` of it has
    all cells. ``best[0]`` is a_*. ``plays`` counts the plays of every cell. ``predictions[i * agents + j]`` is the arm
    that agent i predicts for agent j, -1 for none. ``values`` is a scratch array, ``phase[0]`` counts the changes of
    means that change abruptly. In a `LateWorld` the ring has the rounds on which the players have feedback. In a
    `RelabelledWorld` cells use the agents' labels: ``place`` has the agents' cell of each of the problem's cells,
    ``origin`` the inverse, ``label`` is a scratch array.
    """

    streams: Words
    arms: Ints
    strides: Ints
    ranks: Ints
    order: Ints
    own: Cells
    block: Cells
    block_size: Ints
    ring: Ints
    slot: Ints
    arm: Ints
    aim: Ints
    seen: Floats
    means: Floats
    spreads: Floats
    best: Ints
    plays: Ints
    predictions: Ints
    values: Floats
    phase: Ints
    roots: Floats
    agents: int
    cells: int
    ring_size: int
    table_size: int
    late: Ints
    place: Ints
    origin: Ints
    label: Ints


class LateWorld(World):
    """A world with a feedback delay of ``late[0]`` rounds; a separate type, so that others do not pay for it."""

    __slots__ = ()  # the class of both kinds of worlds needs it


class RelabelledWorld(World):
    """A world with each agent's arms in a random order, drawn for each run; also a separate type."""

    __slots__ = ()


class LateRelabelledWorld(LateWorld, RelabelledWorld):  # type: ignore[misc]  # both are the same tuple
    """Both."""


STATE = ("plays", "predictions", "aim", "phase")
"""The fields that are reset with every run."""

SHARED = ("arms", "strides", "own", "roots")
"""The constant fields, of which all threads may use one copy."""


def make_world(
    arms: Sequence[int],
    ranks: Sequence[int],
    ring_size: int,
    most_plays: int,
    streams: int,
    delay: int = 0,
    relabel: bool = False,
) -> World:
    """Return a world for these agents, before any run."""
    sizes = np.array(arms, dtype=np.int64)
    agents, cells = len(arms), math.prod(arms)
    strides = np.array(strides_of(arms), dtype=np.int64)
    own = (np.arange(cells) // strides[:, np.newaxis]) % sizes[:, np.newaxis]
    table = min(most_plays, LONGEST_TABLE) + 1
    kinds = {(False, False): World, (True, False): LateWorld, (False, True): RelabelledWorld}
    world = kinds.get((delay > 0, relabel), LateRelabelledWorld)(
        streams=np.zeros(4 * streams, dtype=np.uint64),
        arms=sizes,
        strides=strides,
        ranks=np.array(ranks, dtype=np.int64),
        order=np.argsort(ranks).astype(np.int64),
        own=own.astype(np.int32).ravel(),
        block=np.zeros((agents + 1) * cells, dtype=np.int32),
        block_size=np.zeros(agents + 1, dtype=np.int64),
        ring=np.zeros(agents * ring_size, dtype=np.int64),
        slot=np.zeros(1, dtype=np.int64),
        arm=np.zeros(agents, dtype=np.int64),
        aim=np.full(agents, -1, dtype=np.int64),
        seen=np.zeros(agents),
        means=np.zeros(cells),
        spreads=np.zeros(cells),
        best=np.zeros(1, dtype=np.int64),
        plays=np.zeros(cells, dtype=np.int64),
        predictions=np.full(agents * agents, -1, dtype=np.int64),
        values=np.zeros(cells),
        phase=np.zeros(1, dtype=np.int64),
        roots=1.0 / np.sqrt(np.maximum(np.arange(table), COMPANION_FLOOR)),
        agents=agents,
        cells=cells,
        ring_size=ring_size,
        table_size=table,
        late=np.array([delay], dtype=np.int64),
        place=np.zeros(cells if relabel else 1, dtype=np.int64),
        origin=np.zeros(cells if relabel else 1, dtype=np.int64),
        label=np.zeros(max(arms) if relabel else 1, dtype=np.int64),
    )
    for agent in range(agents + 1):
        higher = [j for j in range(agents) if agent < agents and ranks[j] < ranks[agent]]
        inside = np.flatnonzero((own[higher] == 0).all(axis=0)).astype(np.int32)
        world.block[agent * cells : agent * cells + len(inside)] = inside
        world.block_size[agent] = len(inside)
    return world


@inlined
def own_arm(world: World, agent: int, cell: int) -> Any:
    """Return an agent's arm in a cell."""
    return np.int64(world.own[agent * world.cells + cell])


@inlined
def aim_at(world: World, agent: int, cell: int) -> Any:
    """Return an agent's arm in a cell, which is noted as what it aims at (`Agent.aimed_at`)."""
    world.aim[agent] = cell
    return own_arm(world, agent, cell)


@inlined
def find_best(world: World) -> None:
    """Note a_* of the present means."""
    best = 0
    for cell in range(1, world.cells):
        if world.means[cell] > world.means[best]:
            best = cell
    world.best[0] = best


@inlined
def next_slot(world: World) -> int:
    """Return the place in the ring for the arms of the round that begins."""
    slot = world.slot[0] + 1
    slot = slot if slot < world.ring_size else 0
    world.slot[0] = slot
    return slot


@inlined
def remember_arms(world: World, slot: int) -> None:
    """Put the arms of the round under way into their place in the ring."""
    for j in range(world.agents):
        world.ring[j * world.ring_size + slot] = world.arm[j]


@inlined
def keep_moves(record: Any, world: Any, row: int) -> None:
    """Put arms, observations and predictions of the round under way into one row of a record."""
    agents = world.agents
    for j in range(agents):
        record.actions[row * agents + j] = world.arm[j]
        record.seen[row * agents + j] = world.seen[j]
    for k in range(agents * agents):
        record.predictions[row * agents * agents + k] = world.predictions[k]


@inlined
def root(world: World, n: int) -> Any:
    """1 / sqrt(n), with the companion code's stand-in at 0."""
    return world.roots[n] if n < world.table_size else 1.0 / math.sqrt(n)
