"""A team's Markov decision problem as one frozen noun (Conclusion: future work).

Episodes of H steps. States, team actions and transitions are public; agent i sees each step's reward through its own
observation model, as in the bandit. With one state and one step an episode is a round of the bandit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np

from cobandit.base.checks import MOST, is_list, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.mdp.dynamics import Dynamics, GivenDynamics, checked_size, drawn_world, plain_dynamics
from cobandit.mdp.library import DYNAMICS
from cobandit.mdp.planning import Values, World, optimal_values
from cobandit.problem import Bernoulli, Gaussian, Observation, Problem, RandomMeans, Reward, accept
from cobandit.problem.described import classes_by_name, described_model
from cobandit.problem.means import LARGEST_MEAN, Tensor, checked_arms
from cobandit.problem.observation import OBSERVATIONS, ObservationName
from cobandit.problem.problem import Roles, make_observation

REWARDS: dict[str, type[Bernoulli] | type[Gaussian]] = {"bernoulli": Bernoulli, "gaussian": Gaussian}
KEYS = ("dynamics", "reward", "observation", "weights", "roles", "ceiling")


@dataclass(frozen=True, eq=False)
class Instance:
    """One run's world, what is optimal in it, the spreads of its rewards, and the agents' ranks."""

    world: World
    values: Values
    spreads: Tensor | None
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class MarkovProblem:
    """Episodes of a team of N >= 2 agents through the states of a Markov decision process.

    Created by `MarkovProblem.of` from arrays, by `make_problem` from a name, by `load_problem` from a file. ``reward``,
    ``observation``, ``weights`` and ``roles`` are those of the bandit's `Problem`. ``ceiling`` is an upper bound on all
    means; the agents know it and use it to limit their optimism.
    """

    dynamics: Dynamics
    reward: Reward = field(default_factory=Bernoulli)
    observation: Observation = field(kw_only=True)
    weights: tuple[float, ...] = ()
    roles: Roles = "observability"
    ceiling: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.dynamics, Dynamics):
            raise InvalidInput(
                f"dynamics is {short_repr(self.dynamics)}; a cobandit.mdp.Dynamics is needed. "
                "MarkovProblem.of takes arrays, cobandit.mdp.make_problem a name."
            )
        checked_arms(self.dynamics.arms)
        states = whole(1, MOST)("states", self.dynamics.states)
        whole(1, MOST)("steps", self.dynamics.steps)
        checked_size(states, self.cells)
        highest = 1.0 if accept.accept_reward(self.reward).binary else LARGEST_MEAN
        if hasattr(self.reward, "shock"):
            raise InvalidInput(
                f"reward must not depend on the previous round, got {short_repr(self.reward)}. "
                "Such rewards are for bandits."
            )
        object.__setattr__(self, "ceiling", real(0.0, highest, above=True)("ceiling", self.ceiling))
        values = getattr(self.reward, "values", None)
        if values is not None and len(values) != states * self.cells:
            raise InvalidInput(
                f"The reward has {len(values)} spreads; {states} states x {self.cells} team actions need as many."
            )
        object.__setattr__(self, "weights", self.seats.weights)
        object.__setattr__(self, "roles", self.seats.roles)
        if self.roles == "elected":
            raise InvalidInput("roles is 'elected'; only teams of bandits elect. Give the ranks, or take 'random'.")
        if isinstance(self.dynamics, GivenDynamics) and max(self.dynamics.means) > self.ceiling:
            raise InvalidInput(
                f"means holds {max(self.dynamics.means):g}; none above the ceiling, {self.ceiling:g}, is possible."
            )
        if isinstance(self.dynamics, GivenDynamics) and min(self.dynamics.means) < self._lowest:
            raise InvalidInput(f"means holds {min(self.dynamics.means):g}; Bernoulli rewards need means of at least 0.")

    @classmethod
    def of(
        cls,
        transitions: Any,
        means: Any,
        steps: int,
        *,
        start: Any = None,
        observability: Sequence[float] | None = None,
        observation: ObservationName | Observation = "missed",
        noise: Sequence[float] | None = None,
        reward: Reward | None = None,
        weights: Sequence[float] = (),
        roles: Any = "observability",
        ceiling: float = 1.0,
    ) -> MarkovProblem:
        """Create a problem from arrays: ``transitions[s, a_1, .., a_N, z]``, ``means[s, a_1, .., a_N]``, ``start[s]``
        (default: state 0).

        ``steps`` is H. Observation is described as in `Problem.bernoulli`; by default all agents see every reward.
        """
        dynamics = GivenDynamics.of(transitions, means, steps, start)
        seen = make_observation(observation, observability, noise, len(dynamics.arms))
        model = Bernoulli() if reward is None else reward
        return cls(dynamics, model, observation=seen, weights=_tuple(weights), roles=roles, ceiling=ceiling)

    @cached_property
    def seats(self) -> Problem:
        """The seats without the states: a bandit with the same arms, sight, weights and roles."""
        reward = Gaussian() if isinstance(self.reward, Gaussian) else self.reward
        return Problem(RandomMeans(self.arms), reward, self.observation, self.weights, self.roles)

    @property
    def arms(self) -> tuple[int, ...]:
        """|A_i| for each agent."""
        return self.dynamics.arms

    @property
    def agents(self) -> int:
        """N."""
        return len(self.arms)

    @property
    def cells(self) -> int:
        """The number of team actions, |A|."""
        return math.prod(self.arms)

    @property
    def states(self) -> int:
        """S."""
        return self.dynamics.states

    @property
    def steps(self) -> int:
        """H, the steps of an episode."""
        return self.dynamics.steps

    @property
    def binary(self) -> bool:
        """Whether all that the agents see is 0 or 1."""
        return self.seats.binary

    @property
    def steady_sight(self) -> bool:
        """Whether team regret is known to be a multiple of task regret: all of our own observation models."""
        return self.seats.steady_sight

    @property
    def team_factor(self) -> float:
        """What a unit of task regret costs in team regret: mean(p_i) under *missed* observation with equal weights."""
        return self.seats.team_factor

    @property
    def best_observer(self) -> int:
        """The agent that observes best; the first one of equals."""
        return self.seats.best_observer

    @property
    def custom_models(self) -> tuple[str, ...]:
        """The classes of rewards and observation that are not ours; only the plain engine can play them."""
        return tuple(type(model).__name__ for model in (self.reward, self.observation) if not accept.is_shipped(model))

    @property
    def _lowest(self) -> float:
        return 0.0 if self.reward.binary else -LARGEST_MEAN

    @property
    def draws_roles(self) -> bool:
        """Whether the agents' observability is unknown before a run."""
        return self.seats.draws_roles

    def known_ranks(self) -> tuple[int, ...]:
        """Return each agent's rank, where it does not depend on the run."""
        return self.seats.known_ranks()

    def instance(self, rng: np.random.Generator) -> Instance:
        """Draw the world, spreads and roles of one run from its set-up stream."""
        world = drawn_world(self.dynamics, rng, self._lowest, self.ceiling)
        spreads = accept.drawn_spreads(
            self.reward, (self.states, *self.arms), self.reward.spreads((self.states, *self.arms), rng)
        )
        flat = None if spreads is None else np.reshape(spreads, (self.states, self.cells))
        return Instance(world, optimal_values(world, self.steps), flat, self.seats.draw_ranks(rng))

    def describe(self) -> dict[str, Any]:
        """Return the problem as plain data (for provenance and JSON)."""
        return {
            "dynamics": plain_dynamics(self.dynamics),
            "reward": {"name": self.reward.name, **accept.plain_fields(self.reward)},
            "observation": {"name": self.observation.name, **accept.plain_fields(self.observation)},
            "weights": list(self.weights),
            "roles": list(self.roles) if isinstance(self.roles, tuple) else self.roles,
            "ceiling": self.ceiling,
        }

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], own: Iterable[type] = ()) -> MarkovProblem:
        """Create the problem from the result of `describe`, also after JSON; ``own`` as in `Problem.from_dict`."""
        if not isinstance(description, Mapping):
            raise InvalidInput(f"The description of a problem must be a dict, got {short_repr(description)}.")
        for key in description:
            if key not in KEYS:
                raise UnknownName("part of a Markov problem called", key, KEYS)
        missing = [key for key in KEYS[:3] if key not in description]
        if missing:
            raise InvalidInput(f"The description of a Markov problem lacks {missing[0]!r}.")
        classes = classes_by_name(own)
        roles = description.get("roles", "observability")
        return cls(
            described_model("dynamics", description["dynamics"], classes, {**DYNAMICS, "given": GivenDynamics}),
            described_model("reward", description["reward"], classes, REWARDS),
            observation=described_model("observation", description["observation"], classes, OBSERVATIONS),
            weights=_tuple(description.get("weights", ())),
            roles=_tuple(roles) if is_list(roles) else roles,
            ceiling=description.get("ceiling", 1.0),
        )


