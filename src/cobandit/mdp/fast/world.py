"""What every kind of player can read in compiled code: the world of one run with states. All arrays are flat.

A *place* is a step and a state, h S + s. The streams are those of the bandit, and one more for starts and moves.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cobandit.base.cells import strides_of
from cobandit.engine.fast.arrays import Cells, Floats, Ints, Words
from cobandit.engine.fast.models import write_block
from cobandit.engine.fast.random import inlined
from cobandit.mdp.model import MarkovProblem

STATE, STEP, NEXT, EPISODE, PLACE = range(5)
"""What ``here`` holds: the present state, step, the state behind it, the episode, and the present place."""


def _digest() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


class _Fields(NamedTuple):
    """The run under way; what has a name in `engine.fast.world.World` is the same here.

    ``visits[s A + a]`` is the public n(s, a). Of its next states seen so far there are ``link_counts[s A + a]``:
    ``links[(s A + a) S + k]``, in ascending order, each met ``moves[(s A + a) S + k]`` times. ``place_visits``
    counts the
    visits of every place, ``gaps[(h S + s) A + a]`` is V* - Q*, ``best`` the first best team action of every place.
    """

    streams: Words
    arms: Ints
    strides: Ints
    ranks: Ints
    order: Ints
    own: Cells
    block: Cells
    block_size: Ints
    arm: Ints
    seen: Floats
    here: Ints
    means: Floats
    spreads: Floats
    next_limits: Floats
    start_limits: Floats
    gaps: Floats
    best: Ints
    plays: Ints
    predictions: Ints
    visits: Ints
    link_counts: Ints
    links: Cells
    moves: Floats
    place_visits: Ints
    values: Floats
    agents: int
    cells: int
    states: int
    steps: int


class MarkovWorld(_Fields):
    """The fields, those that are reset with every run, and a digest of the files of the compiled loops."""

    starting = ("plays", "predictions", "visits", "link_counts", "place_visits")
    digest = _digest()


def make_markov_world(problem: MarkovProblem, streams: int) -> MarkovWorld:
    """Return a world for this problem, before any run."""
    arms = problem.arms
    agents, cells, states, steps = problem.agents, problem.cells, problem.states, problem.steps
    strides = np.array(strides_of(arms), dtype=np.int64)
    own = (np.arange(cells) // strides[:, np.newaxis]) % np.array(arms)[:, np.newaxis]
    pairs, places = states * cells, steps * states

    def numbers(count: int, kind: Any = np.int64) -> Any:
        return np.zeros(count, dtype=kind)

    return MarkovWorld(
        streams=numbers(4 * streams, np.uint64),
        arms=np.array(arms, dtype=np.int64),
        strides=strides,
        ranks=numbers(agents),
        order=numbers(agents),
        own=own.astype(np.int32).ravel(),
        block=numbers((agents + 1) * cells, np.int32),
        block_size=numbers(agents + 1),
        arm=numbers(agents),
        seen=numbers(agents, np.float64),
        here=numbers(5),
        means=numbers(pairs, np.float64),
        spreads=numbers(pairs, np.float64),
        next_limits=numbers(pairs * states, np.float64),
        start_limits=numbers(states, np.float64),
        gaps=numbers(places * cells, np.float64),
        best=numbers(places),
        plays=numbers(places * cells),
        predictions=np.full(agents * agents, -1, dtype=np.int64),
        visits=numbers(pairs),
        link_counts=numbers(pairs),
        links=numbers(pairs * states, np.int32),
        moves=numbers(pairs * states, np.float64),
        place_visits=numbers(places),
        values=numbers(cells, np.float64),
        agents=agents,
        cells=cells,
        states=states,
        steps=steps,
    )


@inlined
def set_ranks(world: MarkovWorld) -> None:
    """Compute the order and the blocks from the ranks."""
    for i in range(world.agents):
        world.order[world.ranks[i]] = i
    for i in range(world.agents):
        write_block(world, i, world.ranks[i])
    write_block(world, world.agents, 0)


@inlined
def first_above(limits: Any, start: int, states: int, u: float) -> Any:
    """Return the first state whose limit is above a draw; the last limit is 1."""
    low = 0
    high = states - 1
    while low < high:
        middle = (low + high) >> 1
        if u < limits[start + middle]:
            high = middle
        else:
            low = middle + 1
    return low


@inlined
def count_move(link_counts: Any, links: Any, moves: Any, pair: int, states: int, target: int) -> None:
    """Count one more move from a state by an action to the next state, which are kept in ascending order."""
    start = pair * states
    count = link_counts[pair]
    at = 0
    while at < count and links[start + at] < target:
        at += 1
    if at < count and links[start + at] == target:
        moves[start + at] += 1.0
        return
    for k in range(count, at, -1):
        links[start + k] = links[start + k - 1]
        moves[start + k] = moves[start + k - 1]
    links[start + at] = target
    moves[start + at] = 1.0
    link_counts[pair] = count + 1
