"""Moves from a load generator that is not ours: wrk, which sends the page's recorded request (``moves.lua``).

``python -m benchmarks wrk`` needs the command ``wrk`` (``apt-get install wrk``). wrk keeps 100 connections busy and
plays for 500 participants in turn. Compare it with the line of 100 people that ``python -m benchmarks moves`` prints.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import studies
from benchmarks.crowd import Order, cpu_seconds
from benchmarks.measure import NOW, Pair
from benchmarks.recorded import RECORDING
from benchmarks.report import Report

CONNECTIONS = 100
PEOPLE = 500
SECONDS = 8
SCRIPT = Path(__file__).with_name("moves.lua")


def measured(database: str, source: Path, folder: Path) -> tuple[float, float, float]:
    """Return rounds a second, the 99th percentile in ms and CPU ms per round; refused moves do not count."""
    with studies.copied(database) as copy, studies.serving(copy, source) as server:
        tokens = studies.crowd(Order(server.url, "casino", PEOPLE, 0.0, warm_seconds=0.0)).tokens
        listed = folder / "tokens.txt"
        listed.write_text("\n".join(tokens) + "\n")
        command = [
            "wrk",
            "-t1",
            f"-c{CONNECTIONS}",
            f"-d{SECONDS}s",
            "--latency",
            "--timeout",
            "30s",
            "-s",
            str(SCRIPT),
            server.url,
        ]
        command += ["--", str(listed), str(RECORDING), urlsplit(server.url).netloc]
        before = cpu_seconds(server.worker_pids())
        with studies.last_core():
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        spent = cpu_seconds(server.worker_pids()) - before
    if "Socket errors" in printed:
        raise RuntimeError(f"wrk met errors:\n{printed}")
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
    if refused is not None:  # a move that has overtaken the one before on a busy machine
        print(f"wrk: {refused[1]} moves were refused.")
    requests = re.search(r"(\d+) requests in ([\d.]+)s", printed)
    latency = re.search(r"99%\s+([\d.]+)(us|ms|s)", printed)
    assert requests is not None
    assert latency is not None
    count, seconds = int(requests[1]) - int(refused[1] if refused else 0), float(requests[2])
    return count / seconds, float(latency[1]) * {"us": 0.001, "ms": 1, "s": 1000}[latency[2]], 1000 * spent / count


def add_lines(report: Report) -> None:
    """The figures of wrk for this version and the one before, in turn."""
    if shutil.which("wrk") is None:
        print("wrk is not installed, so its lines are left out: apt-get install wrk")
        return
    with tempfile.TemporaryDirectory() as name:
        ready = studies.prepared(Path(name))
        best: dict[Path, tuple[float, float, float]] = {}
        for _ in range(studies.TURNS):
            for source, database in ready.items():
                best[source] = max(best.get(source, (0.0, 0.0, 0.0)), measured(database, source, Path(name)))
    order = [NOW, *(source for source in best if source != NOW)]
    title = f"wrk, {CONNECTIONS} connections, best of {studies.TURNS}"
    report.add(title, Pair(*(best[source][0] for source in order)), "rounds/s")
    report.add(f"{title}, p99", Pair(*(best[source][1] for source in order)), "ms")
    report.add(f"{title}, CPU a round", Pair(*(best[source][2] for source in order)), "ms")
