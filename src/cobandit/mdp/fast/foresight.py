"""Prediction of the higher-ranked agents at every place, compiled (`mdp.agents.foresight`).

The entries of agent j's arms at a place start at ``place * me.all_arms + me.offsets[j]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.engine.fast.random import compiled, inlined, uniform
from cobandit.mdp.agents.foresight import DECAYS, PRIOR, SHARE
from cobandit.mdp.fast.world import MarkovWorld

BANKS = len(DECAYS)


@inlined
def decay_of(k: int) -> Any:
    """Return how much of the past histogram k of a bank keeps."""
    return DECAYS[k]


@compiled
def bank_chance(me: Any, world: MarkovWorld, place: int, agent: int, arm: int) -> float:
    """rho of one arm by the mixture of histograms."""
    arms = world.arms[agent]
    mixture = 0.0
    for k in range(BANKS):
        start = (place * me.all_arms + me.offsets[agent]) * BANKS + k * arms
        total = 0.0
        for other in range(arms):
            total += me.bins[start + other]
        mixture += me.weights[(place * world.agents + agent) * BANKS + k] / total * me.bins[start + arm]
    return mixture


@inlined
def chance(me: Any, world: MarkovWorld, place: int, agent: int, arm: int) -> Any:
    """rho_h(s, arm) of an agent."""
    if me.bank == 1:
        return bank_chance(me, world, place, agent, arm)
    visits = world.place_visits[place]
    if visits == 0:
        return 1.0 / world.arms[agent]
    remembered = visits if visits < me.window else me.window
    return me.histogram[place * me.all_arms + me.offsets[agent] + arm] / remembered


@inlined
def foreseen_arm(me: Any, world: MarkovWorld, place: int, agent: int) -> Any:
    """Draw one arm from rho."""
    u = uniform(world.streams, me.stream)
    if me.bank == 1:
        arm = 0
        while arm < world.arms[agent] - 1:
            share = bank_chance(me, world, place, agent, arm)
            if u < share:
                break
            u -= share
            arm += 1
        return arm
    visits = world.place_visits[place]
    if visits == 0:
        return np.int64(u * world.arms[agent])
    remembered = visits if visits < me.window else me.window
    oldest = visits - remembered
    slot = (oldest + np.int64(u * remembered)) % me.window
    return np.int64(me.ring[(place * world.agents + agent) * me.window + slot])


@inlined
def remember_arms(me: Any, world: MarkovWorld, place: int) -> None:
    """Remember the arms of a step, before its visit is counted."""
    if me.bank == 1:
        feed_banks(me, world, place)
        return
    visits = world.place_visits[place]
    for rank in range(world.ranks[me.seat]):
        agent = world.order[rank]
        arm = world.arm[agent]
        slot = (place * world.agents + agent) * me.window + visits % me.window
        start = place * me.all_arms + me.offsets[agent]
        if visits >= me.window:
            me.histogram[start + me.ring[slot]] -= 1
        me.ring[slot] = arm
        me.histogram[start + arm] += 1


@compiled
def feed_banks(me: Any, world: MarkovWorld, place: int) -> None:
    """Weigh the histograms by what they foresaw, then let each take the arm in."""
    for rank in range(world.ranks[me.seat]):
        agent = world.order[rank]
        arms, arm = world.arms[agent], world.arm[agent]
        first = (place * world.agents + agent) * BANKS
        bins = (place * me.all_arms + me.offsets[agent]) * BANKS
        total = 0.0
        for k in range(BANKS):
            size = 0.0
            for other in range(arms):
                size += me.bins[bins + k * arms + other]
            me.weights[first + k] *= me.bins[bins + k * arms + arm] / size
            total += me.weights[first + k]
        for k in range(BANKS):
            me.weights[first + k] = (1.0 - SHARE) * (me.weights[first + k] / total) + SHARE / BANKS
            for other in range(arms):
                at = bins + k * arms + other
                me.bins[at] = PRIOR + decay_of(k) * (me.bins[at] - PRIOR)
            me.bins[bins + k * arms + arm] += 1.0
