"""Our agents as policies of a PettingZoo environment that is a bandit: simultaneous actions, no state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from cobandit.agents.base import Agent
from cobandit.agents.lookup import make_agent
from cobandit.base.checks import MOST, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.streams import checked_seed
from cobandit.engine.partner import Partner
from cobandit.problem import Problem
from cobandit.problem.observation import ObservationName
from cobandit.problem.problem import ActionsName

require_extras("Playing in a PettingZoo environment", pettingzoo=True)

from gymnasium import spaces  # noqa: E402

Policy = Callable[[Any], int]
"""Any other policy: a function from observation to action."""


class TeamPolicy:
    """Agents in some or all seats of a ``pettingzoo.ParallelEnv`` whose actions are arms.

    ``agents`` has an agent, or the name of a registered one, for each seat that our agents play. ``horizon`` is T, for
    agents that use it to plan. The first agent in ``env.possible_agents`` leads, unless ``ranks`` says otherwise (0
    leads). An agent takes its reward of the environment as its observation, or ``seen`` of its info, if present.
    ``binary`` says whether rewards are all 0 or 1; by default they need not be. ``observation`` names the observation
    model; if an info may have ``seen`` as None, it must be ``"missed-known"``. With ``actions="hidden"`` no agent gets
    the arms of the others.

        policy = TeamPolicy(env, {"agent_0": "partner-aware-ucb", "agent_1": "partner-aware-ucb"}, horizon=1000)
    """

    def __init__(
        self,
        env: Any,
        agents: Mapping[str, Agent | str],
        horizon: int,
        *,
        ranks: Any = None,
        binary: bool = False,
        observation: ObservationName = "missed",
        actions: ActionsName = "observed",
        seed: int | None = None,
    ) -> None:
        self.names: tuple[str, ...] = tuple(env.possible_agents)
        if not isinstance(agents, Mapping) or not agents or not set(agents) <= set(self.names):
            raise InvalidInput(
                f"agents is {short_repr(agents)}; a dict with an agent for one or more of {', '.join(self.names)} "
                "is needed."
            )
        self._agents: dict[str, Any] = {
            name: make_agent(kind) if isinstance(kind, str) else kind for name, kind in agents.items()
        }
        self._first = {name: int(_discrete(env, name).start) for name in self.names}
        arms = tuple(int(_discrete(env, name).n) for name in self.names)
        if len(arms) < 2:
            raise InvalidInput(f"The environment has {len(arms)} agent; a team has at least 2.")
        roles = tuple(range(len(arms))) if ranks is None else ranks
        self._setting: dict[str, Any] = {
            "arms": arms,
            "horizon": whole(1, MOST)("horizon", horizon),
            "roles": roles,
            "binary": bool(binary),
            "observation": observation,
            "actions": actions,
            "seed": checked_seed(seed),
        }
        self.reset()

    @classmethod
    def for_problem(cls, env: Any, agents: Mapping[str, Agent | str], *, seed: int | None = None) -> TeamPolicy:
        """Create policies for a `TeamEnv` that has been reset; it provides horizon, roles and kind of rewards.

        With the seed of the environment they play, together, exactly the rounds of a simulation.
        """
        problem: Problem = env.unwrapped.problem
        # Observation models of other people may show nothing, too.
        names: dict[str, ObservationName] = {name: name for name in get_args(ObservationName)}
        return cls(
            env,
            agents,
            env.unwrapped.horizon,
            ranks=env.unwrapped.ranks,
            binary=problem.binary,
            observation=names.get(problem.observation.name, "missed-known"),
            actions=problem.actions,
            seed=seed,
        )

    def reset(self) -> None:
        """Forget everything and get ready for a new run."""
        self._partners = {
            name: Partner(agent, seat=self.names.index(name), **self._setting) for name, agent in self._agents.items()
        }

    def act(self) -> dict[str, int]:
        """Return the actions of this round: the same until `observe`."""
        return {name: partner.choose() + self._first[name] for name, partner in self._partners.items()}

    def observe(
        self,
        actions: Mapping[str, int],
        rewards: Mapping[str, float],
        infos: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Learn from a round: all actions, and the rewards and infos of the environment."""
        missing = [name for name in self.names if name not in actions]
        if missing:
            raise InvalidInput(f"actions has no arm of {', '.join(missing)}; in a bandit team all act in every round.")
        arms = [int(actions[name]) - self._first[name] for name in self.names]
        for name, partner in self._partners.items():
            info = (infos or {}).get(name, {})
            partner.observe(arms, info["seen"] if "seen" in info else float(rewards[name]))


@dataclass(frozen=True, eq=False)
class Play:
    """An episode: the arms and rewards of all agents, rounds x agents, in the order of ``agents``."""

    agents: tuple[str, ...]
    actions: NDArray[np.int64] = field(repr=False)
    rewards: NDArray[np.float64] = field(repr=False)

    @property
    def rounds(self) -> int:
        """How many were played."""
        return len(self.actions)


def play_env(
    env: Any,
    policy: TeamPolicy,
    others: Mapping[str, Policy] | None = None,
    *,
    seed: int | None = None,
    rounds: int = MOST,
) -> Play:
    """Play an episode of a ``pettingzoo.ParallelEnv``, up to ``rounds`` rounds.

    ``policy`` plays its seats; ``others`` has another policy, a function of the observation, for each other seat.
    """
    strangers = dict(others or {})
    limit = whole(1, MOST)("rounds", rounds)
    observations, _ = env.reset(seed=seed)
    names = tuple(env.possible_agents)
    missing = sorted(set(names) - set(strangers) - set(policy.act()))
    if missing:
        raise InvalidInput(f"No policy plays {', '.join(missing)}; give others={{{missing[0]!r}: ...}}, a function.")
    actions: list[list[int]] = []
    rewards: list[list[float]] = []
    while env.agents and len(actions) < limit:
        moves = policy.act() | {name: int(choose(observations[name])) for name, choose in strangers.items()}
        observations, paid, _, _, infos = env.step(moves)
        policy.observe(moves, paid, infos)
        actions.append([moves[name] for name in names])
        rewards.append([float(paid[name]) for name in names])
    shape = (len(actions), len(names))
    return Play(names, np.array(actions, dtype=np.int64).reshape(shape), np.array(rewards).reshape(shape))


def _discrete(env: Any, name: str) -> Any:
    space = env.action_space(name)
    if not isinstance(space, spaces.Discrete):
        raise InvalidInput(f"The actions of {name} are {short_repr(space)}; arms are needed, a Discrete space.")
    return space
