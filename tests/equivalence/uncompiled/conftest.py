"""These tests play the compiled kinds as plain Python; `test_without_compiler.py` runs them in their own process."""

import os

collect_ignore_glob = [] if os.environ.get("NUMBA_DISABLE_JIT") == "1" else ["test_*.py"]
