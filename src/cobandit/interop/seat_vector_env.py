"""Many parallel copies of one seat of a team, with compiled partners, for training a learner."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cobandit.agents import TeamLike
from cobandit.agents.team import Team
from cobandit.base.checks import MOST, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.engine.choice import engine_for
from cobandit.engine.match import OpenMatch
from cobandit.interop.games import (
    Luck,
    RewardName,
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

from gymnasium import spaces  # noqa: E402
from gymnasium.vector import AutoresetMode, VectorEnv  # noqa: E402
from gymnasium.vector.utils import batch_space  # noqa: E402

Round = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
Step = tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]

MOST_COPIES = 2**20


class Games(Protocol):
    """Games side by side, all in the same round."""

    def begin(self, seed: int, first_run: int) -> None:
        """Begin a run of each."""

    def play(self, moves: NDArray[np.int64]) -> Round:
        """Play one round of each copy: arms, observations, rewards, task regret."""


class _PlainGames:
    """The same by the reference engine: for agents and models that have no compiled form."""

    def __init__(self, env: SeatVectorEnv) -> None:
        self._env = env
        self._matches: list[OpenMatch] = []

    def begin(self, seed: int, first_run: int) -> None:
        env = self._env
        self._matches = [
            OpenMatch(env.problem, partners_of(env.problem, env.team, env.seat), env.horizon, seed, first_run + copy)
            for copy in range(env.num_envs)
        ]

    def play(self, moves: NDArray[np.int64]) -> Round:
        rounds = [match.play({self._env.seat: int(move)}) for match, move in zip(self._matches, moves, strict=True)]
        return (
            np.array([arms for arms, _ in rounds]),
            np.concatenate([seen_row(outcome.seen) for _, outcome in rounds]),
            np.array([outcome.reward for _, outcome in rounds]),
            np.array([outcome.round_regret for _, outcome in rounds]),
        )


class SeatVectorEnv(VectorEnv[NDArray[np.float32], NDArray[np.int64], NDArray[Any]]):
    """``num_envs`` copies of a `SeatEnv`, played by one call.

    The partners play compiled where numba is installed and everything has a compiled form, else by the reference
    engine; ``engine`` asks for one of them, and `engine` and `engine_reason` say which it is. Copy c plays, after
    ``reset(seed=s)``, run c of seed s, and with each further episode the run ``num_envs`` later. All copies end
    together; the step after that begins the next runs, whatever the actions (Gymnasium's mode *next step*).
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012  # as Gymnasium declares it

    def __init__(
        self,
        problem: Problem,
        team: TeamLike,
        seat: int,
        horizon: int,
        num_envs: int,
        *,
        observation: ViewName = "statistics",
        reward: RewardName = "seen",
        engine: str = "auto",
    ) -> None:
        self.problem = checked_problem(problem)
        self.team = Team.from_any(team)
        partners = partners_of(problem, self.team, seat)
        self.seat = int(seat)
        self.horizon = int(whole(1, MOST)("horizon", horizon))
        self.num_envs = int(whole(1, MOST_COPIES)("num_envs", num_envs))
        self.reward = checked_reward(reward)
        self._view = make_view(observation, problem, self.horizon, self.seat, self.num_envs)
        self.single_observation_space = spaces.Box(*self._view.bounds(), dtype=np.float32)
        self.single_action_space = spaces.Discrete(problem.arms[self.seat])
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

        def prepare() -> Games:
            from cobandit.engine.fast.copies import Copies

            return Copies(problem, partners, self.horizon, self.num_envs)

        # Many copies are made to play many episodes: the fast engine is worth loading.
        self.engine, self.engine_reason, copies = engine_for(engine, prepare, MOST)
        self._games: Games = _PlainGames(self) if copies is None else copies
        self._luck = Luck(self.num_envs)
        self._rounds: int | None = None

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a run of every copy; ``seed`` is one number for all, ``options`` has no meaning here."""
        if isinstance(seed, (list, tuple, np.ndarray)):
            raise InvalidInput(f"seed must be one number, got {short_repr(seed)}. Copy c plays run c of that seed.")
        super().reset(seed=seed)
        self._begin(seed)
        return self._view.numbers(), {}

    def step(self, actions: NDArray[np.int64]) -> Step:
        """Play one round of every copy, or begin the next runs if the round before was the last."""
        if self._rounds is None:
            raise InvalidInput("The environment was never reset; call reset(seed=...) first.")
        moves = self._checked_moves(actions)
        nothing = np.zeros(self.num_envs, dtype=np.bool_)
        if self._rounds == self.horizon:
            self._begin(None)
            return self._view.numbers(), np.zeros(self.num_envs), nothing, nothing.copy(), {}
        arms, seen, rewards, lost = self._games.play(moves)
        self._rounds += 1
        self._view.add(arms, seen[:, self.seat])
        pay = paid(self.reward, self.seat, self.problem.weights, seen, rewards)
        everybody = ~nothing
        info = {
            "arms": observed_arms(self.problem, self.seat, arms),
            "_arms": everybody,
            "seen": seen[:, self.seat].copy(),
            "_seen": everybody,
            "round_regret": lost.copy(),
            "_round_regret": everybody,
        }
        return self._view.numbers(), pay, nothing, np.full(self.num_envs, self._rounds == self.horizon), info

    def _begin(self, seed: int | None) -> None:
        self._games.begin(*self._luck.next(seed))
        self._view.start()
        self._rounds = 0

    def _checked_moves(self, actions: Any) -> NDArray[np.int64]:
        arms = self.problem.arms[self.seat]
        moves = np.asarray(actions)
        if moves.shape != (self.num_envs,) or moves.dtype.kind not in "iu" or moves.min() < 0 or moves.max() >= arms:
            raise InvalidInput(
                f"actions is {short_repr(actions)}; an array of {self.num_envs:,} integers from 0 to {arms - 1} "
                "is needed, an arm for each copy."
            )
        return np.ascontiguousarray(moves, dtype=np.int64)
