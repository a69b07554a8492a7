"""Run the quick tests on every Python that the package is for and this machine has, each in an environment of its own.

`make matrix` keeps the environments as `.venv-3.11`, `.venv-3.12` and so on, and fails if a test does. Further words go
to pytest: `make matrix TESTS=tests/agents`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VERDICTS = {True: "passed", False: "FAILED", None: "not run"}
CLOSING = re.compile(r"\b\d+ (?:passed|failed|errors?)\b")


class Outcome(NamedTuple):
    """What became of one Python; neither passed nor failed if it is not on this machine."""

    version: str
    passed: bool | None
    words: str


def listed(project: dict[str, Any]) -> list[str]:
    """The versions in the classifiers, oldest first."""
    pattern = re.compile(r"Programming Language :: Python :: (3\.\d+)")
    matches = map(pattern.fullmatch, project["project"]["classifiers"])
    return sorted((match[1] for match in matches if match), key=lambda version: int(version.partition(".")[2]))


def candidates(version: str) -> Iterator[Path]:
    """Where a Python of this version may be: this very one, on the path, or among pyenv's."""
    if version == f"3.{sys.version_info.minor}":
        yield Path(sys.executable)
    on_path = shutil.which(f"python{version}")
    if on_path:
        yield Path(on_path)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)


def python_of(version: str) -> Path | None:
    """A Python of this version that runs; a name on the path may be a signpost to nothing."""
    asks = "import sys; print('%d.%d' % sys.version_info[:2])"
    for path in candidates(version):
        done = subprocess.run([path, "-c", asks], capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip() == version:
            return path
    return None


def environment(version: str, python: Path, root: Path = ROOT) -> Path:
    """The Python of an environment with everything that the tests need, made anew when the pins have changed."""
    venv = root / f".venv-{version}"
    inside, ready = venv / "bin" / "python", venv / "ready.txt"
    wanted = "".join((root / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "constraints.txt"))
    if not ready.is_file() or ready.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(venv, ignore_errors=True)
        subprocess.run([python, "-m", "venv", venv], check=True)
        install = ["-m", "pip", "install", "--quiet", "--constraint", str(root / "constraints.txt")]
        subprocess.run([inside, *install, "--editable", f"{root}[dev]"], check=True)
        ready.write_text(wanted, encoding="utf-8")
    return inside


def closing_line(output: str) -> str:
    """The last line in which pytest counts."""
    return next((line.strip("= ") for line in reversed(output.splitlines()) if CLOSING.search(line)), "no test ran")


def tried(version: str, words: list[str]) -> Outcome:
    """Run the tests on one Python, and let them be seen."""
    python = python_of(version)
    if python is None:
        return Outcome(version, None, "not on this machine: nothing was run")
    print(f"Python {version}: {python}", flush=True)
    command = [str(environment(version, python)), "-m", "pytest", "-m", "not slow and not long", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        lines = []
        for line in running.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return Outcome(version, running.returncode == 0, closing_line("".join(lines)))


def main() -> None:
    """Run them all, and sum up."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    outcomes = [tried(version, sys.argv[1:]) for version in listed(project)]
    which = f", of {' '.join(sys.argv[1:])}:" if sys.argv[1:] else ":"
    print(f"\nThe tests that are marked neither slow nor long{which}")
    for version, passed, words in outcomes:
        print(f"  Python {version}  {VERDICTS[passed]:7}  {words}")
    raise SystemExit(1 if any(outcome.passed is False for outcome in outcomes) else 0)


if __name__ == "__main__":
    main()
