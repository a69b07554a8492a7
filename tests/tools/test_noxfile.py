"""The lower bounds of pyproject.toml and the Pythons of the classifiers, as far as no installation is needed."""

from __future__ import annotations

import runpy
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

nox = pytest.importorskip("nox")

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
BUILD = [Requirement(line) for line in PROJECT["build-system"]["requires"]]
DEPENDENCIES = [
    Requirement(line)
    for line in (*PROJECT["project"]["dependencies"], *(line for needed in EXTRAS.values() for line in needed))
    if not line.startswith("cobandit[")
]


def test_every_dependency_has_a_floor_and_no_ceiling() -> None:
    operators = {dependency.name: [each.operator for each in dependency.specifier] for dependency in DEPENDENCIES}
    assert set(map(tuple, operators.values())) == {(">=",)}
    assert all(">=" in [each.operator for each in dependency.specifier] for dependency in BUILD)


def test_what_is_installed_is_not_below_its_floor() -> None:
    apart = {Requirement(line).name for line in EXTRAS["examples"]}
    for dependency in DEPENDENCIES:
        if dependency.name not in apart and (dependency.marker is None or dependency.marker.evaluate()):
            floor = next(iter(dependency.specifier)).version
            assert Version(version(dependency.name)) >= Version(floor), dependency


def test_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", "/usr/bin")  # which the file changes
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    sessions = runpy.run_path(str(ROOT / "noxfile.py"))
    assert sessions["PYTHONS"] == ["3.11", "3.12", "3.13"]
    assert PROJECT["project"]["requires-python"] == f">={sessions['PYTHONS'][0]}"
    assert set(sessions["TOOLS"]) <= {Requirement(line).name for line in EXTRAS["dev"]}
    assert all((ROOT / path).exists() for path in sessions["LEFT_OUT"])
