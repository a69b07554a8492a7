"""Every kind, as plain Python with NumPy's checked arrays, plays what the reference engine plays.

Pointers in compiled code know no bounds, and a set of kinds takes seconds to compile. Without the compiler (numba
reads ``NUMBA_DISABLE_JIT`` once, so it takes a process of its own) every read is checked, and many sets can be tried.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@pytest.mark.slow
@pytest.mark.parametrize("part", ["equivalence/uncompiled/test_engines.py", "equivalence/uncompiled/test_studies.py"])
def test_without_the_compiler(part: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(ROOT / "tests" / part)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
