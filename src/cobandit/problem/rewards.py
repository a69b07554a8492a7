"""Reward models: how r*_t(a) falls around the mean mu_a.

Each draws exactly one number a round from the reward stream whatever the team does, so that two teams
with one seed meet the same luck. Paper: Problem Setting (Bernoulli), Generalization to Other Bandits (Gaussian).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cobandit.checks import numeric, real
from cobandit.errors import InvalidInput
from cobandit.problem.means import LARGEST_MEAN, Tensor


@dataclass(frozen=True)
class Bernoulli:
    """r*_t(a) is 1 with probability mu_a, else 0."""

    name: ClassVar[str] = "bernoulli"
    binary: ClassVar[bool] = True

    def spreads(self, arms: tuple[int, ...], rng: np.random.Generator) -> Tensor | None:
        """Nothing beyond the mean describes a Bernoulli reward."""
        return None

    def draw(self, mean: float, spread: float, rng: np.random.Generator) -> float:
        """The reward of one round."""
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

    @classmethod
    def of(cls, sd: Any, arms: tuple[int, ...]) -> Gaussian:
        """From one number, a pair ``(low, high)`` to draw from, or an array shaped like the means."""
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
        """The standard deviations s_a of one run."""
        if self.values is not None:
            return np.array(self.values).reshape(arms)
        return self.low + (self.high - self.low) * rng.random(arms)

    def draw(self, mean: float, spread: float, rng: np.random.Generator) -> float:
        """The reward of one round."""
        return mean + spread * float(rng.standard_normal())


Reward = Bernoulli | Gaussian
