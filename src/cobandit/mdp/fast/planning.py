"""The plan of optimistic agents, compiled (`agents.optimism`): O(H S A S'), S' the next states seen so far."""

from __future__ import annotations

import math
from typing import Any

from cobandit.agents.beliefs import COMPANION_FLOOR, LINES
from cobandit.engine.fast.random import inlined

PAPER, ANYTIME, COMPANION = range(len(LINES))


@inlined
def scale_at(me: Any, t: int, exploration: float) -> Any:
    """sqrt(c log(1/delta)) at round t (`agents.beliefs.UpperConfidence.scale`)."""
    x = me.horizon if me.index == PAPER else t if me.index == ANYTIME else t - 1
    return math.sqrt(2.0 * exploration * math.log(x))


@inlined
def step_indices(me: Any, model: Any, states: int, actions: int, step: int, scale: float, most: float) -> None:
    """Q of one step into ``me.q``, by the values of the next step in ``me.v``.

    ``model`` has the visits and moves; ``most`` is the most that the steps behind this one can give.
    """
    at = step * states * actions
    ahead = (step + 1) * states
    companion = me.index == COMPANION
    for pair in range(states * actions):
        n, total = me.counts[pair], me.sums[pair]
        floored = max(float(n), COMPANION_FLOOR)
        if companion:
            estimate = (me.ones + total * me.noise) / (me.weight + n * me.noise)
        elif n > 0:
            estimate = total / n
        else:
            me.q[at + pair] = math.inf
            continue
        visits = model.visits[pair]
        if most == 0.0:
            me.q[at + pair] = estimate + scale * (1.0 / math.sqrt(floored))
        elif visits == 0:
            me.q[at + pair] = estimate + most + scale * (1.0 / math.sqrt(floored))
        else:
            mean, squares = 0.0, 0.0
            start = pair * states
            for k in range(start, start + model.link_counts[pair]):
                value = me.v[ahead + model.links[k]]
                mean += model.moves[k] * value
                squares += model.moves[k] * (value * value)
            mean /= visits
            variance = max(squares / visits - mean * mean, 0.0)
            span = math.sqrt(1.0 / floored + (variance + most * most / visits) / visits)
            me.q[at + pair] = estimate + mean + scale * span


@inlined
def hopeful_value(me: Any, start: int, actions: int, most: float) -> Any:
    """min(H-h, max_a Q_h(s,a))."""
    top = me.q[start]
    for k in range(start + 1, start + actions):
        if me.q[k] > top:
            top = me.q[k]
    return min(top, most)


@inlined
def joint_max_plan(me: Any, model: Any, states: int, actions: int, steps: int, scale: float) -> None:
    """Plan all steps, as if all agents played the best team action."""
    for step in range(steps - 1, -1, -1):
        step_indices(me, model, states, actions, step, scale, me.ceiling * (steps - 1 - step))
        if step > 0:
            for state in range(states):
                place = step * states + state
                me.v[place] = hopeful_value(me, place * actions, actions, me.ceiling * (steps - step))
