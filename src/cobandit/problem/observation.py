"""Observation models: what agent i sees of r*_t(a).

Each agent has a stream of its own and takes the same draws of it in a round whatever the team does. *Observability*
(p_i) is always the probability of seeing r* itself, so a flip probability q_i of the paper is an observability of
1 - q_i. ``slope(t, i)`` is how much of a difference in mu reaches agent i on average: d E[seen] / d mu.
Paper: Problem Setting with its footnote; Generalization to Other Bandits.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from cobandit.base.checks import one_per_agent, real
from cobandit.problem.means import LARGEST_MEAN


@runtime_checkable
class Observation(Protocol):
    """The interface of observation models: any class with these members, best a frozen dataclass.

    ``name`` appears in tables and is known to the agents; a name of this package promises its behaviour. ``binary``
    says whether observations of rewards of 0 and 1 are always 0 or 1. ``levels`` has one number per agent that
    describes how well it observes. One object serves all runs, so it must not change.
    """

    if TYPE_CHECKING:

        @property
        def name(self) -> str:
            """The name in tables, which the agents know, too."""

        @property
        def binary(self) -> bool:
            """Whether all that is seen of rewards of 0 and 1 is 0 or 1 as well."""

        @property
        def levels(self) -> tuple[float, ...]:
            """One number per agent that describes its sight."""

    else:
        name: str  # see Means
        binary: bool
        levels: tuple[float, ...]

    @abstractmethod
    def quality(self, agent: int) -> float:
        """Return the higher, the better the agent observes; roles go by it. They are fixed before round 1."""
        ...

    @abstractmethod
    def slope(self, t: int, agent: int) -> float:
        """d E[seen] / d mu in round t, nothing seen counting as 0: what team regret makes of task regret."""
        ...

    @abstractmethod
    def see(self, t: int, agent: int, reward: float, rng: np.random.Generator) -> float | None:
        """Return the agent's observation of round t's reward; None: the agent knows that it saw nothing.

        ``rng`` is the agent's own observation stream. The number of draws must not depend on ``reward``: otherwise two
        teams with one seed would no longer get the same random numbers.
        """
        ...


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
        """Return the higher, the better the agent observes; roles go by it."""
        return self.observability[agent]

    def slope(self, t: int, agent: int) -> float:
        """d E[seen] / d mu."""
        return self.observability[agent]

    def see(self, t: int, agent: int, reward: float, rng: np.random.Generator) -> float | None:
        """Return the agent's observation of this round's reward."""
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
        object.__setattr__(self, "noise", one_per_agent("noise", self.noise, None, real(0.0, LARGEST_MEAN)))

    @property
    def levels(self) -> tuple[float, ...]:
        """One number per agent that describes its sight."""
        return self.noise

    def quality(self, agent: int) -> float:
        """Return the higher, the better the agent observes; roles go by it."""
        return -self.noise[agent]

    def slope(self, t: int, agent: int) -> float:
        """d E[seen] / d mu."""
        return 1.0

    def see(self, t: int, agent: int, reward: float, rng: np.random.Generator) -> float | None:
        """Return the agent's observation of this round's reward."""
        return reward + self.noise[agent] * float(rng.standard_normal())


ObservationName = Literal["missed", "missed-known", "flipped", "noisy"]

OBSERVATIONS: dict[str, type[Missed] | type[MissedKnown] | type[Flipped] | type[Noisy]] = {
    "missed": Missed,
    "missed-known": MissedKnown,
    "flipped": Flipped,
    "noisy": Noisy,
}
