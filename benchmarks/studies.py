"""Study servers under load: a crowd of simulated participants, every round durable before it is answered.

``python -m benchmarks studies`` prints these lines alone, ``studies-quick`` the few with a target, in some minutes, and
``moves`` only the comparison of moves with the version before and with oTree. Every move is the request that Chromium
sends. The clients run on the last core of the machine, a server of one process on the first; researchers who watch and
PostgreSQL use all cores. The server's CPU time per round depends least on other load; rounds a second and latencies do
depend on it, so figures with a target come from several turns, in which the servers are measured alternately.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import before, otree, stored
from benchmarks.crowd import Met, Order, cpu_seconds
from benchmarks.measure import NOW, Pair, environment
from benchmarks.report import Report
from cobandit.web import WebConfig
from cobandit.web.config import VARIABLE
from cobandit.web.serving import prepare

CROWDS = (50, 200, 500)
FLAT_OUT = 100
SECONDS = 8.0
TURNS = 3
PASSWORD = stored.PASSWORD


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


def versions() -> list[Path]:
    """The source of this version, and of the server before where it is to be had."""
    earlier = before.source(before.SERVER_BASE)
    return [NOW] if earlier is None else [NOW, earlier]


@contextlib.contextmanager
def serving(
    database: str, source: Path = NOW, workers: int = 1, script: str | None = None, *, pinned: bool = True
) -> Iterator[Any]:
    """A server of a version before a database that is ready; ``pinned``: a single worker keeps to the first core."""
    server = servers().StudyServer(WebConfig(database=database, consent_elsewhere=True), workers)
    server.environment = {"PYTHONPATH": str(source)}
    if source != NOW:  # which does not know all settings
        server.environment |= {VARIABLE: json.dumps({"database": database, "consent_elsewhere": True})}
    server.script = server.script if script is None else script
    try:
        with on_cores(_CORES[:1] if pinned and workers == 1 else _CORES):
            server.start()
        yield server
    finally:
        server.stop()


_CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


@contextlib.contextmanager
def on_cores(cores: Sequence[int]) -> Iterator[None]:
    """Processes that are started meanwhile keep to these cores, where the system has several and can be told so."""
    if len(_CORES) < 2:
        yield
        return
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, _CORES)


def last_core() -> contextlib.AbstractContextManager[None]:
    """Clients that are started meanwhile run on the last core."""
    return on_cores(_CORES[-1:])


@contextlib.contextmanager
def watched(url: str, researchers: int) -> Iterator[None]:
    """So many researchers look at the study meanwhile."""
    if not researchers:
        yield
        return
    login = _ask(url, "/api/admin/login", {"password": PASSWORD})["token"]
    with contextlib.suppress(urllib.error.HTTPError):  # the version before shows conditions to everybody
        _ask(url, "/api/admin/studies/1/unblind", {}, login)
    command = [sys.executable, "-m", "benchmarks.watcher", url, login, str(researchers)]
    watcher = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert watcher.stdout is not None
        watcher.stdout.readline()  # they are there
        yield
        if watcher.poll() is not None:
            raise RuntimeError("Nobody was watching any more.")
    finally:
        watcher.terminate()
        watcher.communicate()


def crowd(order: Order) -> Met:
    """Send a crowd, from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.crowd", json.dumps(asdict(order))]
    with last_core():
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Met(**json.loads(done.stdout))


def play(server: Any, people: int, rate: float | None = None, researchers: int = 0, seconds: float = SECONDS) -> Met:
    """A crowd at a server; ``rate`` None: as fast as it goes."""
    with watched(server.url, researchers):
        return crowd(Order(server.url, "casino", people, seconds, rate, server=tuple(server.worker_pids())))


Databases = dict[Path, str]
"""A database with the same in it for each version."""


