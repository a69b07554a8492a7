"""The progress bar: on a terminal, and only there."""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys

import pytest

from cobandit.cli import door, progress
from tests.cli.terminals import read_screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_no_terminal_no_bar(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress.progress_bar(1) as bar:
        assert bar("a team") is None
    assert sys.stderr.getvalue() == ""  # type: ignore[union-attr]


def test_a_bar_over_all_teams(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress_bar(2) as bar:
        for team in ("first", "second"):
            report = bar(team)
            report(5, 10)  # type: ignore[misc]
            report(10, 10)  # type: ignore[misc]
    shown = sys.stderr.getvalue()  # type: ignore[union-attr]
    assert "second" in shown
    assert "20/20" in shown
    assert "runs/s" in shown


class TestNotices:
    def heard(self, *records) -> list[str]:
        said: list[str] = []
        with door.notices(said.append):
            for level, text, extra in records:
                logging.getLogger("cobandit").log(level, text, extra=extra)
        return said

    def test_warnings_are_told(self):
        records = (logging.WARNING, "no place", None), (logging.INFO, "a detail", None)
        assert self.heard(*records) == ["no place"]

    @pytest.mark.parametrize(("screen", "told"), [(Terminal(), ["compiling"]), (io.StringIO(), [])])
    def test_compiling_is_told_on_a_terminal(self, monkeypatch, screen, told):
        monkeypatch.setattr(sys, "stderr", screen)
        assert self.heard((logging.WARNING, "compiling", {"compiling": True})) == told

    def test_the_log_is_as_before_afterwards(self):
        log = logging.getLogger("cobandit")
        before = log.handlers, log.propagate

        def interrupted() -> None:
            with door.notices(print):
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert (log.handlers, log.propagate) == before


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
        shown = read_screen(screen)
        data = started.stdout.read().decode()  # type: ignore[union-attr]
    assert started.returncode == 0
    assert b"partner-aware-ucb" in shown
    assert b"20/20" in shown
    assert data.startswith("t,task_regret_mean")
    assert "\x1b" not in data
