"""Reward models: how r*_t(a) falls around the mean mu_a.

Each takes the same draws of the reward stream in a round whatever the team does, so that two teams
with one seed meet the same luck. Paper: Problem Setting (Bernoulli), Generalization to Other Bandits (Gaussian).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np

from cobandit.base.checks import numeric, real, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.problem.means import LARGEST_MEAN, Tensor


@runtime_checkable
class Reward(Protocol):
    """What a model of the reward r*_t(a) is: any class with these members, best a frozen dataclass.

    ``name`` is what tables call it. ``binary`` says whether all its rewards are 0 or 1. A class may also have
    ``mean_bounds``, the lowest and the highest mean that its rewards can have; means beyond them are refused. And
    it may have ``shock(t, previous, rng)``, a number that is made once a round of the number of the round before (0 in
    round 1) and passed to `draw` instead of a spread: what the rewards of neighbouring rounds have in common.
    One object serves all runs, so it must not change.
    """

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """What tables call it."""

        @property
        def binary(self) -> bool:
            """Whether all its rewards are 0 or 1."""

    else:
        name: str  # see Means
        binary: bool

    @abstractmethod
    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> Tensor | None:
        """Return one more number for each team action, fixed for one run, such as s_a; None if the mean is enough.

        Called once per run, after the means, with the set-up stream.
        """
        ...

    @abstractmethod
    def draw(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        """Return the reward of round t, with mean ``mean``, drawn from ``rng``; ``spread`` is 0 where there are no
        spreads.

        How much is drawn from ``rng`` must not depend on ``mean`` and ``spread``: two teams with one seed would no
        longer meet the same luck.
        """
        ...


@dataclass(frozen=True)
class Bernoulli:
    """r*_t(a) is 1 with probability mu_a, else 0."""

    name: ClassVar[str] = "bernoulli"
    binary: ClassVar[bool] = True
    mean_bounds: ClassVar[tuple[float, float]] = (0.0, 1.0)

    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> Tensor | None:
        """Return None: the mean describes a Bernoulli reward completely."""
        return None

    def draw(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        """Return the reward of one round."""
        return 1.0 if rng.random() < mean else 0.0


@dataclass(frozen=True)
class Gaussian:
    """r*_t(a) ~ N(mu_a, s_a^2), the spreads s_a drawn from Unif[low, high] for each run and team action.

    ``low == high`` is one spread for all. ``values`` in row-major order, where given, are used instead.
    """

    low: float = 0.1
    high: float = 0.5
    values: tuple[float, ...] | None = None

    name: ClassVar[str] = "gaussian"
    binary: ClassVar[bool] = False
    mean_bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        low = real(0.0, LARGEST_MEAN)("the lowest spread", self.low)
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", real(low, LARGEST_MEAN)("the highest spread", self.high))
        if self.values is not None:
            array = numeric("values", self.values, "a list of spreads, one for each team action,")
            if array.ndim != 1 or not ((array >= 0.0) & (array <= LARGEST_MEAN)).all():
                span = f"one finite number from 0 to {LARGEST_MEAN:g} for each team action"
                raise InvalidInput(f"values must be {span}, got {short_repr(self.values)}.")
            object.__setattr__(self, "values", tuple(array.tolist()))

    @classmethod
    def of(cls, sd: object, arms: tuple[int, ...]) -> Gaussian:
        """Create the model from one number, a pair ``(low, high)`` to draw from, or an array shaped like the means."""
        not_negative = real(0.0, LARGEST_MEAN)
        array = numeric("sd", sd, "a number, a pair (low, high) or an array like the means")
        if array.shape == (2,):
            low = not_negative("sd[0]", array[0].item())
            return cls(low, real(low, LARGEST_MEAN)("sd[1]", array[1].item()))
        if array.ndim == 0:
            spread = not_negative("sd", array.item())
            return cls(spread, spread)
        if array.shape != arms:
            raise InvalidInput(f"sd has shape {array.shape}; the shape of the means, {arms}, is needed.")
        return cls(values=tuple(not_negative("sd", value) for value in array.ravel().tolist()))

    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> Tensor | None:
        """Return the standard deviations s_a of one run."""
        if self.values is not None:
            return np.array(self.values).reshape(arms)
        return self.low + (self.high - self.low) * rng.random(arms)

    def draw(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        """Return the reward of one round."""
        return mean + spread * float(rng.standard_normal())


@dataclass(frozen=True)
class StudentT:
    """r*_t(a) = mu_a + scale * Student's t with ``df`` degrees of freedom: heavy tails on both sides.

    The smaller ``df``, the heavier: no variance up to 2, no mean at 1, so more than 1 are needed. Beyond the paper.
    """

    df: float = 3.0
    scale: float = 0.25

    name: ClassVar[str] = "student-t"
    binary: ClassVar[bool] = False
    mean_bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        df = real(1.0, LARGEST_MEAN)("df", self.df)
        if df == 1.0:
            raise InvalidInput("df is 1; more is needed, since these rewards would have no mean.")
        object.__setattr__(self, "df", df)
        object.__setattr__(self, "scale", real(0.0, LARGEST_MEAN)("scale", self.scale))

    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> Tensor | None:
        """Return all team actions spread alike."""
        return None

    def draw(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        """Return the reward of one round; the number of random draws never depends on the mean."""
        return mean + self.scale * float(rng.standard_t(self.df))


@dataclass(frozen=True)
class CorrelatedGaussian:
    """r*_t(a) = mu_a + z_t, with z_t ~ N(0, sd^2) and correlation ``correlation`` from each round to the next.

    z is a stationary autoregressive process of order 1, independent of the team's actions: good and bad times that
    last. Rounds that are k apart have the correlation ``correlation`` to the power of k. Beyond the paper.
    """

    sd: float = 0.25
    correlation: float = 0.9

    name: ClassVar[str] = "correlated-gaussian"
    binary: ClassVar[bool] = False
    mean_bounds: ClassVar[tuple[float, float]] = (-math.inf, math.inf)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sd", real(0.0, LARGEST_MEAN)("sd", self.sd))
        object.__setattr__(self, "correlation", real(-1.0, 1.0)("correlation", self.correlation))

    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> Tensor | None:
        """Return all team actions spread alike."""
        return None

    def shock(self, t: int, previous: float, rng: np.random.Generator) -> float:
        """z_t, from z_{t - 1}; one draw."""
        fresh = self.sd * float(rng.standard_normal())
        if t == 1:
            return fresh
        return self.correlation * previous + math.sqrt(1.0 - self.correlation * self.correlation) * fresh

    def draw(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        """Return the reward of one round; ``spread`` is the shock of the round."""
        return mean + spread


REWARDS = {
    "bernoulli": Bernoulli,
    "gaussian": Gaussian,
    "student-t": StudentT,
    "correlated-gaussian": CorrelatedGaussian,
}
