"""The problem as one frozen noun, and one run's instance of it. Paper: Problem Setting."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from cobandit.base.checks import is_list, one_of, one_per_agent, real, short_repr, whole
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.base.html import html_table
from cobandit.problem import accept
from cobandit.problem.described import described_fields
from cobandit.problem.drifting import DRIFTING
from cobandit.problem.labels import Labels, draw_labels, shuffled, to_agents
from cobandit.problem.means import LARGEST_MEAN, FixedMeans, Means, RandomMeans, Tensor, checked_arms
from cobandit.problem.named import named_means
from cobandit.problem.observation import OBSERVATIONS, Observation, ObservationName
from cobandit.problem.rewards import Bernoulli, Gaussian, Reward

Roles = Literal["observability", "random", "elected"] | tuple[int, ...]
ROLE_RULES = ("observability", "random", "elected")

ActionsName = Literal["observed", "hidden"]
ACTIONS = ("observed", "hidden")
"""Whether agents observe their partners' arms."""

LONGEST_DELAY = 10**6
"""The largest delay, because the rounds that wait are stored in memory."""


@dataclass(frozen=True)
class Instance:
    """What nature fixed for one run: the means (of round 1, where they change), the spreads and the agents' ranks.

    In a run of a relabelled problem means and spreads are in the agents' labels, and ``labels[i][k]`` is the problem's
    arm behind agent i's arm k; None where the labels are the problem's own.
    """

    means: Tensor
    spreads: Tensor | None
    ranks: tuple[int, ...]
    labels: Labels | None = None

    def relabelled(self, labels: Labels) -> Instance:
        """Return the same instance as agents with these labels meet it."""
        spreads = None if self.spreads is None else to_agents(self.spreads, labels)
        return replace(self, means=to_agents(self.means, labels), spreads=spreads, labels=labels)

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

    Created by `Problem.bernoulli` or `Problem.gaussian`, or by `Problem.of` for user-defined models. ``weights``
    (non-negative, one per agent, equal by default) combine the observed rewards to the team reward. ``roles`` is
    ``"observability"`` (the better observer has the higher rank; ties: the lower index), ``"random"`` (unknown
    observability; drawn for each run), ``"elected"`` (unknown observability; the team elects the best observer in the
    first rounds) or a tuple with each agent's rank, 0 for the leader. ``delay`` is the feedback delay in rounds: after
    round t the agents learn the team action and their observations of round t - delay, and during the first ``delay``
    rounds nothing. Regret is counted when a round is played. ``relabel`` permutes each agent's arms at random in every
    run (`relabelled`). ``actions`` is ``"observed"``, or ``"hidden"`` if agents never learn the arms of their partners:
    each of them then knows only its own arm and its observation of the reward.
    """

    means: Means
    reward: Reward
    observation: Observation
    weights: tuple[float, ...] = field(default=())
    roles: Roles = "observability"
    delay: int = 0
    relabel: bool = False
    actions: ActionsName = "observed"

    def __post_init__(self) -> None:
        means, reward = accept.accept_means(self.means), accept.accept_reward(self.reward)
        agents = len(means.arms)
        accept.accept_observation(self.observation, agents)
        accept.accept_bounds(means, reward)
        if isinstance(reward, Gaussian) and reward.values is not None and len(reward.values) != math.prod(means.arms):
            raise InvalidInput(
                f"{type(reward).__name__} has {len(reward.values)} spreads; "
                f"there are {math.prod(means.arms)} team actions, and one spread for each is needed."
            )
        equal = isinstance(self.weights, tuple) and not self.weights
        weights = (1.0 / agents,) * agents if equal else self.weights
        object.__setattr__(self, "weights", one_per_agent("weights", weights, agents, real(0.0, 1e6)))
        if not sum(self.weights) > 0.0:
            raise InvalidInput(f"weights must be at least one weight above 0, got {short_repr(self.weights)}.")
        object.__setattr__(self, "roles", checked_roles(self.roles, agents))
        object.__setattr__(self, "delay", whole(0, LONGEST_DELAY)("delay", self.delay))
        if not isinstance(self.relabel, bool):
            raise InvalidInput(f"relabel must be True or False, got {short_repr(self.relabel)}.")
        one_of(ACTIONS)("actions", self.actions)
        if self.hides_actions and self.roles == "elected":
            raise InvalidInput(
                "roles is 'elected', but actions is 'hidden': agents elect their leader by arms that all of them "
                "observe. Use roles='random', or give the ranks."
            )

    @classmethod
    def of(
        cls,
        means: ArrayLike | Means,
        reward: Reward,
        observation: ObservationName | Observation = "missed",
        *,
        observability: Sequence[float] | None = None,
        noise: Sequence[float] | None = None,
        arms: Sequence[int] | None = None,
        weights: Sequence[float] = (),
        roles: Roles | Sequence[int] = "observability",
        delay: int = 0,
        actions: ActionsName = "observed",
    ) -> Problem:
        """Create a problem from any models, also user-defined ones.

        ``means`` is a nested list, a name with ``arms`` (``"random"``, ``"local-optima"``), or a `Means`; ``reward`` a
        `Reward`; ``observation`` an `Observation`, or the name of a shipped one with ``observability`` or ``noise``.
        """
        checked = _means(means, arms)
        seen = make_observation(observation, observability, noise, len(checked.arms))
        shares = _listed(weights)
        return cls(checked, reward, seen, shares, roles, delay, actions=actions)  # type: ignore[arg-type]  # checked there

    @classmethod
    def bernoulli(
        cls,
        means: ArrayLike | Means = "random",
        observability: Sequence[float] | None = None,
        *,
        arms: Sequence[int] | None = None,
        observation: ObservationName | Observation = "missed",
        noise: Sequence[float] | None = None,
        weights: Sequence[float] = (),
        roles: Roles | Sequence[int] = "observability",
        delay: int = 0,
        actions: ActionsName = "observed",
    ) -> Problem:
        """Bernoulli rewards: ``means`` a nested list in [0, 1], ``"random"`` with ``arms``, or a `Means`.

        ``observation`` is ``missed``, ``missed-known`` or ``flipped`` with ``observability`` (the chance of
        seeing the reward itself, default 1 for all), ``noisy`` with ``noise``, or an `Observation`.
        """
        return cls.of(
            means,
            Bernoulli(),
            observation,
            observability=observability,
            noise=noise,
            arms=arms,
            weights=weights,
            roles=roles,
            delay=delay,
            actions=actions,
        )

    @classmethod
    def gaussian(
        cls,
        means: ArrayLike | Means = "random",
        noise: Sequence[float] | None = None,
        *,
        sd: ArrayLike = (0.1, 0.5),
        arms: Sequence[int] | None = None,
        observation: ObservationName | Observation = "noisy",
        observability: Sequence[float] | None = None,
        weights: Sequence[float] = (),
        roles: Roles | Sequence[int] = "observability",
        delay: int = 0,
        actions: ActionsName = "observed",
    ) -> Problem:
        """Gaussian rewards N(mu_a, s_a^2): ``sd`` one number, a pair to draw each s_a from, or an array.

        By default agent i sees the reward plus noise of standard deviation ``noise[i]``.
        """
        checked = _means(means, arms)
        return cls.of(
            checked,
            Gaussian.of(sd, checked.arms),
            observation,
            observability=observability,
            noise=noise,
            weights=weights,
            roles=roles,
            delay=delay,
            actions=actions,
        )

    def relabelled(self) -> Problem:
        """Return the same problem with each agent's arms in a random order, drawn for each run.

        No agent can then gain by preferring its first arms, for instance if ties go to the lowest index. The orders
        come from a separate random stream, so all other draws stay unchanged, and all teams with one seed get the same
        orders. Trajectories use the agents' labels; `Diagnostics.share` uses the problem's.
        """
        return replace(self, relabel=True)

    def draw_labels(self, rng: np.random.Generator) -> Labels:
        """Draw the labels of one run: ``labels[i][k]`` is the problem's arm behind agent i's arm k."""
        return draw_labels(self.arms, rng)

    @property
    def hides_actions(self) -> bool:
        """Whether agents never learn their partners' arms."""
        return self.actions == "hidden"

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

        Under *missed* observation with equal weights this is mean(p_i). Where sight changes, it is that of round 1.
        """
        return self.team_factor_at(1)

    def team_factor_at(self, t: int) -> float:
        """Return the same in round t."""
        factor = sum(w * self.observation.slope(t, i) for i, w in enumerate(self.weights))
        return factor if self.steady_sight else accept.drawn_number(self.observation, "slope", t, factor, False)

    @property
    def custom_models(self) -> tuple[str, ...]:
        """The classes of its models that are not ours; only the reference engine can play them."""
        models = (self.means, self.reward, self.observation)
        return tuple(type(model).__name__ for model in models if not accept.is_shipped(model))

    @property
    def steady_sight(self) -> bool:
        """Whether `team_factor` is known to be the same in all rounds: all of our own observation models."""
        return accept.is_shipped(self.observation)

    def instance(self, rng: np.random.Generator) -> Instance:
        """Draw the means, spreads and roles of one run from its set-up stream."""
        means = self.draw_means(1, None, rng)
        spreads = accept.drawn_spreads(self.reward, self.arms, self.reward.spreads(self.arms, rng))
        return Instance(means, spreads, self.draw_ranks(rng))

    def draw_means(self, t: int, previous: Tensor | None, rng: np.random.Generator) -> Tensor:
        """Return the means of round t, checked where the model is not ours."""
        before = None if previous is None else previous.copy()  # the model may change it in place
        return accept.drawn_means(self.means, self.reward, t, self.means.draw(t, before, rng))

    def draw_reward(self, t: int, mean: float, spread: float, rng: np.random.Generator) -> float:
        """r*_t(a) of a team action with this mean and spread, checked."""
        reward = self.reward.draw(t, mean, spread, rng)
        return accept.drawn_number(self.reward, "draw", t, reward, self.reward.binary)

    def draw_shock(self, t: int, previous: float, rng: np.random.Generator) -> float | None:
        """Return the shock that all rewards of round t share with those of the previous round, or None if there is
        none.
        """
        shock = getattr(self.reward, "shock", None)
        return None if shock is None else accept.drawn_number(self.reward, "shock", t, shock(t, previous, rng), False)

    def see(self, t: int, agent: int, reward: float, rng: np.random.Generator) -> float | None:
        """Return the agent's observation of round t's reward, after a check."""
        seen = self.observation.see(t, agent, reward, rng)
        return None if seen is None else accept.drawn_number(self.observation, "see", t, seen, self.binary)

    @property
    def best_observer(self) -> int:
        """The agent that observes best; the first one of equals."""
        return max(range(self.agents), key=lambda i: (self.observation.quality(i), -i))

    @property
    def draws_roles(self) -> bool:
        """Whether the ranks are unknown before a run (``"random"``, ``"elected"``)."""
        return self.roles in ("random", "elected")

    def known_ranks(self) -> tuple[int, ...]:
        """Return each agent's rank, where it does not depend on the run (not `draws_roles`)."""
        if isinstance(self.roles, tuple):
            return self.roles
        if self.draws_roles:
            word = "drawn" if self.roles == "random" else "elected"
            raise InvalidInput(f"The roles of this problem are {word} for each run; no ranks are known beforehand.")
        return ranks_of(sorted(range(self.agents), key=lambda i: -self.observation.quality(i)))

    def draw_ranks(self, rng: np.random.Generator) -> tuple[int, ...]:
        """Return each agent's rank in one run. Random numbers are drawn only if the ranks are unknown.

        With elected leaders the drawn ranks are not used, but the random numbers are then the same as with drawn roles.
        """
        if not self.draws_roles:
            return self.known_ranks()
        return ranks_of(shuffled(self.agents, rng))

    def describe(self) -> dict[str, Any]:
        """Return the problem as plain data (for provenance and JSON)."""
        return {
            "arms": list(self.arms),
            "means": self._described_means(),
            "reward": {"name": self.reward.name, **accept.plain_fields(self.reward)},
            "observation": {"name": self.observation.name, **accept.plain_fields(self.observation)},
            "weights": list(self.weights),
            "roles": self.roles,
            **({"delay": self.delay} if self.delay else {}),
            **({"relabel": True} if self.relabel else {}),
            **({"actions": self.actions} if self.hides_actions else {}),
        }

    def _described_means(self) -> object:
        """Return the values of given means; the fields of all others, with a name where they drift."""
        if type(self.means) is FixedMeans:
            return list(self.means.values)
        drifting = next((name for name, kind in DRIFTING.items() if type(self.means) is kind), None)
        return ({} if drifting is None else {"name": drifting}) | accept.plain_fields(self.means)

    def _repr_html_(self) -> str:
        rows = [(key, value) for key, value in self.describe().items()]
        return html_table(f"Problem: {self.agents} agents, {self.cells:,} team actions", ("part", "value"), rows)

    @classmethod
    def from_dict(cls, description: Mapping[str, Any], own: Iterable[type] = ()) -> Problem:
        """Create the problem from the result of `describe`, also after conversion to JSON and back.

        ``own`` contains user-defined classes of models: ``Problem.from_dict(text, own=[PoissonReward])``.
        """
        return cls(**described_fields(description, own))


