"""These tests play compiled kinds as plain Python; `test_without_compiler.py` runs each file in its own process."""

import os

collect_ignore_glob = [] if os.environ.get("NUMBA_DISABLE_JIT") == "1" else ["test_*.py"]
