"""Which Pythons are tried, and how the outcome is read."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

_spec = importlib.util.spec_from_file_location("matrix", ROOT / "tools" / "matrix.py")
assert _spec is not None
assert _spec.loader is not None
matrix = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(matrix)


def test_the_classifiers_say_what_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert matrix.listed(project) == ["3.11", "3.12", "3.13"]
    later = {"project": {"classifiers": [f"Programming Language :: Python :: 3.{n}" for n in (11, 9, 100)]}}
    assert matrix.listed(later) == ["3.9", "3.11", "3.100"]


def test_this_very_python_is_found() -> None:
    assert matrix.python_of(f"3.{sys.version_info.minor}") == Path(sys.executable)


def test_a_signpost_to_nothing_is_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shim = tmp_path / "python3.99"
    shim.write_text("#!/bin/sh\necho no such version >&2\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert matrix.python_of("3.99") is None
    kept = tmp_path / "pyenv" / "versions" / "3.99.1" / "bin" / "python"
    kept.parent.mkdir(parents=True)
    kept.write_text("#!/bin/sh\necho 3.99\n")
    kept.chmod(0o755)
    assert matrix.python_of("3.99") == kept


def test_what_is_not_there_is_not_called_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrix, "python_of", lambda version: None)
    outcome = matrix.tried("3.99", [])
    assert matrix.VERDICTS[outcome.passed] == "not run"
    assert outcome.words == "not on this machine: nothing was run"


@pytest.mark.parametrize(
    ("output", "line"),
    [
        ("....\n12 passed in 1.0s\n", "12 passed in 1.0s"),
        ("== 1 failed, 3 passed in 2.0s ==\nbye\n", "1 failed, 3 passed in 2.0s"),
        ("....\n", "no test ran"),
    ],
)
def test_the_closing_line_is_the_one_that_counts(output: str, line: str) -> None:
    assert matrix.closing_line(output) == line
