"""How things are measured here: in fresh processes, this version and the one before in turn, so that ratios hold."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import before
from benchmarks.probe import MATRIX, OBSERVABILITY, best_of, clock_for

NOW = before.ROOT / "src"
PROBE = Path(__file__).with_name("probe.py")
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")


@dataclass(frozen=True)
class Spent:
    """What a process printed and cost; CPU seconds are user and system, its own children included."""

    printed: str
    cpu: float
    wall: float


@dataclass(frozen=True)
class Pair:
    """One figure of this version and of the version before, where there is one."""

    now: float
    before: float | None = None

    def over(self, other: Pair | float) -> Pair:
        """Both figures as ratios to another's."""
        below = other if isinstance(other, Pair) else Pair(other, other)
        if self.before is None or below.before is None:
            return Pair(self.now / below.now)
        return Pair(self.now / below.now, self.before / below.before)


def versions() -> list[Path]:
    """The source of this version, and of the one before where it is to be had."""
    earlier = before.source()
    return [NOW] if earlier is None else [NOW, earlier]


def each(measure: Callable[[Path], float]) -> Pair:
    """The same measurement of both versions, one right after the other."""
    return Pair(*(measure(source) for source in versions()))


def environment(source: Path, **more: str) -> dict[str, str]:
    """This environment, with that source in front of whatever is installed."""
    return os.environ | {"PYTHONPATH": str(source)} | more


def spend(command: list[str], env: dict[str, str]) -> Spent:
    """Run a command to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=env)
        _, status, usage = os.wait4(process.pid, 0)  # unlike getrusage of all children, this one's cost alone
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        for stream in (out, err):
            stream.seek(0)
        if process.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{err.read().decode()}")
        return Spent(out.read().decode(), usage.ru_utime + usage.ru_stime, wall)


def probe(source: Path, what: str, cache: str | None = None, **order: Any) -> tuple[Any, Spent]:
    """What `probe.py` finds with that source, and what its process cost."""
    env = environment(source) if cache is None else environment(source, NUMBA_CACHE_DIR=cache)
    spent = spend([sys.executable, "-P", str(PROBE), json.dumps({"what": what, **order})], env)
    told = json.loads(spent.printed)
    if not Path(told["package"]).is_relative_to(source):
        raise RuntimeError(f"{told['package']} was measured, not {source}.")
    return told["answer"], spent


def both(what: str, **order: Any) -> Pair:
    """One number of `probe.py` for both versions."""
    return each(lambda source: probe(source, what, **order)[0])


def only_now(what: str, **order: Any) -> Pair:
    """One number of `probe.py` for something that the version before did not have."""
    return Pair(probe(NOW, what, **order)[0])


def first_results(team: list[Any], horizon: int, runs: int, sources: Sequence[Path] | None = None) -> tuple[Pair, Pair]:
    """CPU seconds to a first result with nothing compiled, and again in a second process that finds it compiled."""

    def seconds(source: Path, cache: str) -> float:
        return probe(source, "first_result", cache, team=team, horizon=horizon, runs=runs)[1].cpu

    cold, warm = [], []
    for source in versions() if sources is None else sources:
        with tempfile.TemporaryDirectory() as cache:
            cold.append(seconds(source, cache))
            warm.append(best_of(partial(seconds, source, cache), 3))
    return Pair(*cold), Pair(*warm)


def command_seconds(arguments: list[str]) -> Pair:
    """Seconds from starting a command to its end, the best of five."""

    def one(source: Path) -> float:
        command = [sys.executable, "-m", "cobandit", *arguments]
        spend(command, environment(source))
        return best_of(lambda: spend(command, environment(source)).wall, 5)

    return each(one)


@dataclass(frozen=True)
class FirstRun:
    """``make run`` right after installing: CPU and wall seconds of its parts."""

    cpu: float
    compare: float
    reproduce: float
    page: float

    @property
    def wall(self) -> float:
        """From the first command to the first page."""
        return self.compare + self.reproduce + self.page


def first_run(source: Path) -> FirstRun:
    """The three commands of ``make run``, with nothing compiled, until the server answers its first page."""
    with tempfile.TemporaryDirectory() as folder:
        out, command = Path(folder), [sys.executable, "-m", "cobandit"]
        env = environment(source, NUMBA_CACHE_DIR=str(out / "cache"))
        compare = spend([*command, "compare", "--runs", "400", "--figure", str(out / "comparison.svg")], env)
        reproduce = spend([*command, "reproduce", "--out", str(out / "reproduce")], env)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        serve = ["study", "serve", "burger", "casino", "--demo", "--report", str(out / "reproduce")]
        serve += ["--database", f"sqlite:///{out / 'studies.sqlite'}", "--port", str(port)]
        with (out / "served.txt").open("wb") as log:
            start = time.perf_counter()
            server = subprocess.Popen([*command, *serve], env=env, stdout=log, stderr=log, cwd=out)  # keeps a password
            try:
                page = _answered(f"http://127.0.0.1:{port}/", server) - start
            finally:
                server.terminate()
                server.wait(30)
    return FirstRun(compare.cpu + reproduce.cpu, compare.wall, reproduce.wall, page)


def _answered(url: str, server: subprocess.Popen[bytes], patience: float = 120.0) -> float:
    """When the server answered."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.perf_counter() + patience
    while server.poll() is None and time.perf_counter() < until:
        with contextlib.suppress(urllib.error.URLError, ConnectionError), opener.open(url, timeout=10) as page:
            page.read()
            return time.perf_counter()
        time.sleep(0.02)
    raise RuntimeError(f"Nobody answered at {url}.")


def compiled_library(name: str) -> ctypes.CDLL | None:
    """Compile a C file of this folder and return the library; None where there is no C compiler."""
    compiler = next((name for name in COMPILERS if shutil.which(name)), None)
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "yardstick.so"
        source = Path(__file__).with_name(name)
        subprocess.run([compiler, *FLAGS, "-o", str(library), str(source), "-lm"], check=True)
        return ctypes.CDLL(str(library))


def c_nanoseconds(horizon: int, runs: int, window: int = 25) -> float | None:
    """Nanoseconds a round of the plain C loop in loop.c; None where there is no C compiler."""
    library = compiled_library("loop.c")
    if library is None:
        return None
    play = library.play
    means, sight, regret = np.array(MATRIX).ravel(), np.array(OBSERVABILITY), np.zeros(runs)

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    clock = clock_for(wall=False)

    def once() -> float:
        start = clock()
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
        return (clock() - start) / (horizon * runs) * 1e9

    return best_of(once, 5)
