"""The steps of one run, column by column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.engine.trajectory import Trajectory
from cobandit.mdp.model import Instance, MarkovProblem


@dataclass(frozen=True)
class MarkovTrajectory(Trajectory):
    """One run, step by step: a `Trajectory` with ``states[t]``, the state in which step t was made.

    ``means[s, a_1, .., a_N]`` are those of the run's world; ``round_regret[t]`` is V*_h(s) - Q*_h(s, a).
    """

    states: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    steps: int = 1

    @classmethod
    def of_run(cls, problem: MarkovProblem, run: int, instance: Instance, horizon: int) -> MarkovTrajectory:
        """Return an empty record of ``horizon`` steps."""
        means = instance.world.means.reshape(problem.states, *problem.arms)
        base = Trajectory.empty(run, means, instance.ranks, horizon, changing=True)
        return cls(**vars(base), states=np.zeros(horizon, dtype=np.int64), steps=problem.steps)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Flat columns, one row per step, episode, step and state among them."""
        base = super().columns()
        t = base["t"] - 1
        places = {"episode": t // self.steps, "step": t % self.steps, "state": self.states}
        return {"run": base.pop("run"), "t": base.pop("t"), **places, **base}

    def same_as(self, other: Trajectory) -> bool:
        """Return whether two runs agree to the last bit."""
        return (
            isinstance(other, MarkovTrajectory) and super().same_as(other) and np.array_equal(self.states, other.states)
        )
