"""Means that change while a team plays: abruptly in given rounds, or gradually in every round.

Regret uses the means of each round, which is also called dynamic regret. Beyond the paper, whose means do not change.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from cobandit.base.checks import MOST, is_list, numeric, real, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.problem.means import LARGEST_MEAN, Tensor, bad_mean, checked_arms


@dataclass(frozen=True)
class PiecewiseMeans:
    """One tensor of means after the other, the same in every run.

    ``values`` holds the means of each phase in row-major order over ``arms``; ``changes_at`` the rounds in which the
    second phase and the later ones begin.
    """

    arms: tuple[int, ...]
    values: tuple[tuple[float, ...], ...]
    changes_at: tuple[int, ...]

    name: ClassVar[str] = "piecewise"
    changes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        arms = checked_arms(self.arms)
        cells = math.prod(arms)
        array = numeric("phases", self.values, "a list of means for each phase, as long as there are team actions,")
        if array.ndim != 2 or array.shape[1] != cells:
            raise InvalidInput(
                f"phases has shape {array.shape}; arms {short_repr(arms)} make {cells} team actions, "
                "and one mean for each of them is needed in every phase."
            )
        for phase, row in enumerate(array):
            wrong = bad_mean(row.reshape(arms))
            if wrong is not None:
                raise InvalidInput(f"phases[{phase}]{wrong}")
        if not is_list(self.changes_at):
            raise InvalidInput(f"changes_at must be a list of rounds, got {short_repr(self.changes_at)}.")
        rounds = tuple(whole(2, MOST)(f"changes_at[{i}]", t) for i, t in enumerate(self.changes_at))
        if len(rounds) != len(array) - 1:
            raise InvalidInput(
                f"changes_at has {len(rounds)} rounds; there are {len(array)} phases, so {len(array) - 1} are needed: "
                "the first phase begins in round 1."
            )
        if any(later <= earlier for earlier, later in pairwise(rounds)):
            raise InvalidInput(f"changes_at must be rounds in ascending order, got {short_repr(rounds)}.")
        object.__setattr__(self, "arms", arms)
        object.__setattr__(self, "values", tuple(tuple(row) for row in array.tolist()))
        object.__setattr__(self, "changes_at", rounds)

    @classmethod
    def of(cls, phases: Sequence[Any], changes_at: Sequence[int]) -> PiecewiseMeans:
        """Create the means from one matrix (nested lists or an array, one axis per agent) for each phase."""
        array = numeric("phases", phases, "a list of matrices of one shape, one for each phase,")
        if array.ndim < 3 or array.size == 0:
            raise InvalidInput(
                f"phases has shape {array.shape}; one matrix for each phase is needed, with one axis per agent."
            )
        rows = array.reshape(len(array), -1).tolist()
        return cls(array.shape[1:], tuple(tuple(row) for row in rows), changes_at)  # type: ignore[arg-type]

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest mean of any phase."""
        return min(map(min, self.values)), max(map(max, self.values))

    def draw(self, t: int, previous: Tensor | None, rng: np.random.Generator) -> Tensor:
        """Return the means of round t (nothing is drawn)."""
        return np.array(self.values[bisect_right(self.changes_at, t)]).reshape(self.arms)


@dataclass(frozen=True)
class RandomWalkMeans:
    """Each mean walks at random between ``low`` and ``high``, independently, and is reflected at both bounds.

    A step is normal with standard deviation ``step``. The walk begins at ``values`` (row-major over ``arms``), or where
    Unif[low, high] says in each run.
    """

    arms: tuple[int, ...]
    step: float = 0.02
    low: float = 0.0
    high: float = 1.0
    values: tuple[float, ...] | None = None

    name: ClassVar[str] = "random-walk"
    changes: ClassVar[bool] = True

    def __post_init__(self) -> None:
        arms = checked_arms(self.arms)
        low = real(-LARGEST_MEAN, LARGEST_MEAN)("the lowest mean of the walk", self.low)
        high = real(low, LARGEST_MEAN)("the highest mean of the walk", self.high)
        step = real(0.0, LARGEST_MEAN)("step", self.step)
        if self.values is not None:
            array = numeric("values", self.values, "a list of numbers, one for each team action,")
            if array.shape != (math.prod(arms),):
                raise InvalidInput(
                    f"values has shape {array.shape}; one number for each of {math.prod(arms)} team actions is needed."
                )
            wrong = bad_mean(array.reshape(arms), low, high)
            if wrong is not None:
                raise InvalidInput(f"values{wrong}")
            object.__setattr__(self, "values", tuple(array.tolist()))
        for name, value in {"arms": arms, "low": low, "high": high, "step": step}.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, means: object, step: float = 0.02, low: float = 0.0, high: float = 1.0) -> RandomWalkMeans:
        """Return a walk that begins at these means: nested lists or an array with one axis per agent."""
        array = numeric("means", means, "a matrix of numbers (one axis per agent, rows of equal length)")
        return cls(array.shape, step, low, high, tuple(array.ravel().tolist()))

    @property
    def bounds(self) -> tuple[float, float]:
        """The walls."""
        return self.low, self.high

    def draw(self, t: int, previous: Tensor | None, rng: np.random.Generator) -> Tensor:
        """Return the means of round t: one normal draw for each team action in every round but the first."""
        if previous is None:
            if self.values is not None:
                return np.array(self.values).reshape(self.arms)
            return self.low + (self.high - self.low) * rng.random(self.arms)
        return self._inside(previous + self.step * rng.standard_normal(self.arms))

    def _inside(self, means: Tensor) -> Tensor:
        """Reflected at the walls as often as it takes."""
        span = self.high - self.low
        if span == 0.0:
            return np.full(self.arms, self.low)
        folded = span - np.abs((means - self.low) % (2.0 * span) - span)
        return np.asarray(np.clip(self.low + folded, self.low, self.high))


DRIFTING: dict[str, type[PiecewiseMeans] | type[RandomWalkMeans]] = {
    "piecewise": PiecewiseMeans,
    "random-walk": RandomWalkMeans,
}
