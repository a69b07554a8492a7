"""Limits to the size of modules and functions, and the exceptions that are left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import sizes


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small project with one thing beyond each limit."""
    (tmp_path / "src").mkdir()
    names = ", ".join(f"a{number}" for number in range(10))
    branches = "".join(f"    if x == {number}:\n        return {number}\n" for number in range(12))
    lines = "".join(f"    x += {number}\n" for number in range(80))
    (tmp_path / "src" / "wide.py").write_text(f"class One:\n    async def wide({names}):\n        pass\n")
    (tmp_path / "src" / "deep.py").write_text(f"def deep(x):\n{branches}")
    (tmp_path / "src" / "long.py").write_text(f"@staticmethod\ndef long(x):\n{lines}")
    (tmp_path / "src" / "large.py").write_text("x = 1\n" * 501)
    return tmp_path


def test_everything_beyond_a_limit_is_found(tree: Path) -> None:
    found = {(size.kind, size.name): size.size for size in sizes.beyond(tree)}
    assert found == {
        ("arguments", "One.wide"): 9,
        ("complexity", "deep"): 13,
        ("function lines", "long"): 81,
        ("module lines", "src/large.py"): 501,
        ("statements", "long"): 80,
    }


def test_an_exception_may_not_grow_and_not_outlive_its_need() -> None:
    found = [sizes.Size("arguments", "wide", 10, "src/wide.py:2")]
    assert sizes.complaints(found, {"arguments": {"wide": 10}}) == []
    assert sizes.complaints(found, {"arguments": {"wide": 11}}) == []
    assert "10, up from 9" in sizes.complaints(found, {"arguments": {"wide": 9}})[0]
    assert "Delete its entry" in sizes.complaints([], {"arguments": {"wide": 9}})[0]
