"""The problem as one frozen noun, and one run's instance of it. Paper: Problem Setting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

from cobandit.checks import one_per_agent, real, shown, whole
from cobandit.errors import InvalidInput, UnknownName
from cobandit.problem.means import LARGEST_MEAN, FixedMeans, Means, RandomMeans, Tensor, checked_arms
from cobandit.problem.observation import OBSERVATIONS, Noisy, Observation
from cobandit.problem.rewards import Bernoulli, Gaussian, Reward

Roles = Literal["observability", "random"] | tuple[int, ...]


@dataclass(frozen=True)
class Instance:
    """What nature fixed for one run: the means, the spreads (Gaussian only) and the agents' ranks."""

    means: Tensor
    spreads: Tensor | None
    ranks: tuple[int, ...]

    @property
    def gaps(self) -> Tensor:
        """Delta_a = mu_* - mu_a, the task regret of one round."""
        return np.asarray(self.means.max() - self.means)

    @property
    def best(self) -> tuple[int, ...]:
        """a_*, the first one in row-major order where several are best."""
        return tuple(int(i) for i in np.unravel_index(int(self.means.argmax()), self.means.shape))


@dataclass(frozen=True)
class Problem:
    """A decentralised cooperative bandit problem for N >= 2 agents.

    Made by `Problem.bernoulli` or `Problem.gaussian`. ``weights`` (non-negative, one per agent, the
    mean by default) make the team reward of the observed rewards. ``roles`` is ``"observability"`` (the
    better observer ranks higher; equals: the lower index), ``"random"`` (unknown observability; drawn for
    each run) or a tuple with each agent's rank, 0 being the leader.
    """

    means: Means
    reward: Reward
    observation: Observation
    weights: tuple[float, ...] = field(default=())
    roles: Roles = "observability"

    def __post_init__(self) -> None:
        agents = len(self.means.arms)
        levels = self.observation.levels
        if len(levels) != agents:
            name = "noise" if isinstance(self.observation, Noisy) else "observability"
            raise InvalidInput(
                f"{name} has {len(levels)} entries ({shown(levels)}); "
                f"the means have {agents} axes, one per agent, so {agents} are needed."
            )
        if isinstance(self.reward, Bernoulli):
            bounds = self.means.values if isinstance(self.means, FixedMeans) else (self.means.low, self.means.high)
            for value in bounds:
                if not 0.0 <= value <= 1.0:
                    raise InvalidInput(f"means holds {value:g}; the means of Bernoulli rewards must lie in [0, 1].")
        equal = isinstance(self.weights, tuple) and not self.weights
        weights = (1.0 / agents,) * agents if equal else self.weights
        object.__setattr__(self, "weights", one_per_agent("weights", weights, agents, real(0.0, 1e6)))
        if not sum(self.weights) > 0.0:
            raise InvalidInput(f"weights is {shown(self.weights)}; at least one weight above 0 is needed.")
        object.__setattr__(self, "roles", _checked_roles(self.roles, agents))

    @classmethod
    def bernoulli(
        cls,
        means: Any = "random",
        observability: Sequence[float] | None = None,
        *,
        arms: Sequence[int] | None = None,
        observation: str = "missed",
        noise: Sequence[float] | None = None,
        weights: Sequence[float] = (),
        roles: Any = "observability",
    ) -> Problem:
        """Bernoulli rewards: ``means`` a nested list in [0, 1], or ``"random"`` with ``arms``.

        ``observation`` is ``missed``, ``missed-known`` or ``flipped`` with ``observability`` (the chance of
        seeing the reward itself, default 1 for all), or ``noisy`` with ``noise``.
        """
        checked = _means(means, arms)
        return cls(
            checked,
            Bernoulli(),
            _observation(observation, observability, noise, len(checked.arms)),
            _listed(weights),
            roles,
        )

    @classmethod
    def gaussian(
        cls,
        means: Any = "random",
        noise: Sequence[float] | None = None,
        *,
        sd: Any = (0.1, 0.5),
        arms: Sequence[int] | None = None,
        observation: str = "noisy",
        observability: Sequence[float] | None = None,
        weights: Sequence[float] = (),
        roles: Any = "observability",
    ) -> Problem:
        """Gaussian rewards N(mu_a, s_a^2): ``sd`` one number, a pair to draw each s_a from, or an array.

        By default agent i sees the reward plus noise of standard deviation ``noise[i]``.
        """
        checked = _means(means, arms)
        return cls(
            checked,
            Gaussian.of(sd, checked.arms),
            _observation(observation, observability, noise, len(checked.arms)),
            _listed(weights),
            roles,
        )

    @property
    def arms(self) -> tuple[int, ...]:
        """|A_i| for each agent."""
        return self.means.arms

    @property
    def agents(self) -> int:
        """N."""
        return len(self.arms)

    @property
    def cells(self) -> int:
        """The number of team actions, |A|."""
        return math.prod(self.arms)

    @property
    def binary(self) -> bool:
        """Whether all that the agents see is 0 or 1."""
        return self.reward.binary and self.observation.binary

    @property
    def team_factor(self) -> float:
        """What a unit of task regret costs in team regret: the weighted sum of the agents' slopes.

        Under *missed* observation with equal weights this is mean(p_i).
        """
        return sum(w * self.observation.slope(i) for i, w in enumerate(self.weights))

    def instance(self, rng: np.random.Generator) -> Instance:
        """What nature fixes for one run, drawn from the run's set-up stream: means, spreads, roles."""
        means = self.means.draw(rng)
        spreads = self.reward.spreads(self.arms, rng)
        return Instance(means, spreads, self._ranks(rng))

    @property
    def best_observer(self) -> int:
        """The agent that observes best; the first one of equals."""
        return max(range(self.agents), key=lambda i: (self.observation.quality(i), -i))

    def known_ranks(self) -> tuple[int, ...]:
        """Each agent's rank, where it does not depend on the run (`roles` is not ``"random"``)."""
        if isinstance(self.roles, tuple):
            return self.roles
        if self.roles == "random":
            raise InvalidInput("The roles of this problem are drawn anew for each run; no ranks are known beforehand.")
        return _ranks_of(sorted(range(self.agents), key=lambda i: -self.observation.quality(i)))

    def _ranks(self, rng: np.random.Generator) -> tuple[int, ...]:
        if self.roles != "random":
            return self.known_ranks()
        order = list(range(self.agents))
        for last in range(self.agents - 1, 0, -1):
            pick = int(rng.random() * (last + 1))
            order[last], order[pick] = order[pick], order[last]
        return _ranks_of(order)

    def describe(self) -> dict[str, Any]:
        """The problem as plain data (for provenance and JSON)."""
        return {
            "arms": list(self.arms),
            "means": list(self.means.values) if isinstance(self.means, FixedMeans) else asdict(self.means),
            "reward": {"name": self.reward.name, **asdict(self.reward)},
            "observation": {"name": self.observation.name, **asdict(self.observation)},
            "weights": list(self.weights),
            "roles": self.roles,
        }


