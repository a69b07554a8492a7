"""The library in WebAssembly: Pyodide under node gives bit for bit what this Python gives."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import unable
from tools import third_party

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
COMPILED = (".so", ".pyd", ".dylib")

pytestmark = [pytest.mark.slow, pytest.mark.long]


@pytest.fixture(scope="module")
def node() -> str:
    npm = third_party.installed_npm()
    if npm is None:
        unable("npm is needed to fetch Pyodide.")
    path = shutil.which("node") or npm[0]
    return path if Path(path).stem == "node" else unable("node is needed to run Pyodide.")


@pytest.fixture(scope="module")
def runtime(node: str) -> dict[str, Path]:
    """Fetch Pyodide and NumPy for it, verified by their digests; return the path of each file."""
    try:
        third_party.get(third_party.installed_npm(), HERE, "files.toml")
    except third_party.Unavailable as error:
        unable(f"Pyodide could not be fetched: {error}.")
    return {file.target.name: file.target.resolve() for file in third_party.listed_files(HERE, "files.toml")}


def base_requirements(distribution: str = "cobandit") -> Iterator[str]:
    """Yield the distributions that the library needs, each with its own, without NumPy.

    Typer, which only the command line needs, is left out: it needs pydantic, which is compiled. Pyodide has a build
    of it, but no npm package has.
    """
    for line in importlib.metadata.requires(distribution) or ():
        requirement = Requirement(line)
        wanted = requirement.marker is None or requirement.marker.evaluate({"extra": "", "sys_platform": "emscripten"})
        if wanted and requirement.name not in ("numpy", "typer"):
            yield canonicalize_name(requirement.name)
            yield from base_requirements(requirement.name)


def copy_packages(folder: Path) -> None:
    """Copy cobandit and the pure Python packages that it needs into a folder."""
    shutil.copytree(
        ROOT / "src" / "cobandit", folder / "cobandit", ignore=shutil.ignore_patterns("__pycache__", "vendor")
    )
    for name in sorted(set(base_requirements())):
        for file in importlib.metadata.files(name) or ():
            if ".." in file.parts or "__pycache__" in file.parts:
                continue
            assert file.suffix not in COMPILED, f"{name} is not pure Python: {file}"
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), target)


def test_the_library_runs_in_pyodide(node: str, runtime: dict[str, Path], tmp_path: Path) -> None:
    copy_packages(tmp_path)
    wheel = next(path for name, path in runtime.items() if name.startswith("numpy-"))
    program = HERE / "program.py"
    command: list[str | Path] = [node, HERE / "run.mjs", runtime["pyodide.mjs"].parent, wheel, tmp_path, program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    here = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 10
    assert lines == here.stdout.splitlines()
