"""A second process helps to compile for several teams, and only then."""

from __future__ import annotations

import importlib.util
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import cobandit as cb
from cobandit.engine.compiling import at_first_compilation, compilation_begins
from cobandit.experiments import compare_teams, compiling

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=(1.0, 0.5))
TEAMS = [cb.Team.of("naive-ucb"), cb.Team.of("win-stay-lose-shift"), cb.Team.of("softmax")]
needs_compiler = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="numba is not installed")


def test_whoever_waits_is_told_once_and_not_after_leaving() -> None:
    told: list[str] = []
    with at_first_compilation(lambda: told.append("first")):
        compilation_begins()
        compilation_begins()
    with at_first_compilation(lambda: told.append("never")):
        pass
    compilation_begins()
    assert told == ["first"]


def test_nobody_is_started_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: pytest.fail("a process was started"))
    compare_teams(PROBLEM, TEAMS, 10, 2, engine="reference")


@pytest.mark.parametrize("failure", [OSError("no more processes"), pickle.PicklingError("a class of a script")])
def test_without_the_second_process_everything_goes_on(monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise failure

    monkeypatch.setattr(compiling, "available_cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", refuse)
    with compiling.compiled_by_two(PROBLEM, TEAMS, 10, 2, False):
        compilation_begins()


def test_a_process_that_is_still_at_work_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def start(*arguments: Any, **options: Any) -> Any:
        started.append(real([sys.executable, "-c", "import time; time.sleep(600)"], **options))
        return started[0]

    monkeypatch.setattr(compiling, "available_cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", start)
    with compiling.compiled_by_two(PROBLEM, TEAMS, 10, 2, False):
        compilation_begins()
        assert started[0].poll() is None
    assert started[0].poll() is not None


@needs_compiler
@pytest.mark.parametrize("diagnose", [False, True])
def test_it_compiles_for_the_last_teams_first(monkeypatch: pytest.MonkeyPatch, diagnose: bool) -> None:
    orders: list[bytes] = []

    class Pipe(io.BytesIO):
        def close(self) -> None:
            orders.append(self.getvalue())
            super().close()

    class Helper:
        def __init__(self, *_: Any, **__: Any) -> None:
            self.stdin = Pipe()

        def kill(self) -> None: ...
        def wait(self) -> None: ...

    monkeypatch.setattr(compiling, "available_cores", lambda: 2)
    monkeypatch.setattr(subprocess, "Popen", Helper)
    with compiling.compiled_by_two(PROBLEM, TEAMS, 10, 2, diagnose):
        compilation_begins()
    monkeypatch.undo()
    asked: list[str] = []
    monkeypatch.setattr(compiling, "compile_loop", lambda problem, team, *_: asked.append(team.label))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(orders[0])))
    compiling.main()
    assert asked == ["softmax", "win-stay-lose-shift"]


@needs_compiler
def test_what_one_process_compiled_the_other_finds(tmp_path: Path) -> None:
    script = (
        "import sys, cobandit as cb\n"
        "from cobandit.experiments.compiling import compile_loop\n"
        "problem = cb.Problem.bernoulli([[.8, .4], [.2, .6]], observability=(1., .5))\n"
        "team = cb.Team.of('win-stay-lose-shift')\n"
        "if sys.argv[1] == 'compile': compile_loop(problem, team, 50, 3, False)\n"
        "else: cb.simulate(problem, team, 50, 3, 0, engine='fast')\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    said = [
        subprocess.run(
            [sys.executable, "-c", script, what], env=environment, capture_output=True, text=True, check=True
        ).stderr
        for what in ("compile", "simulate")
    ]
    assert "Compiling the fast engine" in said[0]
    assert "Compiling" not in said[1]
