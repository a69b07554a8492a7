"""The means mu of the team actions: fixed, drawn for each run, or from a user-defined class.

Paper: Problem Setting (mu_a); Simulations (fixed means; random means from Unif[0, 1]).
"""

from __future__ import annotations

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import is_list, numeric, real, short_repr, whole
from cobandit.base.errors import InvalidInput, TooLarge

Tensor = NDArray[np.float64]

LARGEST_MEAN = 1e12
"""Beyond this a sum of rewards would lose the differences that it is meant to show."""

MOST_CELLS = 2**28
"""More team actions than this could not even be counted in memory for one run."""


def checked_arms(arms: object) -> tuple[int, ...]:
    """Return the number of own arms of each agent, |A_i|: at least two agents, at least one arm each."""
    if not is_list(arms):
        raise InvalidInput(f"arms must be the number of arms of each agent, such as (2, 2), got {short_repr(arms)}.")
    sizes = tuple(whole(1)(f"arms[{i}]", size) for i, size in enumerate(arms))
    if len(sizes) < 2:
        raise InvalidInput(
            f"arms is {short_repr(sizes)}; a team has at least 2 agents, so at least 2 entries are needed."
        )
    if math.prod(sizes) > MOST_CELLS:
        raise TooLarge(
            f"arms {short_repr(sizes)} make {math.prod(sizes):,} team actions; at most {MOST_CELLS:,} can be held."
        )
    return sizes


@runtime_checkable
class Means(Protocol):
    """What a model of the means mu is: any class with these members, best a frozen dataclass.

    ``arms`` holds |A_i| of every agent. ``changes`` says whether the means change from round to round. A class may
    also have ``bounds``, its lowest and its highest possible mean: what the rewards cannot have is then refused when
    the problem is made, and not when it is drawn. One object serves all runs, so it must not change.
    """

    if TYPE_CHECKING:

        @property
        def arms(self) -> tuple[int, ...]:
            """|A_i| for each agent."""

        @property
        def changes(self) -> bool:
            """Whether `draw` is called again before every later round."""

    else:
        # A frozen field fits a property for a type checker, but a dataclass that subclasses this would take the
        # property itself for the default of its field.
        arms: tuple[int, ...]
        changes: bool

    @abstractmethod
    def draw(self, t: int, previous: Tensor | None, rng: np.random.Generator) -> Tensor:
        """Return the means of round t, one axis per agent, with all random numbers drawn from ``rng``.

        Called with t = 1 and ``previous`` None when a run is set up. Only if ``changes`` is true, it is called before
        each later round with a copy of the means of the previous round. All draws come from the set-up stream of the
        run, so all teams have the same means.
        """
        ...


@dataclass(frozen=True)
class FixedMeans:
    """One tensor of means, the same in every run; ``values`` in row-major order over ``arms``."""

    arms: tuple[int, ...]
    values: tuple[float, ...]

    changes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        arms = checked_arms(self.arms)
        array = numeric("means", self.values, "a list of numbers, one for each team action,")
        if array.shape != (math.prod(arms),):
            raise InvalidInput(
                f"means has {array.size} values; arms {short_repr(arms)} make {math.prod(arms)} team actions, "
                "and one value for each of them is needed."
            )
        wrong = bad_mean(array.reshape(arms))
        if wrong is not None:
            raise InvalidInput(f"means{wrong}")
        object.__setattr__(self, "arms", arms)
        object.__setattr__(self, "values", tuple(array.tolist()))

    @classmethod
    def of(cls, means: object) -> FixedMeans:
        """Create the means from nested lists or an array with one axis per agent."""
        array = numeric("means", means, "a matrix of numbers (one axis per agent, rows of equal length)")
        if array.ndim < 2 or array.size == 0:
            raise InvalidInput(
                f"means has shape {array.shape}; one axis per agent is needed, so at least 2 axes, none of them empty."
            )
        return cls(array.shape, tuple(array.ravel().tolist()))

    def nested(self) -> list[Any]:
        """Return the means as nested lists, one level per agent."""
        return list(np.reshape(self.values, self.arms).tolist())

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest of them."""
        return min(self.values), max(self.values)

    def draw(self, t: int, previous: Tensor | None, rng: np.random.Generator) -> Tensor:
        """Return the means of one run (nothing is drawn)."""
        return np.array(self.values).reshape(self.arms)


@dataclass(frozen=True)
class RandomMeans:
    """Each mean is drawn from Unif[low, high] for each run, in row-major order."""

    arms: tuple[int, ...]
    low: float = 0.0
    high: float = 1.0

    changes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "arms", checked_arms(self.arms))
        object.__setattr__(self, "low", real(-LARGEST_MEAN, LARGEST_MEAN)("the lowest random mean", self.low))
        object.__setattr__(self, "high", real(self.low, LARGEST_MEAN)("the highest random mean", self.high))

    @property
    def bounds(self) -> tuple[float, float]:
        """The ends of the interval they are drawn from."""
        return self.low, self.high

    def draw(self, t: int, previous: Tensor | None, rng: np.random.Generator) -> Tensor:
        """Return the means of one run."""
        return self.low + (self.high - self.low) * rng.random(self.arms)


def bad_mean(means: Tensor, low: float = -math.inf, high: float = math.inf) -> str | None:
    """Return a message about the first mean that is not finite, too large to be summed or out of bounds, or None."""
    low, high = max(low, -LARGEST_MEAN), min(high, LARGEST_MEAN)
    fine = (means >= low) & (means <= high)
    if fine.all():
        return None
    where = tuple(int(i) for i in np.argwhere(~fine)[0])
    return f"{list(where)} is {means[where]}; finite numbers from {low:g} to {high:g} are needed."


def local_optima(arms: int) -> list[list[float]]:
    """K x K means with K local optima (Fig. "sim3 left"; K = 2 is the fixed matrix of Fig. "sim0").

    The diagonal falls evenly from .8 to .6, with .4 above it and .2 below it.
    """
    size = whole(2, 4096)("arms", arms)
    diagonal = [round(0.8 - 0.2 * i / (size - 1), 12) for i in range(size)]
    return [[diagonal[i] if i == j else 0.4 if j > i else 0.2 for j in range(size)] for i in range(size)]


def two_corners(agents: int, leader: int | None = None) -> Tensor:
    """Return means for N agents with 2 arms each and two local optima, at all-zeros and all-ones (Fig. "sim4").

    ``leader`` is the top-ranked agent: the last one by default, as p_i = i / N there. With more than seven agents the
    rule would lead to negative means.
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
