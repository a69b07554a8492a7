"""Train a leader by reinforcement learning beside a partner-aware follower, and compare it with ours.

    pip install 'cobandit[fast,gymnasium]' stable-baselines3
    python examples/train_a_leader.py 300000    # rounds of training

Every episode is a new problem with random means. PPO of Stable-Baselines3 learns to lead from the statistics of the
rounds so far; hundreds of copies are played at once by the compiled engine.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

import cobandit as cb
from cobandit.interop import SeatVectorEnv

PROBLEM = cb.Problem.bernoulli("random", observability=[1.0, 0.5])
TEAM = cb.Team.of("partner-aware-ucb", window=1, index="companion")


class Copies(VecEnv):
    """A `SeatVectorEnv` as Stable-Baselines3 wants it: an episode that ends begins anew in the same step."""

    def __init__(self, envs: SeatVectorEnv, seed: int) -> None:
        self.envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self.first_seed = seed

    def reset(self) -> Any:
        return self.envs.reset(seed=self.first_seed)[0]

    def step_async(self, actions: Any) -> None:
        self.actions = actions

    def step_wait(self) -> Any:
        observations, rewards, _, ended, _ = self.envs.step(self.actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if ended.all():
            for info, last in zip(infos, observations, strict=True):
                info |= {"terminal_observation": last, "TimeLimit.truncated": True}
            observations = self.envs.step(self.actions)[0]
        return observations, rewards, ended, infos

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.envs, attr_name, None)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self.envs, attr_name, value)

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        return [getattr(self.envs, method_name)(*method_args, **method_kwargs)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs


def regret_of(model: PPO | None, horizon: int, copies: int, seed: int) -> np.ndarray:
    """Task regret of each run with the trained leader, or with one who picks at random."""
    envs = SeatVectorEnv(PROBLEM, TEAM, 0, horizon, copies, reward="team")
    observations, _ = envs.reset(seed=seed)
    luck = np.random.default_rng(seed)
    lost = np.zeros(copies)
    for _ in range(horizon):
        moves = luck.integers(0, 2, copies) if model is None else model.predict(observations, deterministic=True)[0]
        observations, _, _, _, infos = envs.step(moves)
        lost += infos["round_regret"]
    return lost


def main(steps: int = 50_000, copies: int = 256, horizon: int = 50, runs: int = 1_000) -> None:
    """Train, then play unseen problems."""
    torch.set_num_threads(1)  # the network is small: more threads would wait for each other
    envs = SeatVectorEnv(PROBLEM, TEAM, 0, horizon, copies, reward="task")
    model = PPO("MlpPolicy", Copies(envs, 1), n_steps=horizon, batch_size=1_600, seed=1, device="cpu")
    model.learn(steps)
    ours = cb.simulate(PROBLEM, TEAM, horizon, runs=runs, seed=2, checkpoints=[horizon])
    rows = {
        "random leader": regret_of(None, horizon, runs, 2),
        f"PPO, {steps:,} rounds of training": regret_of(model, horizon, runs, 2),
        "partner-aware UCB": ours.task_regret[:, -1],
    }
    for name, lost in rows.items():
        print(f"{name:36} task regret {lost.mean():5.2f} ± {lost.std(ddof=1) / len(lost) ** 0.5:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
