"""Several teams whose loops are not compiled yet: a second process begins with the last of them.

The compiler works in one thread of a process. What either process has compiled the other finds on disk, and neither
compiles what the other is at (`engine.fast.caching`), so they meet somewhere in the middle.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from cobandit.base.machine import available_cores
from cobandit.engine.compiling import at_first_compilation
from cobandit.experiments.any_problem import simulate_any
from cobandit.problem import Problem

_PROGRAM = "from cobandit.experiments.compiling import main; main()"


@contextmanager
def compiled_by_two(problem: object, teams: Sequence[Any], horizon: int, runs: int, diagnose: bool) -> Iterator[None]:
    """Compile the loops of the last teams in a second process inside of the with block, if the first needs compiling.

    If that process cannot start, or does not know a class of the caller's script, everything still works, only slower.
    """
    helpers: list[subprocess.Popen[bytes]] = []

    def start() -> None:
        with suppress(OSError, pickle.PicklingError, AttributeError, TypeError):
            order = pickle.dumps((problem, list(teams[:0:-1]), horizon, runs, diagnose))
            helper = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            helpers.append(helper)
            assert helper.stdin is not None
            with helper.stdin:
                helper.stdin.write(order)

    if len(teams) < 2 or available_cores() < 2 or not sys.executable:
        yield
        return
    try:
        with at_first_compilation(start):
            yield
    finally:
        for helper in helpers:
            helper.kill()  # its result is no longer needed, even if it is unfinished
            helper.wait()


def main() -> None:
    """Compile for the teams that standard input has, one after another."""
    problem, teams, horizon, runs, diagnose = pickle.load(sys.stdin.buffer)
    for team in teams:
        with suppress(Exception):  # the simulation of this team will meet the same error and report it
            compile_loop(problem, team, horizon, runs, diagnose)


def compile_loop(problem: Any, team: Any, horizon: int, runs: int, diagnose: bool) -> None:
    """Compile and cache the loop for ``runs`` runs of a team, by playing one run."""
    if not isinstance(problem, Problem):
        simulate_any(problem, team, problem.steps, 1, 0, engine="fast")
        return
    from cobandit.engine import fast

    game = fast.make_game(problem, team, horizon)
    kernel = fast.choose_kernel(game, runs)
    fast.play_runs(game, 0, range(1), np.array([horizon]), 1, lambda more: None, kernel, diagnose)
