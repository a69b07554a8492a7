"""One seat of a team as a Gymnasium environment, with the partners inside. Paper: Alg. 1 and 2 in the other seats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import TeamLike
from cobandit.agents.team import Team
from cobandit.base.checks import MOST, whole
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
    partners_of,
    seen_row,
)
from cobandit.interop.views import ViewName, make_view
from cobandit.problem import Problem

require_extras("A Gymnasium environment", gymnasium=True)

import gymnasium  # noqa: E402
from gymnasium import spaces  # noqa: E402


class SeatEnv(gymnasium.Env[NDArray[np.float32], int]):
    """A learner in one seat of a team; its partners play in the other seats.

    ``team`` is a whole team; its agent in ``seat`` is left out. ``observation`` and ``reward`` are those of `TeamEnv`;
    by default a learner gets the team reward. An info has all ``arms`` (-1: hidden), the learner's ``seen`` reward
    (None: it knows that it saw nothing) and the ``round_regret``. After ``horizon`` rounds the episode is truncated.

    ``reset(seed=s)`` begins run 0 of seed s, with the random numbers of `simulate`; every further ``reset()`` the next
    run.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012  # as Gymnasium declares it

    def __init__(
        self,
        problem: Problem,
        team: TeamLike,
        seat: int,
        horizon: int,
        *,
        observation: ViewName = "statistics",
        reward: RewardName = "seen",
    ) -> None:
        self.problem = checked_problem(problem)
        self.team = Team.from_any(team)
        partners_of(problem, self.team, seat)
        self.seat = int(seat)
        self.horizon = int(whole(1, MOST)("horizon", horizon))
        self.reward = checked_reward(reward)
        self._view = make_view(observation, problem, self.horizon, self.seat)
        low, high = self._view.bounds()
        self.observation_space = spaces.Box(low, high, dtype=np.float32)
        self.action_space: Any = spaces.Discrete(problem.arms[self.seat])
        self._luck = Luck()
        self._match: OpenMatch | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a run; ``options`` has no meaning here."""
        super().reset(seed=seed)
        partners = partners_of(self.problem, self.team, self.seat)
        self._match = OpenMatch(self.problem, partners, self.horizon, *self._luck.next(seed))
        self._view.start()
        return self._view.numbers()[0], {}

    def step(self, action: int) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Play one round with this arm."""
        if self._match is None:
            raise InvalidInput("The environment was never reset; call reset(seed=...) first.")
        if self._match.environment.round > self.horizon:
            raise InvalidInput(f"The run ended after its {self.horizon:,} rounds; call reset() for another one.")
        move = checked_move("action", action, self.problem.arms[self.seat])
        arms, outcome = self._match.play({self.seat: move})
        seen, row = seen_row(outcome.seen), np.array([arms])
        self._view.add(row, seen[:, self.seat])
        pay = paid(self.reward, self.seat, self.problem.weights, seen, np.array([outcome.reward]))
        ended = self._match.environment.round > self.horizon
        observed = observed_arms(self.problem, self.seat, row[0])
        info = {"arms": observed, "seen": outcome.seen[self.seat], "round_regret": outcome.round_regret}
        return self._view.numbers()[0], float(pay[0]), False, ended, info