def make_problem(
    name: str,
    *,
    observability: Sequence[float] | None = None,
    observation: ObservationName | Observation = "missed",
    noise: Sequence[float] | None = None,
    reward: Reward | None = None,
    weights: Sequence[float] = (),
    roles: Any = "observability",
    **options: Any,
) -> MarkovProblem:
    """Return a problem of the library by its name, with its options: ``make_problem("burger-line", steps=3)``.

    By default agent 0 sees every reward and all others half of them.
    """
    if not isinstance(name, str) or name not in DYNAMICS:
        raise UnknownName("Markov problem", name, DYNAMICS)
    kind = DYNAMICS[name]
    known = [spec.name for spec in fields(kind) if spec.init]
    for key in options:
        if key not in known:
            raise UnknownName(f"option of {name} called", key, known)
    dynamics = kind(**{key: _tuple(value) for key, value in options.items()})
    agents = len(dynamics.arms)
    if observability is None and noise is None and observation == "missed":
        observability = (1.0, *(0.5,) * (agents - 1))
    seen = make_observation(observation, observability, noise, agents)
    return MarkovProblem(
        dynamics, Bernoulli() if reward is None else reward, observation=seen, weights=_tuple(weights), roles=roles
    )


def _tuple(values: Any) -> Any:
    return tuple(values) if isinstance(values, (list, np.ndarray)) else values
