"""Markov problems: nanoseconds a step beside a scalar C loop of the same algorithm, and how the cost grows."""

from __future__ import annotations

import ctypes
import time
from typing import Any

import numpy as np

from benchmarks.measure import compiled_library
from benchmarks.report import Report
from cobandit import mdp

TEAM = mdp.Team.of("partner-aware-ucbvi")
SIGHT = np.array([1.0, 0.5])
TRIES = 5

Sizes = tuple[int, int, int]
"""S, K and H."""


def yardstick() -> Any | None:
    """The C function; None where there is no compiler."""
    library = compiled_library("mdp.c")
    return None if library is None else library.play_markov


def given_problem(sizes: Sizes) -> mdp.MarkovProblem:
    """One random world for all runs, so that both loops play the same."""
    states, arms, steps = sizes
    world = mdp.RandomDynamics(states=states, steps=steps, arms=(arms, arms)).draw(np.random.default_rng(1))
    shape = (states, arms, arms)
    return mdp.MarkovProblem.of(
        world.transitions.reshape(*shape, states), world.means.reshape(shape), steps, start=world.start,
        observability=SIGHT.tolist(),
    )  # fmt: skip


def ours(problem: mdp.MarkovProblem, episodes: int, runs: int) -> float:
    """CPU nanoseconds a step of the compiled engine, on one thread."""
    start = time.process_time()
    mdp.simulate(problem, TEAM, episodes, runs, 0, engine="fast", threads=1, checkpoints=1)
    return (time.process_time() - start) / (episodes * problem.steps * runs) * 1e9


def theirs(play: Any, problem: mdp.MarkovProblem, episodes: int, runs: int) -> float:
    """CPU nanoseconds a step of the C loop."""
    world = problem.instance(np.random.default_rng(0)).world
    arrays = [world.next_limits, world.means, world.start_limits, SIGHT]
    flat = [np.ascontiguousarray(array, dtype=np.float64) for array in arrays]
    paid = np.zeros(runs)
    sizes = (problem.states, problem.arms[0], problem.steps, episodes, runs)
    start = time.process_time()
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in flat]
    play(*pointers, ctypes.c_double(0.025), *sizes, ctypes.c_uint64(1), ctypes.c_void_p(paid.ctypes.data))
    return (time.process_time() - start) / (episodes * problem.steps * runs) * 1e9


def add_lines(report: Report) -> None:
    """The ratio to C, then one size after another doubled."""
    play = yardstick()
    base: Sizes = (5, 2, 5)
    for sizes in (base, (20, 2, 5), (5, 4, 5), (5, 2, 20)):
        problem = given_problem(sizes)
        episodes = max(20, 40_000 // (sizes[0] * sizes[1] ** 2 * sizes[2]))
        ours(problem, 2, 1)  # compiled before it is measured
        pairs = [
            (ours(problem, episodes, 10), theirs(play, problem, episodes, 10) if play else np.nan) for _ in range(TRIES)
        ]
        mine, c = min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)
        label = "S = {}, K = {}, H = {}".format(*sizes)
        indices = 2 * sizes[0] * sizes[1] ** 2
        report.add(f"Markov problem, {label}: {indices} indices a step", mine, "ns a step")
        if play is not None:
            report.at_most(f"Markov problem, {label}: times the C loop", mine / c, "", 2.0)