def prepared(folder: Path, people: int = 0, rounds: int = 0) -> Databases:
    """SQLite databases with the study and so many people and rounds, each made by the version that will serve it."""
    addresses = {}
    for place, source in enumerate(versions()):
        url = addresses[source] = f"sqlite:///{folder}/{place}-{people}.sqlite"
        command = [sys.executable, "-m", "benchmarks.stored", url, str(people), str(rounds)]
        subprocess.run(command, check=True, cwd=before.ROOT, env=environment(source))
    return addresses


@contextlib.contextmanager
def databases() -> Iterator[dict[str, Databases]]:
    """With nobody in it, and with a million rounds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        full = prepared(folder, stored.PEOPLE, stored.ROUNDS)
        yield {"nothing stored": prepared(folder), "a million rounds stored": full}


@contextlib.contextmanager
def copied(database: str) -> Iterator[str]:
    """A copy, so that everybody finds the same."""
    path = Path(database.removeprefix("sqlite:///"))
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        shutil.copy(path, folder)
        yield f"sqlite:///{folder}/{path.name}"


def measured(ready: Databases, people: int, rate: float | None = None, researchers: int = 0) -> list[Met]:
    """A crowd at this version and at the one before, each at a server and a database of its own."""
    results = []
    for source, database in ready.items():
        with copied(database) as copy, serving(copy, source) as server:
            results.append(play(server, people, rate, researchers))
    return results


def best_measured(
    ready: Databases, people: int, rate: float | None = None, researchers: int = 0, turns: int = TURNS
) -> list[Met]:
    """The best of several turns: the most rounds a second, or, with a rate, the lowest p99."""
    results = [measured(ready, people, rate, researchers) for _ in range(turns)]
    key = (lambda met: -met.a_second) if rate is None else (lambda met: met.p99)
    return [min(of_version, key=key) for of_version in zip(*results, strict=True)]


def _lines(report: Report, name: str, met: list[Met]) -> None:
    report.add(f"{name}, CPU s per 1000 rounds", Pair(*(each.cpu_per_thousand for each in met)), "s")
    report.add(f"{name}", Pair(*(each.a_second for each in met)), "rounds/s")
    report.add(f"{name}, p50", Pair(*(each.p50 for each in met)), "ms")
    report.add(f"{name}, p99", Pair(*(each.p99 for each in met)), "ms")
    if errors := sum(each.errors for each in met):
        report.add(f"{name}, errors", errors, "", "0", False)


@dataclass(frozen=True)
class Medians:
    """What the turns of one server have in the middle."""

    a_second: float
    p99: float
    cpu_ms: float

    @classmethod
    def of(cls, met: Sequence[Met]) -> Medians:
        """Take the median of each figure by itself."""
        return cls(
            statistics.median(each.a_second for each in met),
            statistics.median(each.p99 for each in met),
            statistics.median(each.cpu_per_thousand for each in met),
        )


def _otree_met(command: Path) -> Met:
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(contextlib.closing(servers().KeptPort()))
        with on_cores(_CORES[:1]):
            server = stack.enter_context(otree.serving(command, port.number))
        return crowd(Order(server.url, "game", FLAT_OUT, SECONDS, server=(server.pid,), otree=True))


def _goals(report: Report, ready: Databases) -> None:
    """As fast as it goes, with the page's requests: this version, the one before and oTree in turn, in one run."""
    command = otree.installed()
    met: dict[Path | None, list[Met]] = {source: [] for source in [*ready, *([None] if command else [])]}
    for turn in range(TURNS):
        for source in list(met)[:: -1 if turn % 2 else 1]:
            if source is None:
                assert command is not None
                met[source].append(_otree_met(command))
            else:
                with copied(ready[source]) as copy, serving(copy, source) as server:
                    met[source].append(play(server, FLAT_OUT))
    medians = {source: Medians.of(turns) for source, turns in met.items()}
    now, earlier, peer = medians[NOW], [medians[source] for source in ready if source != NOW], medians.get(None)
    name = f"{FLAT_OUT} people, as fast as it goes, median of {TURNS}"
    report.add(name, Pair(now.a_second, *(each.a_second for each in earlier)), "rounds/s")
    report.add(f"{name}, p99", Pair(now.p99, *(each.p99 for each in earlier)), "ms", "under 70", now.p99 < 70)
    cpu = Pair(now.cpu_ms, *(each.cpu_ms for each in earlier))
    report.add(f"{name}, CPU a round", cpu, "ms", "at most 0.45", now.cpu_ms <= 0.45)
    for each in earlier:
        times = now.a_second / each.a_second
        report.add("as many rounds as the version before", times, "x", "at least 2.5", times >= 2.5)
        report.add("CPU a round of the version before beside this one's", each.cpu_ms / now.cpu_ms, "x")
    if peer is not None:
        times = now.a_second / peer.a_second
        report.add(f"oTree {otree.VERSION}, live page, {name}", peer.a_second, "rounds/s")
        report.add(f"oTree {otree.VERSION}, p99", peer.p99, "ms")
        report.add(f"oTree {otree.VERSION}, CPU a round", peer.cpu_ms, "ms")
        report.add("as many rounds as oTree's live page", times, "x", "at least 20", times >= 20)
        report.add("CPU a round of oTree beside this version's", peer.cpu_ms / now.cpu_ms, "x")
    own = statistics.median(each.own_cpu / each.seconds for each in met[NOW])
    report.add(f"{name}, cores used by the clients", own)
    errors = sum(each.errors for turns in met.values() for each in turns)
    report.add(f"{name}, errors", errors, "", "0", errors == 0)


