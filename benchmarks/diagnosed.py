"""What diagnostics cost: the same runs played with and without them, in turns, on one thread.

Run by itself: ``python -m benchmarks.diagnosed``. Figures are CPU time; a ratio of at most 1.5 is wanted.
"""

from __future__ import annotations

import time

import numpy as np

import cobandit as cb
from cobandit.engine import fast

TURNS = 5
MOST = 1.5
FIXED = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [0.9, 0.6])

CASES: list[tuple[str, cb.Problem, str, int, int, str]] = [
    ("2x2 partner-aware UCB, 10,000 rounds", FIXED, "partner-aware-ucb", 10_000, 400, "lockstep"),
    ("2x2 partner-aware UCB, 1,000 rounds", FIXED, "partner-aware-ucb", 1_000, 4_000, "lockstep"),
    ("2x2 naive UCB, 10,000 rounds", FIXED, "naive-ucb", 10_000, 400, "lockstep"),
    ("4x4 partner-aware UCB", cb.Problem.bernoulli(arms=(4, 4)), "partner-aware-ucb", 10_000, 256, "lockstep"),
    ("2x2 partner-aware UCB, one run after another", FIXED, "partner-aware-ucb", 10_000, 100, "general"),
    ("2x2 knowledge gradient", FIXED, "knowledge-gradient", 10_000, 60, "general"),
    ("2x2 partner-aware Thompson", FIXED, "partner-aware-ts", 10_000, 50, "general"),
    ("30x30 partner-aware UCB", cb.Problem.bernoulli(arms=(30, 30)), "partner-aware-ucb", 10_000, 40, "general"),
]


def seconds(problem: cb.Problem, team: cb.Team, horizon: int, runs: int, kernel: str, diagnose: bool) -> float:
    """Return the CPU time of so many runs with 100 checkpoints."""
    points = np.array([-(-k * horizon // 100) for k in range(1, 101)])
    start = time.thread_time()
    game = fast.make_game(problem, team, horizon)
    fast.play_runs(game, 1, range(runs), points, 1, lambda more: None, kernel, diagnose)
    return time.thread_time() - start


def main() -> None:
    """Print a line for each case."""
    for label, problem, name, horizon, runs, kernel in CASES:
        team = cb.Team.of(name)
        setting = problem, team, horizon
        ways = False, True
        for diagnose in ways:
            seconds(*setting, 64, kernel, diagnose)
        taken = np.array([[seconds(*setting, runs, kernel, diagnose) for diagnose in ways] for _ in range(TURNS)])
        plain, diagnosed = taken.min(axis=0) / (horizon * runs) * 1e9
        ratio = diagnosed / plain
        verdict = "" if ratio <= MOST else f"  above {MOST:g}"
        print(f"{label:<46} {plain:7.1f} ns a round, {diagnosed:7.1f} diagnosed: {ratio:.2f}{verdict}")


if __name__ == "__main__":
    main()