def _listed(values: Any) -> Any:
    return tuple(values) if isinstance(values, (list, np.ndarray)) else values


def _ranks_of(order: list[int]) -> tuple[int, ...]:
    ranks = [0] * len(order)
    for rank, agent in enumerate(order):
        ranks[agent] = rank
    return tuple(ranks)


def _means(means: Any, arms: Sequence[int] | None) -> Means:
    if isinstance(means, (FixedMeans, RandomMeans)):
        checked: Means = means
    elif isinstance(means, str):
        if means != "random":
            raise UnknownName("kind of means", means, ["random"])
        return RandomMeans((2, 2) if arms is None else _listed(arms))
    else:
        checked = FixedMeans.of(means)
    if arms is not None and checked_arms(arms) != checked.arms:
        raise InvalidInput(f"arms is {shown(arms)}, but the means have shape {checked.arms}; leave arms out.")
    return checked


def _observation(
    name: str, observability: Sequence[float] | None, noise: Sequence[float] | None, agents: int
) -> Observation:
    if not isinstance(name, str) or name not in OBSERVATIONS:
        raise UnknownName("observation model", name, OBSERVATIONS)
    wanted, unwanted = (noise, observability) if name == "noisy" else (observability, noise)
    words = ("noise", "observability") if name == "noisy" else ("observability", "noise")
    if unwanted is not None:
        raise InvalidInput(f"{words[1]} was given, but observation {name!r} is described by {words[0]}.")
    limits = real(0.0, LARGEST_MEAN) if name == "noisy" else real(0.0, 1.0)
    default = (0.0 if name == "noisy" else 1.0,) * agents
    levels = default if wanted is None else one_per_agent(words[0], wanted, agents, limits)
    return OBSERVATIONS[name](levels)


def _checked_roles(roles: Any, agents: int) -> Roles:
    if isinstance(roles, str):
        if roles not in ("observability", "random"):
            raise UnknownName("role rule", roles, ["observability", "random"])
        return roles  # type: ignore[return-value]
    ranks = one_per_agent("roles", roles, agents, whole(0, agents - 1))
    if sorted(ranks) != list(range(agents)):
        raise InvalidInput(f"roles is {shown(ranks)}; each rank from 0 (the leader) to {agents - 1} is needed once.")
    return ranks
