"""Observation models: what agent i sees of r*_t(a).

Each agent has a stream of its own and takes exactly one draw of it a round. *Observability* (p_i) is always
the probability of seeing r* itself, so a flip probability q_i of the paper is an observability of 1 - q_i.
``slope(i)`` is how much of a difference in mu reaches agent i on average: d E[seen] / d mu.
Paper: Problem Setting with its footnote; Generalization to Other Bandits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cobandit.checks import one_per_agent, real


@dataclass(frozen=True)
class _BySight:
    """Models in which agent i sees r* with probability p_i and something else otherwise."""

    observability: tuple[float, ...]

    binary: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "observability", one_per_agent("observability", self.observability, None, real(0.0, 1.0))
        )

    @property
    def levels(self) -> tuple[float, ...]:
        """One number per agent that describes its sight."""
        return self.observability

    def quality(self, agent: int) -> float:
        """The higher, the better the agent observes; roles go by it."""
        return self.observability[agent]

    def slope(self, agent: int) -> float:
        """d E[seen] / d mu."""
        return self.observability[agent]

    def see(self, agent: int, reward: float, rng: np.random.Generator) -> float | None:
        """What the agent sees of this round's reward."""
        return reward if rng.random() < self.observability[agent] else self.otherwise

    otherwise: ClassVar[float | None]


@dataclass(frozen=True)
class Missed(_BySight):
    """Sees r* with probability p_i, else sees 0 and cannot tell (the paper's main model)."""

    name: ClassVar[str] = "missed"
    otherwise: ClassVar[float | None] = 0.0


@dataclass(frozen=True)
class MissedKnown(_BySight):
    """Sees r* with probability p_i, else nothing, and knows it: ``None`` (footnote of Problem Setting)."""

    name: ClassVar[str] = "missed-known"
    otherwise: ClassVar[float | None] = None


@dataclass(frozen=True)
class Flipped(_BySight):
    """Sees r* with probability p_i = 1 - q_i, else sees 1 (Fig. "other_envs left")."""

    name: ClassVar[str] = "flipped"
    otherwise: ClassVar[float | None] = 1.0


@dataclass(frozen=True)
class Noisy:
    """Sees r* + N(0, sigma_i^2); the smaller sigma_i, the better (Fig. "other_envs right")."""

    noise: tuple[float, ...]

    name: ClassVar[str] = "noisy"
    binary: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", one_per_agent("noise", self.noise, None, real(0.0)))

    @property
    def levels(self) -> tuple[float, ...]:
        """One number per agent that describes its sight."""
        return self.noise

    def quality(self, agent: int) -> float:
        """The higher, the better the agent observes; roles go by it."""
        return -self.noise[agent]

    def slope(self, agent: int) -> float:
        """d E[seen] / d mu."""
        return 1.0

    def see(self, agent: int, reward: float, rng: np.random.Generator) -> float | None:
        """What the agent sees of this round's reward."""
        return reward + self.noise[agent] * float(rng.standard_normal())


Observation = Missed | MissedKnown | Flipped | Noisy

OBSERVATIONS: dict[str, type[Observation]] = {
    "missed": Missed,
    "missed-known": MissedKnown,
    "flipped": Flipped,
    "noisy": Noisy,
}
