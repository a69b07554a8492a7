"""Environments for learners: rounds a second of many copies of one seat, with compiled partners.

``python -m benchmarks interop``. One core; the time of a learner is not in it, its arms are drawn beforehand.
"""

from __future__ import annotations

import os
import time
from typing import Literal

import numpy as np

import cobandit as cb
from benchmarks.report import Report
from cobandit.interop import SeatVectorEnv

COPIES = 1024
ROUNDS = 200
REPEATS = 5
HELD_TO = 1e6


def rounds_a_second(observation: Literal["round", "statistics"], team: str = "partner-aware-ucb") -> float:
    """The best of some episodes, reset included, by CPU time."""
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])
    envs = SeatVectorEnv(problem, cb.Team.of(team), 0, ROUNDS, COPIES, observation=observation, engine="fast")
    moves = np.random.default_rng(0).integers(0, 2, (ROUNDS, COPIES))
    seconds = []
    for seed in range(REPEATS):
        start = time.process_time()
        envs.reset(seed=seed)
        for row in moves:
            envs.step(row)
        seconds.append(time.process_time() - start)
    return COPIES * ROUNDS / min(seconds)


def add_lines(report: Report) -> None:
    """Rounds a second of either view."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    for observation in ("round", "statistics"):
        report.limit(
            f"SeatVectorEnv, 2x2, {COPIES:,} copies, observation {observation!r}",
            rounds_a_second(observation) / 1e6,
            "million rounds a second",
            "at least 1",
            lambda millions: millions * 1e6 >= HELD_TO,
        )
