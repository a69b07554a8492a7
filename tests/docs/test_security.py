"""Every test that SECURITY.md names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_promise_names_a_test_that_exists() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(?:\w+::)?(\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8"))
    assert len(named) >= 14
    missing = [
        (file, name)
        for file, name in named
        if not re.search(rf"\b(?:def|class) {name}\b", (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert missing == []
