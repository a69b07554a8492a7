"""Study servers under load: a crowd of simulated participants, every round durable before it is answered.

``python -m benchmarks studies`` prints these lines alone. Server, crowd and PostgreSQL share the cores of the machine.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks.crowd import Met, Order
from benchmarks.report import Report
from cobandit.studies import StudyDesign, load_design
from cobandit.web import WebConfig
from cobandit.web.serving import prepare

PEOPLE = 200
RATE = 3.0
SECONDS = 20.0


def casino() -> StudyDesign:
    """The casino study without its practice: everybody's first episode has 1000 rounds with one of the two AIs."""
    return replace(load_design("casino"), practice=None)


def servers() -> ModuleType:
    """The throw-away servers that the tests use, too."""
    name = "cobandit_test_servers"
    if name not in sys.modules:
        path = Path(__file__).parents[1] / "tests" / "web" / "servers.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@contextlib.contextmanager
def databases() -> Iterator[dict[str, tuple[str, int]]]:
    """Address and workers by name; PostgreSQL with fsync, where there is one."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        found = {"SQLite": (f"sqlite:///{folder}/studies.sqlite", 1)}
        try:
            address = stack.enter_context(servers().postgresql_server(safe=True))
            found["PostgreSQL, two workers"] = (stack.enter_context(servers().fresh_database(address)), 2)
        except servers().NoPostgreSQL as error:
            print(error)
        yield found


@dataclass(frozen=True)
class Load:
    """A crowd at 3 rounds a second each, and the same crowd as fast as it goes."""

    steady: Met
    flat_out: Met


def load(database: str, workers: int) -> Load:
    """Both, on one server."""
    prepare(database, [casino()], password="correct horse")
    server = servers().StudyServer(WebConfig(database=database, consent_elsewhere=True), workers).start()
    try:
        steady = crowd(Order(server.url, "casino", PEOPLE, SECONDS, RATE))
        return Load(steady, crowd(Order(server.url, "casino", PEOPLE, SECONDS / 2)))
    finally:
        server.stop()


def crowd(order: Order) -> Met:
    """Send a crowd, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.crowd", json.dumps(asdict(order))]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Met(**json.loads(done.stdout))


@dataclass(frozen=True)
class Opening:
    """Milliseconds to open a casino of 1000 rounds by a server that has just been started: before its first round (the
    slowest of several people), and after 999 rounds, which are all played again (the median).
    """

    fresh: float
    rebuilt: float


def opening(people: int = 10) -> Opening:
    """On SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/studies.sqlite"
        prepare(database, [casino()], password="correct horse")
        server = servers().StudyServer(WebConfig(database=database, consent_elsewhere=True)).start()
        try:
            tokens = crowd(Order(server.url, "casino", people, 0.0, warm_seconds=0.0)).tokens
            strangers = crowd(Order(server.url, "casino", people, 0.0, warm_seconds=0.0)).tokens
            server.kill()
            server.start()
            fresh = max(_state_ms(server.url, token, 0) for token in strangers)
            for token in tokens:
                for first in range(1, 1000, 111):
                    moves = [
                        {"t": t, "arm": t % 2, "key": f"key-{t:04d}-{token[:4].replace('_', '-')}"}
                        for t in range(first, first + 111)
                    ]
                    _ask(server.url, f"/api/participants/{token}/rounds", {"episode": 0, "moves": moves})
            server.kill()
            server.start()
            return Opening(fresh, statistics.median(_state_ms(server.url, token, 999) for token in tokens))
        finally:
            server.stop()


def _ask(url: str, path: str, body: Any = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, {"content-type": "application/json"})
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as response:
        return json.load(response)


def _state_ms(url: str, token: str, played: int) -> float:
    start = time.perf_counter()
    state = _ask(url, f"/api/participants/{token}")
    spent = 1000 * (time.perf_counter() - start)
    assert state["episode"]["played"] == played, state["episode"]
    return spent


def add_lines(report: Report) -> None:
    """Every figure on study servers, beside what it is held to."""
    with databases() as found:
        for name, (database, workers) in found.items():
            met = load(database, workers)
            steady, flat_out = met.steady, met.flat_out
            crowd_name = f"{name}: {PEOPLE} people, {RATE:g} rounds/s each"
            errors = steady.errors + flat_out.errors
            report.add(f"{crowd_name}, p50", steady.p50, "ms")
            report.add(f"{crowd_name}, p95", steady.p95, "ms")
            report.add(f"{crowd_name}, p99", steady.p99, "ms", "under 100", steady.p99 < 100)
            report.add(f"{name}: errors among {steady.moves + flat_out.moves:,} rounds", errors, "", "0", errors == 0)
            report.add(f"{name}: {PEOPLE} people, as fast as it goes", flat_out.a_second, "rounds/s")
    took = opening()
    report.add("casino of 1000 rounds: open, slowest of 10", took.fresh, "ms", "under 100", took.fresh < 100)
    report.add(
        "casino with 999 rounds played: open after a restart, median of 10",
        took.rebuilt,
        "ms",
        "under 100",
        took.rebuilt < 100,
    )
