"""Team actions by their number: a *cell* counts them in row-major order, the last agent's arm fastest."""

from __future__ import annotations

import math
from collections.abc import Sequence


def strides_of(arms: Sequence[int]) -> list[int]:
    """Return by how much a cell grows with each agent's arm."""
    return [math.prod(arms[i + 1 :]) for i in range(len(arms))]


def arms_in_cells(arms: Sequence[int]) -> list[int]:
    """Return each agent's arm in each cell, agent by agent."""
    strides, cells = strides_of(arms), range(math.prod(arms))
    return [cell // stride % size for stride, size in zip(strides, arms, strict=True) for cell in cells]
