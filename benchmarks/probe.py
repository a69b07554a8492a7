"""What is measured within one process: ``python -P benchmarks/probe.py '{"what": ..., ...}'`` prints JSON.

It measures whichever cobandit its PYTHONPATH names, this version or the one before, and so keeps to the public
interface, but for ``play_runs`` and its older form ``run_regrets``: both have a parameter ``kernel``.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np

import cobandit as cb

MATRIX = [[0.8, 0.4], [0.2, 0.6]]
OBSERVABILITY = (1.0, 0.5)


def best_of(work: Callable[[], float], tries: int) -> float:
    """The smallest of several measurements: what is left when nothing else disturbs."""
    return min(work() for _ in range(tries))


def clock_for(wall: bool) -> Callable[[], float]:
    """The clock to time with: the CPU's, for waiting while others use the core is no cost of ours, or the wall's."""
    return time.perf_counter if wall else time.process_time


def problem_of(arms: list[int] | None) -> cb.Problem:
    """Random means with so many arms, or the paper's 2 x 2 matrix."""
    if arms is None:
        return cb.Problem.bernoulli(MATRIX, observability=OBSERVABILITY)
    levels = [1.0 - 0.5 * i / (len(arms) - 1) for i in range(len(arms))]
    return cb.Problem.bernoulli("random", arms=arms, observability=levels)


def team_of(members: list[Any]) -> cb.Team:
    """From pairs of name and options: one for everybody, or one for each place."""
    if len(members) == 1:
        return cb.Team.of(members[0][0], **members[0][1])
    # A joint controller has no place of its own; Team refuses one.
    return cb.Team([cast("cb.Agent", cb.make_agent(name, **options)) for name, options in members])


def kernel_called(kernel: str) -> str | None:
    """The value of ``kernel`` in the version at hand: what is ``lockstep`` now was ``lanes`` before."""
    if kernel == "automatic":
        return None
    old = importlib.util.find_spec("cobandit.engine.fast.lanes") is not None
    return "lanes" if kernel == "lockstep" and old else kernel


def _timed(
    team: list[Any],
    horizon: int,
    runs: int,
    arms: list[int] | None = None,
    threads: int = 1,
    kernel: str = "automatic",
    wall: bool = False,
) -> Callable[[], float]:
    """Something that plays all runs and gives the nanoseconds a round."""
    from cobandit.engine import fast

    problem, players, called = problem_of(arms), team_of(team), kernel_called(kernel)
    clock = clock_for(wall)
    points = np.unique(np.linspace(0, horizon, 101).astype(np.int64)[1:])

    play: Any = getattr(fast, "run_regrets", None)  # of the version before
    if play is None:

        def play(problem: cb.Problem, team: cb.Team, horizon: int, *setting: Any, **options: Any) -> None:
            fast.play_runs(fast.make_game(problem, team, horizon), *setting, **options)

    def once() -> float:
        start = clock()
        play(problem, players, horizon, 0, range(runs), points, threads, lambda more: None, kernel=called)
        return (clock() - start) / (horizon * runs) * 1e9

    once()  # compiled or loaded
    return once


def nanoseconds(tries: int = 5, **order: Any) -> float:
    """Nanoseconds a round of the fast engine, compiled beforehand."""
    return best_of(_timed(**order), tries)


def alternating(one: dict[str, Any], other: dict[str, Any], tries: int = 5) -> float:
    """Nanoseconds a round of one thing over those of another, tried in turns so that both meet the same machine."""
    first, second = _timed(**one), _timed(**other)
    pairs = [(first(), second()) for _ in range(tries)]
    return min(pair[0] for pair in pairs) / min(pair[1] for pair in pairs)


def reference_nanoseconds(team: list[Any], horizon: int, runs: int) -> float:
    """Nanoseconds a round of the reference engine."""

    def once() -> float:
        start = time.process_time()
        cb.simulate(problem_of(None), team_of(team), horizon, runs, 0, engine="reference")
        return (time.process_time() - start) / (horizon * runs) * 1e9

    return best_of(once, 5)


def first_result(team: list[Any], horizon: int, runs: int) -> float:
    """One result of the fast engine and no more; the caller looks at what the process cost."""
    made = cb.simulate(problem_of(None), team_of(team), horizon, runs, 0, engine="fast", threads=1)
    return float(made.task_regret[0, -1])


def peak_megabytes(horizon: int, runs: int) -> float:
    """Peak memory of this process after so many runs with 100 checkpoints."""
    cb.simulate(problem_of(None), cb.Team.of("partner-aware-ucb"), horizon, runs, 0)
    status = Path("/proc/self/status")
    if status.exists():  # what getrusage tells of a child may be its parent's peak
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    unit = 1024 if sys.platform != "darwin" else 1024 * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (unit / 1024) / 1024


def panel_seconds(name: str, runs: int) -> float:
    """Seconds that all curves of a panel take, one after another, on two threads; compiled beforehand."""
    from cobandit.experiments.figures import panel

    found = panel(name)

    def once(runs: int) -> float:
        return sum(
            cb.simulate(curve.problem, curve.team, found.horizon, runs, 0, threads=2, engine="fast").seconds
            for curve in found.curves
        )

    once(max(16, -(-1_000_000 // found.horizon)))  # as many as it takes to be played in step
    return once(runs)


def power_seconds(simulations: int, participants: int) -> float:
    """Seconds of so many simulated burger studies on two threads, planned tests included, kernels compiled."""
    from cobandit.analysis import power_analysis, read_population

    people = read_population("softmax:0.5,win-stay-lose-shift:0.3,knowledge-gradient:0.2")

    def once() -> float:
        return power_analysis("burger", people, (participants,), simulations, 0, threads=2).seconds

    power_analysis("burger", people, (participants,), 10, 0, threads=2)
    return best_of(once, 3)


def reproduce_seconds() -> dict[str, float]:
    """Seconds of each stage of ``cobandit reproduce`` at its default size, kernels on disk."""
    from cobandit.experiments import Processes, Settings, run
    from cobandit.experiments.figures import PANELS, THEORY, panel
    from cobandit.report.simulation.figures import write_panel_figures
    from cobandit.report.simulation.page import write_page

    stages: dict[str, float] = {}

    def timed(stage: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        value = work()
        stages[stage] = time.perf_counter() - start
        return value

    panels = [panel(name) for name in (*PANELS, THEORY)]
    with tempfile.TemporaryDirectory() as folder:
        run(panels, Settings(), Path(folder), Processes(2))  # compiled
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        results = timed("play and store", lambda: run(panels, Settings(), out, Processes(2)))
        timed("judge", lambda: [result.verdicts for result in results])
        timed("figures", lambda: write_panel_figures(results, out / "figures"))
        timed("page", lambda: write_page(results, out, {"title": "benchmark", "executor": "processes"}))
    return stages


WHAT: dict[str, Callable[..., Any]] = {
    work.__name__: work
    for work in (
        alternating,
        first_result,
        nanoseconds,
        panel_seconds,
        peak_megabytes,
        power_seconds,
        reference_nanoseconds,
        reproduce_seconds,
    )
}


def main() -> None:
    order = json.loads(sys.argv[1])
    answer = WHAT[order.pop("what")](**order)
    print(json.dumps({"answer": answer, "package": cb.__file__}))


if __name__ == "__main__":
    main()
