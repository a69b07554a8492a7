"""Any problem as a PettingZoo environment, a `ParallelEnv`: all agents act simultaneously. Paper: Problem Setting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import MOST, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.engine.match import OpenMatch
from cobandit.interop.games import (
    Luck,
    RewardName,
    checked_move,
    checked_problem,
    checked_reward,
    observed_arms,
    paid,
    seen_row,
)
from cobandit.interop.views import ViewName, make_view
from cobandit.problem import Problem

require_extras("A PettingZoo environment", pettingzoo=True)

from gymnasium import spaces  # noqa: E402
from pettingzoo import ParallelEnv  # noqa: E402

Observation = NDArray[np.float32]


class TeamEnv(ParallelEnv[str, Observation, int]):  # type: ignore[misc]  # PettingZoo carries no types
    """A problem as an environment for any agents.

    ``horizon`` is T; after T rounds the episode is truncated. ``observation`` selects what agents observe:
    ``"statistics"`` (count and mean seen reward of each team action, then the latest round) or ``"round"`` (only the
    latest round). ``reward`` selects each agent's reward: ``"seen"``, its own seen reward, ``"team"``, the weighted
    mean of all seen rewards, or ``"task"``, the reward itself. An info has all ``arms``, the agent's ``seen`` reward
    (None: it knows that it saw nothing) and the ``round_regret``, which no agent could know. If the problem hides
    actions, observations and ``arms`` contain the agent's own arms alone: the others are 0 and -1.

    ``reset(seed=s)`` begins run 0 of seed s, with the random numbers of `simulate`; every further ``reset()`` the next
    run.
    """

    metadata: ClassVar[dict[str, Any]] = {"name": "cobandit_team_v0", "render_modes": [], "is_parallelizable": True}
    render_mode = None

    def __init__(
        self, problem: Problem, horizon: int, *, observation: ViewName = "statistics", reward: RewardName = "seen"
    ) -> None:
        self.problem = checked_problem(problem)
        self.horizon = int(whole(1, MOST)("horizon", horizon))
        self.reward = checked_reward(reward)
        self.possible_agents = [f"agent_{i}" for i in range(problem.agents)]
        self.agents: list[str] = []
        self._views = [make_view(observation, problem, self.horizon, i) for i in range(problem.agents)]
        self.observation_spaces = {
            name: spaces.Box(*view.bounds(), dtype=np.float32)
            for name, view in zip(self.possible_agents, self._views, strict=True)
        }
        self.action_spaces = {
            name: spaces.Discrete(size) for name, size in zip(self.possible_agents, problem.arms, strict=True)
        }
        self._luck = Luck()
        self._match: OpenMatch | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the arms of an agent."""
        return self.action_spaces[agent]

    @property
    def ranks(self) -> tuple[int, ...]:
        """Every agent's rank in the run under way; 0 leads."""
        return self._started().environment.instance.ranks

    @property
    def means(self) -> NDArray[np.float64]:
        """The means of the run under way, which no agent may know."""
        return self._started().environment.means.copy()

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Begin a run; ``options`` has no meaning here."""
        nobody = [None] * self.problem.agents
        self._match = OpenMatch(self.problem, nobody, self.horizon, *self._luck.next(seed))
        self.agents = self.possible_agents[:]
        for view in self._views:
            view.start()
        return self._observations(), {name: {} for name in self.agents}

    def step(
        self, actions: Mapping[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play one round: an arm for every agent."""
        match = self._started()
        if not self.agents:
            if actions:
                raise InvalidInput(f"The run ended after its {self.horizon:,} rounds; call reset() for another one.")
            return {}, {}, {}, {}, {}
        if not isinstance(actions, Mapping) or set(actions) != set(self.agents):
            raise InvalidInput(
                f"actions must be an arm for each of {', '.join(self.agents)}, got {short_repr(actions)}."
            )
        given = {
            i: checked_move(f"actions[{name!r}]", actions[name], self.problem.arms[i])
            for i, name in enumerate(self.agents)
        }
        action, outcome = match.play(given)
        seen, arms = seen_row(outcome.seen), np.array([action])
        names = self.agents
        rewards = {}
        for i, name in enumerate(names):
            self._views[i].add(arms, seen[:, i])
            pay = paid(self.reward, i, self.problem.weights, seen, np.array([outcome.reward]))
            rewards[name] = float(pay[0])
        infos = {
            name: {
                "arms": observed_arms(self.problem, i, arms[0]),
                "seen": outcome.seen[i],
                "round_regret": outcome.round_regret,
            }
            for i, name in enumerate(names)
        }
        ended = match.environment.round > self.horizon
        observations = self._observations()
        self.agents = [] if ended else names
        return observations, rewards, dict.fromkeys(names, False), dict.fromkeys(names, ended), infos

    def state(self) -> Observation:
        """Return the observations of all agents together."""
        return np.concatenate([view.numbers()[0] for view in self._views])

    def render(self) -> None:
        """Do nothing: there is no rendering."""

    def close(self) -> None:
        """Do nothing: no resources are open."""

    def _observations(self) -> dict[str, Observation]:
        return {name: view.numbers()[0] for name, view in zip(self.possible_agents, self._views, strict=True)}

    def _started(self) -> OpenMatch:
        if self._match is None:
            raise InvalidInput("The environment was never reset; call reset(seed=...) first.")
        return self._match
