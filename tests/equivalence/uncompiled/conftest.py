"""These tests play compiled kinds as plain Python; `test_*_without_compiler.py` run them, each in its own process."""

import os

collect_ignore_glob = [] if os.environ.get("NUMBA_DISABLE_JIT") == "1" else ["test_*.py"]
