"""How long should a follower look back, and does it depend on whom it follows?

Run it with ``python examples/which_window.py``. All teams meet the same luck, so they are compared run by run.
Each agent's arms are in a random order in every run, so that no leader gains by favouring its first arm.
"""

from __future__ import annotations

import numpy as np

import cobandit as cb

WINDOWS = (1, 5, 25, 100)
LEADERS = {
    "partner-aware UCB": cb.PartnerAwareUCB(),
    "partner-aware Thompson": cb.PartnerAwareTS(),
    "knowledge gradient": cb.KnowledgeGradient(),
    "knowledge gradient, discount .9": cb.KnowledgeGradient(discount=0.9),
}


def main() -> None:
    """Print the mean and the median regret for each leader and each window, and how the extremes differ."""
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5]).relabelled()
    print("task regret after 2,000 rounds, mean (median) of 400 runs")
    print(f"{'leader':<34}" + "".join(f"{f'W = {window}':<16}" for window in WINDOWS) + "W = 100 less W = 1")
    for name, leader in LEADERS.items():
        finals = []
        for window in WINDOWS:
            team = cb.Team([leader, cb.PartnerAwareUCB(window=window)])
            result = cb.simulate(problem, team, horizon=2_000, runs=400, seed=0, checkpoints=[2_000])
            finals.append(result.task_regret[:, -1])
        cells = "".join(f"{f'{final.mean():.1f} ({np.median(final):.1f})':<16}" for final in finals)
        paired = finals[-1] - finals[0]
        print(f"{name:<34}{cells}{paired.mean():+.1f} +- {paired.std(ddof=1) / np.sqrt(len(paired)):.1f}")


if __name__ == "__main__":
    main()
