"""The means mu of the team actions: given once, or drawn anew for each run.

Paper: Problem Setting (mu_a); Simulations (fixed means; random means from Unif[0, 1]).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.checks import is_list, numeric, real, shown, whole
from cobandit.errors import InvalidInput, TooLarge

Tensor = NDArray[np.float64]

LARGEST_MEAN = 1e12
"""Beyond this a sum of rewards would lose the differences it is there to show."""

MOST_CELLS = 2**28
"""More team actions than this could not even be counted in memory for one run."""


def checked_arms(arms: Any) -> tuple[int, ...]:
    """The number of own arms of each agent, |A_i|: at least two agents, at least one arm each."""
    if not is_list(arms):
        raise InvalidInput(f"arms is {shown(arms)}; the number of arms of each agent is needed, such as (2, 2).")
    sizes = tuple(whole(1)(f"arms[{i}]", size) for i, size in enumerate(arms))
    if len(sizes) < 2:
        raise InvalidInput(f"arms is {shown(sizes)}; a team has at least 2 agents, so at least 2 entries are needed.")
    if math.prod(sizes) > MOST_CELLS:
        raise TooLarge(
            f"arms {shown(sizes)} make {math.prod(sizes):,} team actions; at most {MOST_CELLS:,} can be held."
        )
    return sizes


@dataclass(frozen=True)
class FixedMeans:
    """One tensor of means, the same in every run; ``values`` in row-major order over ``arms``."""

    arms: tuple[int, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, means: Any) -> FixedMeans:
        """From nested lists or an array with one axis per agent."""
        array = numeric("means", means, "a matrix of numbers (one axis per agent, rows of equal length)")
        if array.ndim < 2 or array.size == 0:
            raise InvalidInput(
                f"means has shape {array.shape}; one axis per agent is needed, so at least 2 axes, none of them empty."
            )
        fine = np.abs(array) <= LARGEST_MEAN
        if not fine.all():
            where = tuple(int(i) for i in np.argwhere(~fine)[0])
            span = f"finite numbers from {-LARGEST_MEAN:g} to {LARGEST_MEAN:g}"
            raise InvalidInput(f"means{list(where)} is {array[where]}; {span} are needed.")
        return cls(checked_arms(array.shape), tuple(array.ravel().tolist()))

    def draw(self, rng: np.random.Generator) -> Tensor:
        """The means of one run (nothing is drawn)."""
        return np.array(self.values).reshape(self.arms)


@dataclass(frozen=True)
class RandomMeans:
    """Each mean drawn from Unif[low, high], anew for each run, in row-major order."""

    arms: tuple[int, ...]
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", checked_arms(self.arms))
        object.__setattr__(self, "low", real(-LARGEST_MEAN, LARGEST_MEAN)("the lowest random mean", self.low))
        object.__setattr__(self, "high", real(self.low, LARGEST_MEAN)("the highest random mean", self.high))

    def draw(self, rng: np.random.Generator) -> Tensor:
        """The means of one run."""
        return self.low + (self.high - self.low) * rng.random(self.arms)


Means = FixedMeans | RandomMeans


def local_optima(arms: int) -> list[list[float]]:
    """K x K means with K local optima (Fig. "sim3 left"; K = 2 is the fixed matrix of Fig. "sim0").

    The diagonal falls evenly from .8 to .6, with .4 above it and .2 below it.
    """
    size = whole(2, 4096)("arms", arms)
    diagonal = [round(0.8 - 0.2 * i / (size - 1), 12) for i in range(size)]
    return [[diagonal[i] if i == j else 0.4 if j > i else 0.2 for j in range(size)] for i in range(size)]


def two_corners(agents: int, leader: int | None = None) -> Tensor:
    """Means for N agents with 2 arms each and two local optima, at all-zeros and all-ones (Fig. "sim4").

    ``leader`` is the top-ranked agent: the last one by default, as p_i = i / N there. With more than seven
    agents the rule would lead to negative means.
    """
    count = whole(2, 7)("agents", agents)
    top = whole(0, count - 1)("leader", count - 1 if leader is None else leader)
    means = np.empty((2,) * count)
    for cell in itertools.product((0, 1), repeat=count):
        ones = sum(cell)
        distance = min(ones, count - ones)
        if distance == 0:
            means[cell] = 0.8 if ones == 0 else 0.6
        else:
            means[cell] = (0.4 if cell[top] == 0 else 0.2) - 0.1 * (distance - 1)
    return means
