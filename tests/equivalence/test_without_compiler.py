"""Every kind, as plain Python with NumPy's checked arrays, plays what the reference engine plays.

Pointers in compiled code know no bounds, and a set of kinds takes seconds to compile. Without the compiler every read
is checked, and many sets can be tried.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("name", ["engines", "relabelled", "studies"])
def test_kinds_without_the_compiler(name: str) -> None:
    """In a process of its own: numba reads the variable once."""
    path = HERE / "uncompiled" / f"test_{name}.py"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, cwd=HERE.parents[1], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