def _watching(report: Report, ready: Databases) -> None:
    """A hundred people at a round a second each, ten thousand stored: what they feel of those who watch."""
    alone = best_measured(ready, FLAT_OUT, 1.0)
    for researchers in (1, 3):
        met = best_measured(ready, FLAT_OUT, 1.0, researchers)
        ratio = Pair(*(each.p99 / unwatched.p99 for each, unwatched in zip(met, alone, strict=True)))
        name = f"{FLAT_OUT} people, 1 round/s each, {stored.PEOPLE:,} stored, {researchers} watching"
        report.add(f"{name}: p99", Pair(*(each.p99 for each in met)), "ms")
        report.add(f"{name}: p99 beside nobody watching", ratio, "x", "at most 1.5", ratio.now <= 1.5)


PROTOCOLS = {
    "httptools behind the guard": None,
    "httptools without a guard": "'httptools'",
    "h11 without a guard": "'h11'",
}


def _protocols(report: Report, ready: Databases) -> None:
    """What the guard in front of the parser costs, and what the other parser would cost."""
    for name, http in PROTOCOLS.items():
        script = servers().SCRIPT
        if http is not None:
            script = (
                "import uvicorn\n"
                "config = uvicorn.Config\n"
                f"uvicorn.Config = lambda app, http, **more: config(app, http={http}, **more)\n" + script
            )
        with copied(ready[NOW]) as copy, serving(copy, script=script) as server:
            met = play(server, FLAT_OUT)
        report.add(f"{name}: CPU s per 1000 rounds", met.cpu_per_thousand, "s")
        report.add(f"{name}: {FLAT_OUT} people, as fast as it goes", met.a_second, "rounds/s")


def _postgresql(report: Report) -> None:
    """PostgreSQL with fsync and two workers, where there is one."""
    try:
        with servers().postgresql_server(safe=True) as address:
            met = []
            for source in versions():
                with servers().fresh_database(address) as database:
                    command = [sys.executable, "-m", "benchmarks.stored", database, "0", "0"]
                    subprocess.run(command, check=True, cwd=before.ROOT, env=environment(source))
                    with serving(database, source, workers=2) as server:
                        met.append(play(server, FLAT_OUT))
            _lines(report, f"PostgreSQL, two workers: {FLAT_OUT} people, as fast as it goes", met)
    except servers().NoPostgreSQL as error:
        print(error)


