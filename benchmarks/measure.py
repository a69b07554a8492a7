"""How things are measured here: the best of several tries, side by side, so that ratios mean something."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cobandit as cb

TRIES = 5
COMPILERS = ("cc", "gcc", "clang")


def best_of(work: Callable[[], float], tries: int = TRIES) -> float:
    """The smallest of several measurements: what is left when nothing else disturbs."""
    return min(work() for _ in range(tries))


def nanoseconds(
    problem: cb.Problem, team: cb.Team, horizon: int, runs: int, threads: int = 1, engine: str = "fast"
) -> float:
    """Nanoseconds a round of a whole `simulate` call, kernels compiled beforehand."""

    def once() -> float:
        start = time.perf_counter()
        cb.simulate(problem, team, horizon, runs, 0, engine=engine, threads=threads)
        return (time.perf_counter() - start) / (horizon * runs) * 1e9

    once()
    return best_of(once)


def c_nanoseconds(horizon: int, runs: int, window: int = 25) -> float | None:
    """Nanoseconds a round of the plain C loop in loop.c; None where there is no C compiler."""
    compiler = next((name for name in COMPILERS if shutil.which(name)), None)
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "loop.so"
        source = Path(__file__).with_name("loop.c")
        flags = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run([compiler, *flags, "-o", str(library), str(source), "-lm"], check=True)
        play = ctypes.CDLL(str(library)).play
    means, sight, regret = np.array([0.8, 0.4, 0.2, 0.6]), np.array([1.0, 0.5]), np.zeros(runs)

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def once() -> float:
        start = time.perf_counter()
        play(
            pointer(means),
            pointer(sight),
            ctypes.c_double(0.025),
            window,
            horizon,
            runs,
            ctypes.c_uint64(1),
            pointer(regret),
        )
        return (time.perf_counter() - start) / (horizon * runs) * 1e9

    return best_of(once)


def wall_seconds(arguments: list[str]) -> float:
    """Seconds from starting a command to its end."""

    def once() -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, "-m", "cobandit", *arguments], check=True, capture_output=True)
        return time.perf_counter() - start

    once()
    return best_of(once)


def peak_megabytes(horizon: int) -> float:
    """Peak memory of a process that plays 20,000 runs of so many rounds with 100 checkpoints."""
    script = (
        "import cobandit as cb, resource\n"
        "problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]], observability=[1.0, 0.5])\n"
        f"cb.simulate(problem, cb.Team.of('partner-aware-ucb'), {horizon}, 20_000, 0)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return int(done.stdout) * (unit / 1024) / 1024


def engine_seconds(name: str, runs: int) -> float:
    """Seconds that all curves of a panel take, one after another, on two threads."""
    from cobandit.experiments.figures import panel

    found = panel(name)
    return sum(
        cb.simulate(curve.problem, curve.team, found.horizon, runs, 0, threads=2).seconds for curve in found.curves
    )


def power_seconds(simulations: int, participants: int) -> float:
    """Seconds of so many simulated burger studies on two threads, planned tests included, kernels compiled."""
    from cobandit.studies.analysis.power import power_analysis, read_population

    people = read_population("softmax:0.5,win-stay-lose-shift:0.3,knowledge-gradient:0.2")

    def once() -> float:
        return power_analysis("burger", people, (participants,), simulations, 0, threads=2).seconds

    power_analysis("burger", people, (participants,), 10, 0, threads=2)
    return best_of(once, 3)


def reproduce_seconds() -> dict[str, float]:
    """Seconds of each stage of ``cobandit reproduce`` at its default size, kernels on disk."""
    from cobandit.experiments import Processes, Settings, run
    from cobandit.experiments.figures import PANELS, THEORY, panel
    from cobandit.report.figures import write_all_figures
    from cobandit.report.page import write_page

    stages: dict[str, float] = {}

    def timed(stage: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        value = work()
        stages[stage] = time.perf_counter() - start
        return value

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        panels = [panel(name) for name in (*PANELS, THEORY)]
        results = timed("play and store", lambda: run(panels, Settings(), out, Processes(2)))
        timed("judge", lambda: [result.verdicts for result in results])
        timed("figures", lambda: write_all_figures(results, out / "figures"))
        timed("page", lambda: write_page(results, out, {"title": "benchmark", "executor": "processes"}))
    return stages