def _listed(values: object) -> Any:
    return tuple(values) if isinstance(values, (list, np.ndarray)) and is_list(values) else values


def ranks_of(order: list[int]) -> tuple[int, ...]:
    """Return each agent's rank, where ``order`` lists the agents from the leader down."""
    ranks = [0] * len(order)
    for rank, agent in enumerate(order):
        ranks[agent] = rank
    return tuple(ranks)


def _means(means: object, arms: Sequence[int] | None) -> Means:
    if accept.looks_like(means, accept.MEANS):
        checked = accept.accept_means(means)
    elif isinstance(means, str):
        if means == "random":
            return RandomMeans((2, 2) if arms is None else _listed(arms))
        checked = _means(named_means(means, None if arms is None else checked_arms(arms)), None)
    else:
        checked = FixedMeans.of(means)
    if arms is not None and checked_arms(arms) != checked.arms:
        raise InvalidInput(f"arms is {short_repr(arms)}, but the means have shape {checked.arms}; leave arms out.")
    return checked


def make_observation(
    name: object, observability: Sequence[float] | None, noise: Sequence[float] | None, agents: int
) -> Observation:
    """Return the observation model itself, or a shipped one by its name, for ``agents`` agents."""
    if accept.looks_like(name, accept.OBSERVATION):
        for word, given in (("observability", observability), ("noise", noise)):
            if given is not None:
                raise InvalidInput(
                    f"{word} was given, but {short_repr(name)} describes the sight of the agents itself."
                )
        return accept.accept_observation(name, agents)
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


def checked_roles(roles: object, agents: int) -> Roles:
    """Return a rule for the roles, or each agent's rank."""
    if isinstance(roles, str):
        if roles not in ROLE_RULES:
            raise UnknownName("role rule", roles, ROLE_RULES)
        return roles  # type: ignore[return-value]
    ranks = one_per_agent("roles", roles, agents, whole(0, agents - 1))
    if sorted(ranks) != list(range(agents)):
        raise InvalidInput(
            f"roles is {short_repr(ranks)}; each rank from 0 (the leader) to {agents - 1} is needed once."
        )
    return ranks
