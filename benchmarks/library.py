"""The library as a whole: every agent, the command line, the paper's panels, power analysis."""

from __future__ import annotations

import cobandit as cb
from benchmarks.engine import AWARE, NS
from benchmarks.measure import Pair, both, command_seconds, probe, versions
from benchmarks.report import Report

SIMULATE = ["simulate", "--team", "partner-aware-ucb", "--runs", "1000", "--horizon", "2000", "--seed", "0"]


def add_lines(report: Report) -> None:
    """Every figure of the library beside the engine's own."""
    for name in cb.AGENTS:
        report.add(f"2x2 {name}", both("nanoseconds", team=[(name, {})], horizon=2000, runs=640), NS)
    slow = both("reference_nanoseconds", team=AWARE, horizon=500, runs=10)
    quick = both("nanoseconds", team=AWARE, horizon=2000, runs=6400)
    report.add("reference engine / fast engine", slow.over(quick))

    report.limit("cobandit --help", command_seconds(["--help"]), "s", "under 0.3", lambda s: s < 0.3)
    report.limit(
        "cobandit simulate, 1,000 runs, kernels on disk", command_seconds(SIMULATE), "s", "under 2", lambda s: s < 2
    )

    found = [probe(source, "reproduce_seconds")[0] for source in versions()]
    for stage in found[0]:
        report.add(f"13 panels at 100 runs, two processes: {stage}", Pair(*(stages[stage] for stages in found)), "s")
    total = Pair(*(sum(stages.values()) for stages in found))
    report.limit("13 panels at 100 runs, two processes: all of it", total, "s", "under 30", lambda s: s < 30)
    for side in ("left", "right"):
        seconds = both("panel_seconds", name=f"sim1-{side}", runs=10_000)
        report.limit(f"sim1-{side}, 10,000 runs, two threads", seconds, "s", "under 10", lambda s: s < 10)

    seconds = both("power_seconds", simulations=1000, participants=58)
    report.limit("power: 1,000 burger studies of 58, two threads", seconds, "s", "under 20", lambda s: s < 20)
