"""Arm labels in compiled code (`problem.labels`): drawn at the start of a run, and free where there are none.

Nature goes through the problem's own cells and puts each mean where the agents meet it (`place_of`), so the loops know
the agents' labels only. Each function is resolved by the type of the world while compiling.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from cobandit.base.streams import label_stream
from cobandit.engine.fast.dispatch import overload
from cobandit.engine.fast.pipeline import PART_OPTIONS
from cobandit.engine.fast.protocols import Code
from cobandit.engine.fast.random import inlined, uniform
from cobandit.engine.fast.seeds import draw_uniforms, seed_words, stream_states
from cobandit.engine.fast.world import RelabelledWorld, World, own_arm
from cobandit.problem import Problem

_INLINED = PART_OPTIONS | {"forceinline": True}


@inlined
def draw_places(world: World) -> None:
    """Draw the labels of a run (`draw_labels`), and where each of the problem's cells lies among the agents'."""
    stream = np.int64(3 + 2 * world.agents)  # label_stream
    for cell in range(world.cells):
        world.origin[cell] = 0
    for i in range(world.agents):
        size = world.arms[i]
        for arm in range(size):
            world.label[arm] = arm
        for last in range(size - 1, 0, -1):
            pick = np.int64(uniform(world.streams, stream) * (last + 1))
            arm = world.label[last]
            world.label[last] = world.label[pick]
            world.label[pick] = arm
        for cell in range(world.cells):
            world.origin[cell] += world.label[own_arm(world, i, cell)] * world.strides[i]
    for cell in range(world.cells):
        world.place[world.origin[cell]] = cell


def begin_labels(world: World) -> None:
    """Draw the labels of a run, if its problem is relabelled."""
    if isinstance(world, RelabelledWorld):
        draw_places(world)


def place_of(world: World, cell: int) -> int:
    """Return the agents' cell behind which one of the problem's cells lies."""
    return int(world.place[cell]) if isinstance(world, RelabelledWorld) else cell


def origin_of(world: World, cell: int) -> int:
    """Return the problem's cell that lies behind one of the agents' cells."""
    return int(world.origin[cell]) if isinstance(world, RelabelledWorld) else cell


def _is_relabelled(world: types.Type) -> bool:
    return issubclass(world.instance_class, RelabelledWorld)


@overload(begin_labels, jit_options=PART_OPTIONS, strict=False)
def _begin_labels(world: types.Type) -> Code:
    return (lambda world: draw_places(world)) if _is_relabelled(world) else lambda world: None


@overload(place_of, jit_options=_INLINED, strict=False)
def _place_of(world: types.Type, cell: types.Type) -> Code:
    return (lambda world, cell: world.place[cell]) if _is_relabelled(world) else lambda world, cell: cell


@overload(origin_of, jit_options=_INLINED, strict=False)
def _origin_of(world: types.Type, cell: types.Type) -> Code:
    return (lambda world, cell: world.origin[cell]) if _is_relabelled(world) else lambda world, cell: cell


def run_origins(problem: Problem, seed: int, runs: range) -> NDArray[np.int64]:
    """Return for every run (rows) the problem's cell behind each of the agents' cells (columns)."""
    numbers = np.arange(runs.start, runs.stop, dtype=np.uint32)
    states = stream_states(seed_words(seed), numbers, np.uint32(label_stream(problem.agents)))
    draws = iter(draw_uniforms(states, sum(size - 1 for size in problem.arms)).T)
    rows, origins = np.arange(len(runs)), np.zeros((len(runs), 1), dtype=np.int64)
    for size in problem.arms:
        labels = np.tile(np.arange(size), (len(runs), 1))
        for last in range(size - 1, 0, -1):
            pick = (next(draws) * (last + 1)).astype(np.int64)
            labels[rows, last], labels[rows, pick] = labels[rows, pick], labels[rows, last].copy()
        cells = origins.shape[1] * size
        origins = (origins[:, :, np.newaxis] * size + labels[:, np.newaxis, :]).reshape(len(runs), cells)
    return origins