EXPORTED = 400_000


def _export(report: Report, rounds: int = EXPORTED) -> None:
    """An export of 400,000 rounds: seconds, and how much larger the server has become at its largest."""
    with tempfile.TemporaryDirectory() as folder:
        seconds, cpu, grown = [], [], []
        for source, database in prepared(Path(folder), 2000, rounds).items():
            with serving(database, source) as server:
                login = _ask(server.url, "/api/admin/login", {"password": PASSWORD})["token"]
                before_it, start, spent = _megabytes(server.pid), time.perf_counter(), cpu_seconds([server.pid])
                request = urllib.request.Request(
                    f"{server.url}/api/admin/studies/1/export", headers={"authorization": f"Bearer {login}"}
                )
                with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
                    while answer.read(2**20):
                        pass
                seconds.append(time.perf_counter() - start)
                cpu.append(cpu_seconds([server.pid]) - spent)
                grown.append(_megabytes(server.pid) - before_it)
    name = f"export of {rounds:,} rounds"
    report.add(name, Pair(*seconds), "s", "under 15", seconds[0] < 15 if rounds >= EXPORTED else None)
    report.add(f"{name}, CPU", Pair(*cpu), "s")
    report.add(f"{name}, the server grows by", Pair(*grown), "MB")


def _megabytes(pid: int) -> float:
    """The most memory that a process has had, where there is a /proc."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


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
        prepare(database, [stored.casino()], password=PASSWORD)
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
                    _ask(server.url, f"/api/participants/{token}/rounds?language=en", {"episode": 0, "moves": moves})
            server.kill()
            server.start()
            return Opening(fresh, statistics.median(_state_ms(server.url, token, 999) for token in tokens))
        finally:
            server.stop()


def _ask(url: str, path: str, body: Any = None, login: str | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    heads = {"content-type": "application/json"} | ({} if login is None else {"authorization": f"Bearer {login}"})
    request = urllib.request.Request(url + path, data, heads)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as response:
        return json.load(response)


def _state_ms(url: str, token: str, played: int) -> float:
    start = time.perf_counter()
    state = _ask(url, f"/api/participants/{token}")
    spent = 1000 * (time.perf_counter() - start)
    assert state["episode"]["played"] == played, state["episode"]
    return spent


def add_move_lines(report: Report) -> None:
    """Moves as the page sends them: this version, the one before and oTree in one run; and PostgreSQL."""
    with tempfile.TemporaryDirectory() as name:
        _goals(report, prepared(Path(name)))
    _postgresql(report)


def add_quick_lines(report: Report) -> None:
    """What a server is held to, in some minutes; ten thousand people are stored with a tenth of the rounds."""
    with tempfile.TemporaryDirectory() as name:
        empty = prepared(Path(name))
        _goals(report, empty)
        _protocols(report, empty)
        _watching(report, prepared(Path(name), stored.PEOPLE, stored.ROUNDS // 10))
    _postgresql(report)
    _export(report, EXPORTED // 10)


def add_lines(report: Report) -> None:
    """Every figure on study servers, beside that of the server before and what it is held to."""
    with databases() as ready:
        _goals(report, ready["nothing stored"])
        _watching(report, ready["a million rounds stored"])
        for name, each in ready.items():
            for people in CROWDS:
                for researchers in (0, 1):
                    eyes = "watched" if researchers else "unwatched"
                    _lines(report, f"{people} people, {name}, {eyes}", measured(each, people, None, researchers))
        _protocols(report, ready["nothing stored"])
    _postgresql(report)
    _export(report)
    took = opening()
    report.add("casino of 1000 rounds: open, slowest of 10", took.fresh, "ms", "under 100", took.fresh < 100)
    report.add(
        "casino with 999 rounds played: open after a restart, median of 10",
        took.rebuilt,
        "ms",
        "under 100",
        took.rebuilt < 100,
    )
