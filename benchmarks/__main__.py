"""``python -m benchmarks``: prints every figure the project claims, beside what it is held to.

Ratios of times taken in one run are the point; the times themselves are for this machine at this hour. Nothing
here is a test: a miss is printed, not raised.
"""

from __future__ import annotations

import json
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

import cobandit as cb
from benchmarks.measure import (
    c_nanoseconds,
    engine_seconds,
    nanoseconds,
    peak_megabytes,
    power_seconds,
    reproduce_seconds,
    wall_seconds,
)
from benchmarks.studies import add_lines

FIXED = cb.Problem.bernoulli(cb.local_optima(2), observability=[1.0, 0.5])
AWARE = cb.Team.of("partner-aware-ucb", window=25)
SIMULATE = ["simulate", "--team", "partner-aware-ucb", "--runs", "1000", "--horizon", "2000", "--seed", "0"]


def square(size: int) -> cb.Problem:
    """A size x size problem with random means."""
    return cb.Problem.bernoulli("random", arms=(size, size), observability=[1.0, 0.5])


class Report:
    """The lines of the report: name, figure, what it is held to."""

    def __init__(self) -> None:
        self.rows: list[dict[str, object]] = []

    def add(self, name: str, figure: float, unit: str, held_to: str = "", met: bool | None = None) -> None:
        """One more line."""
        self.rows.append({"name": name, "figure": figure, "unit": unit, "held_to": held_to, "met": met})

    def show(self) -> None:
        """Print all lines as a table."""
        table = Table(title=f"cobandit {cb.__version__}, Python {platform.python_version()}, {platform.machine()}")
        for column in ("what", "figure", "held to", ""):
            table.add_column(column, justify="right" if column == "figure" else "left")
        for row in self.rows:
            mark = {True: "yes", False: "NO", None: ""}[row["met"]]  # type: ignore[index]
            table.add_row(str(row["name"]), f"{row['figure']:.2f} {row['unit']}", str(row["held_to"]), mark)
        Console().print(table)

    def save(self, path: Path) -> None:
        """Keep all lines as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(self.rows, indent=1) + "\n")


def main() -> None:
    report = Report()
    ours = nanoseconds(FIXED, AWARE, 2000, 6400)
    report.add("2x2 partner-aware, one thread", ours, "ns a round")
    plain = c_nanoseconds(2000, 4000)
    if plain is not None:
        report.add("the same in plain scalar C", plain, "ns a round")
        report.add("ours / C", ours / plain, "", "at most 1.5", ours / plain <= 1.5)
    for index in ("companion", "anytime"):
        team = cb.Team.of("partner-aware-ucb", window=25, index=index)
        report.add(f"2x2 partner-aware, {index} index", nanoseconds(FIXED, team, 2000, 3200), "ns a round")

    base = nanoseconds(square(2), AWARE, 10_000, 640)
    for size in (4, 8, 16, 30):
        cost = nanoseconds(square(size), AWARE, 10_000, 640) / base
        held = ("at most 5", cost <= 5) if size == 30 else ("", None)
        report.add(f"{size}x{size} / 2x2, paper index, 10,000 rounds", cost, "", *held)
    scan = nanoseconds(square(30), cb.Team.of("partner-aware-ucb", window=25, ties="random"), 10_000, 32)
    report.add("30x30 / 2x2 by scanning (random ties)", scan / base, "")

    for label, problem, team, horizon, runs in (
        ("2x2 partner-aware", FIXED, AWARE, 2000, 12_800),
        ("2x2 partner-aware Thompson", FIXED, cb.Team.of("partner-aware-ts"), 2000, 1600),
    ):
        one = nanoseconds(problem, team, horizon, runs, threads=1)
        two = nanoseconds(problem, team, horizon, runs, threads=2)
        report.add(f"{label}: one thread / two threads", one / two, "", "at least 1.8", one / two >= 1.8)

    for name in cb.AGENTS:
        report.add(f"2x2 {name}", nanoseconds(FIXED, cb.Team.of(name), 2000, 640), "ns a round")
    slow = nanoseconds(FIXED, AWARE, 500, 10, engine="reference")
    report.add("reference engine / fast engine", slow / ours, "")

    report.add("cobandit --help", seconds := wall_seconds(["--help"]), "s", "under 0.3", seconds < 0.3)
    report.add(
        "cobandit simulate, 1000 runs, kernels on disk", seconds := wall_seconds(SIMULATE), "s", "under 2", seconds < 2
    )

    stages = reproduce_seconds()
    for stage, seconds in stages.items():
        report.add(f"13 panels at 100 runs, two processes: {stage}", seconds, "s")
    total = sum(stages.values())
    report.add("13 panels at 100 runs, two processes: all of it", total, "s", "under 30", total < 30)
    for side in ("left", "right"):
        seconds = engine_seconds(f"sim1-{side}", 10_000)
        report.add(f"sim1-{side}, 10,000 runs, engine time on two cores", seconds, "s", "under 10", seconds < 10)

    seconds = power_seconds(1000, 58)
    report.add("power: 1,000 burger studies of 58, two threads", seconds, "s", "under 20", seconds < 20)

    short, long = peak_megabytes(200), peak_megabytes(4000)
    report.add("peak memory, 20,000 runs of 200 rounds", short, "MB")
    report.add("peak memory, 20,000 runs of 4,000 rounds / of 200", long / short, "", "about 1", long / short < 1.1)

    add_lines(report)

    report.show()
    report.save(Path("out/benchmarks.json"))


if __name__ == "__main__":
    main()
