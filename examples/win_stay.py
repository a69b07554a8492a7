"""A custom agent in one file: win-stay, lose-shift, beside a partner-aware follower.

Run it with ``python examples/win_stay.py``. The tutorial docs/tutorials/custom-agent.md builds it step by step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import cobandit as cb
from cobandit.testing import check_agent


@dataclass
class WinStay(cb.Agent):
    """Keeps its arm until it has missed ``patience`` times in a row, then moves to another one."""

    name = "win-stay"

    patience: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.patience < 1:
            raise cb.InvalidInput(f"patience is {self.patience}; a whole number of at least 1 is needed.")

    def reset(self, briefing: cb.Briefing, rng: np.random.Generator) -> None:
        """A first arm at random, no misses yet."""
        super().reset(briefing, rng)
        self._arm = int(self.rng.integers(briefing.own_arms))
        self._misses = 0

    def choose(self) -> int:
        """The arm it is on."""
        return self._arm

    def observe(self, team_action: tuple[int, ...], reward: float | None) -> None:
        """Count the misses; too many of them, and it moves on."""
        if reward is None:
            return
        self._misses = 0 if reward >= 0.5 else self._misses + 1
        if self._misses == self.patience and self.briefing.own_arms > 1:
            step = 1 + int(self.rng.integers(self.briefing.own_arms - 1))
            self._arm = (self._arm + step) % self.briefing.own_arms
            self._misses = 0


def main() -> None:
    """Check the agent, then let it lead followers with different windows."""
    check_agent(WinStay(patience=2))
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    print("mean task regret of win-stay leading partner-aware-ucb, 200 rounds, 20 runs")
    print("patience    " + "".join(f"W = {window:<6}" for window in (1, 5, 25)))
    for patience in (1, 2, 3):
        cells = []
        for window in (1, 5, 25):
            team = cb.Team([WinStay(patience=patience), cb.PartnerAwareUCB(window=window)])
            result = cb.simulate(problem, team, horizon=200, runs=20, seed=0)
            cells.append(f"{result.task_regret[:, -1].mean():<10.1f}")
        print(f"{patience:<12}" + "".join(cells))


if __name__ == "__main__":
    main()
