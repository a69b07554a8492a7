"""Two ways to run a command: in this process, and as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import CliRunner

from cobandit.cli import app

PLAIN = {"COLUMNS": "80", "NO_COLOR": "1", "FORCE_COLOR": None, "PY_COLORS": None}


@pytest.fixture
def run() -> Callable[..., Any]:
    """A command in this process; its errors, if not meant to leave it, are this test's."""

    def invoke(*words: str, stdin: str = "") -> Any:
        return CliRunner().invoke(
            app, list(words), input=stdin, env=PLAIN, catch_exceptions=False, prog_name="cobandit"
        )

    return invoke


@pytest.fixture(scope="session")
def plain_environment() -> Callable[[], dict[str, str]]:
    """The present environment for programs that print what tests read: 80 columns, no colours."""

    def plain() -> dict[str, str]:
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80", "NO_COLOR": "1"}
        environment.pop("FORCE_COLOR", None)
        return environment

    return plain


@pytest.fixture
def program(plain_environment: Callable[[], dict[str, str]]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """A command as a program of its own."""

    def start(*words: str, stdin: str = "", code: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
        how = ["-c", code] if code else ["-m", "cobandit"]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run(
            [sys.executable, *how, *words],
            input=stdin,
            text=True,
            env=plain_environment(),
            timeout=300,
            check=False,
            **streams,
        )

    return start
