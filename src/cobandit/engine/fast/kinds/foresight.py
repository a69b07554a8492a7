"""Foreseeing the higher-ranked from a window of their past arms (`agents.foresight`; Alg. 1, lines 5 and 11).

A kind that can foresee has the fields ``foresees`` (0 or 1), ``window`` (W) and ``repeat`` (L). Its
*block* are the cells in which the foreseen coordinates are as foreseen: ``base + world.block[...]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.agents.partner_aware import PartnerAware, role_exploration
from cobandit.engine.choice import NotCompiled
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


def seat_exploration(agent: Any, seat: Seat) -> float:
    """Return the exploration constant of a seat's role; compiled loops need roles that are not drawn."""
    if agent.follower_exploration is not None and seat.drawn_roles:
        raise NotCompiled(f"{agent.title} has an exploration constant of followers, but roles are drawn for each run")
    return role_exploration(agent, seat.briefing.rank)


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
