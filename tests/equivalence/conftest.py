"""Running a file of tests without the compiler, which takes a process of its own: numba reads the variable once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture
def without_compiler() -> Callable[[str], None]:
    """Runs a file of ``uncompiled/`` and fails with what it printed."""

    def run(name: str) -> None:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / "uncompiled" / name)]
        environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
        done = subprocess.run(
            command, cwd=HERE.parents[1], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]

    return run
