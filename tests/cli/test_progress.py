"""The progress bar: on a terminal, and only there."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from cobandit.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_no_terminal_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.progress_bar(1) as bar:
        assert bar("a team") is None
    assert sys.stderr.getvalue() == ""


def test_a_bar_over_all_teams(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress_bar(2) as bar:
        for team in ("first", "second"):
            report = bar(team)
            report(5, 10)
            report(10, 10)
    shown = sys.stderr.getvalue()
    assert "second" in shown
    assert "20/20" in shown
    assert "runs/s" in shown


def test_a_failure_leaves_no_thread_behind(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())

    def interrupted() -> None:
        with progress.progress_bar(1) as bar:
            bar("a team")
            assert "compiler-watch" in {thread.name for thread in threading.enumerate()}
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "compiler-watch" not in {thread.name for thread in threading.enumerate()}


class TestCompiling:
    @pytest.fixture
    def kernel(self, monkeypatch):
        """A compiled function as numba leaves it in a module of the fast engine."""
        function = SimpleNamespace(stats=SimpleNamespace(cache_misses={}))
        module = ModuleType("cobandit.engine.fast.pretended")
        module.function = function
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return function

    def watched(self, before, during, kernel) -> list[str]:
        said: list[str] = []
        heard = threading.Event()

        def say(text: str) -> None:
            said.append(text)
            heard.set()

        kernel.stats.cache_misses.update(before)
        with progress._CompilerWatch(say) as watch:
            watch.wait_for_runs()
            kernel.stats.cache_misses.update(during)
            heard.wait(3 * progress.LOOK_EVERY)
            watch.runs_came()
        return said

    def test_is_told(self, kernel):
        assert self.watched({}, {"signature": 1}, kernel) == [progress.COMPILING]

    def test_is_not_told_of_a_kernel_that_was_there(self, kernel):
        assert self.watched({"signature": 1}, {}, kernel) == []

    def test_fits_a_line(self):
        assert len(progress.COMPILING) < 80


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_bar_is_on_stderr_and_the_data_on_stdout():
    import pty

    screen, side = pty.openpty()
    words = ["simulate", "--engine", "reference", "--runs", "20", "--horizon", "50", "--format", "csv"]
    command = [sys.executable, "-m", "cobandit", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=side, env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    ) as started:
        os.close(side)
        shown = b""
        while True:
            try:
                part = os.read(screen, 65536)
            except OSError:  # how Linux says that the other side is closed
                break
            if not part:
                break
            shown += part
        data = started.stdout.read().decode()
    os.close(screen)
    assert started.returncode == 0
    assert b"partner-aware-ucb" in shown
    assert b"20/20" in shown
    assert data.startswith("t,task_regret_mean")
    assert "\x1b" not in data
