"""Arm labels: a random permutation of each agent's arms, drawn for each run of a relabelled problem.

``labels[i][k]`` is the problem's arm behind agent i's arm k. Agents that break ties by the lowest index favour
the first team action; without relabelling their regret depends on where a problem happens to have its best one.
"""

from __future__ import annotations

import numpy as np

from cobandit.problem.means import Tensor

Labels = tuple[tuple[int, ...], ...]


def shuffled(count: int, rng: np.random.Generator) -> list[int]:
    """Return the numbers below ``count`` in random order, each order equally likely; ``count - 1`` uniform draws."""
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        pick = int(rng.random() * (last + 1))
        order[last], order[pick] = order[pick], order[last]
    return order


def draw_labels(arms: tuple[int, ...], rng: np.random.Generator) -> Labels:
    """Draw the labels of one run, agent by agent."""
    return tuple(tuple(shuffled(size, rng)) for size in arms)


def to_agents(tensor: Tensor, labels: Labels) -> Tensor:
    """Return a tensor over the problem's team actions in the order of the agents' labels."""
    return np.asarray(tensor[np.ix_(*labels)])


def to_problem(tensor: Tensor, labels: Labels) -> Tensor:
    """Return a tensor over the agents' labels in the problem's own order: the inverse of `to_agents`."""
    original = np.empty_like(tensor)
    original[np.ix_(*labels)] = tensor
    return original


def original_action(action: tuple[int, ...], labels: Labels) -> tuple[int, ...]:
    """Return a team action of the agents in the problem's own labels."""
    return tuple(label[arm] for label, arm in zip(labels, action, strict=True))
