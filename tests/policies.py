"""The policy of the how-to guide, run from the page itself."""

from __future__ import annotations

import contextlib
import re
import types
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs/how-to/policy-service.md"


@contextlib.contextmanager
def documented_policy() -> Iterator[types.ModuleType]:
    """Run the first Python block of the page, whose ``server`` answers; its secret comes from the environment."""
    code = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
    module = types.ModuleType("policy")
    exec(compile(code, str(PAGE), "exec"), vars(module))
    try:
        yield module
    finally:
        module.server.shutdown()
        module.server.server_close()


def documented_lines() -> int:
    """Return how many lines of code the policy has, without blank lines and imports."""
    code = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)[0]
    return sum(bool(line.strip()) and not line.startswith(("import ", "from ")) for line in code.splitlines())
