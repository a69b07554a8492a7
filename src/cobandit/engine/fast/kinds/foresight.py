"""Foreseeing the higher-ranked from a window of their past arms (`agents.foresight`; Alg. 1, lines 5 and 11).

A kind that can foresee has the fields ``foresees`` (0 or 1), ``window`` (W) and ``repeat`` (L). Its
*block* are the cells in which the foreseen coordinates are as foreseen: ``base + world.block[...]``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from cobandit.agents.partner_aware import PartnerAware, role_exploration
from cobandit.engine.fast.dispatch import known_rounds
from cobandit.engine.fast.players import Seat
from cobandit.engine.fast.random import inlined, uniform
from cobandit.engine.fast.world import World


def foresight_of(agent: Any, seat: Seat) -> tuple[int, int, int]:
    """``foresees``, ``window`` and ``repeat`` of an agent."""
    if not isinstance(agent, PartnerAware):
        return 0, 1, 1
    horizon = seat.briefing.horizon
    return 1, min(agent.window, horizon), min(agent.repeat, horizon)


def with_constant(agent: Any, rank: int) -> Any:
    """Return the same agent with the exploration constant of a rank for all ranks; its leader waits."""
    return replace(agent, exploration=role_exploration(agent, rank), follower_exploration=None, heed=False)


WIDTHS = ("width", "follower_width")
"""2c of leader and followers."""


def role_widths(agent: Any) -> tuple[float, float]:
    """Return the fields of `WIDTHS`."""
    return 2.0 * role_exploration(agent, 0), 2.0 * role_exploration(agent, 1)


@inlined
def width_of(me: Any, world: World) -> Any:
    """Return 2c of the agent's role in this run."""
    return me.width if world.ranks[me.seat] == 0 else me.follower_width


@inlined
def keeps_arm(me: Any, world: World, t: int) -> Any:
    """Return whether the leader keeps its arm in this round (Alg. 2, line 5)."""
    return me.repeat > 1 and world.ranks[me.seat] == 0 and (t - 1) % me.repeat != 0


@inlined
def foresee(me: Any, world: World, t: int) -> Any:
    """Return the first cell of the block that the foreseen arms of all higher-ranked agents span."""
    base = 0
    if me.foresees == 1 and world.ranks[me.seat] > 0:
        size = world.ring_size
        known = known_rounds(world, t)
        remembered = known if known < me.window else me.window
        oldest = world.slot[0] - remembered
        oldest = oldest if oldest >= 0 else oldest + size
        for rank in range(world.ranks[me.seat]):
            j = world.order[rank]
            u = uniform(world.streams, me.stream)
            if remembered == 0:
                arm = np.int64(u * world.arms[j])
            else:
                back = oldest + np.int64(u * remembered)
                arm = world.ring[j * size + (back if back < size else back - size)]
            world.predictions[me.seat * world.agents + j] = arm
            base += arm * world.strides[j]
    return base


@inlined
def block_row(me: Any, world: World) -> Any:
    """Return which row of ``world.block`` holds the cells of a player's block: the last one, with all cells, for
    many.
    """
    return me.seat if me.foresees == 1 else world.agents
