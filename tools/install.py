"""Install the package and the packages for a job into ``.venv``: ``python tools/install.py .venv run|docs|dev``.

uv needs seconds where pip needs a minute or two. If uv cannot be downloaded or fails, pip is used.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
EXTRAS = {
    "run": "fast,parquet,plot,robot,stats,web",
    "docs": "all,docs",
    "dev": "dev",
}
"""The extras of each job: comparing, reproducing and serving; building the documentation; everything for tests."""

WITHOUT_HOOKS = {"HATCH_BUILD_NO_HOOKS": "true"}
"""The editable install fetches no third-party scripts: the Makefile fetches them in parallel with other work."""


def install(folder: Path, job: str) -> None:
    """Create the environment if it is missing, and install the extras of a job into it."""
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        _say(f"Creating {folder.name} ...")
        venv.create(folder, with_pip=True)
    wanted = ["--constraint", "constraints.txt", "--editable", f".[{EXTRAS[job]}]"]
    started = time.monotonic()
    if not _install_with_uv(python, job, wanted):
        _say(f"Installing the packages for '{job}' with pip, which takes a minute or two ...")
        if not _run(python, "-m", "pip", "install", "--quiet", "--no-compile", *wanted):
            sys.exit("The packages could not be installed; pip's message above says why.")
    _say(f"Installed in {time.monotonic() - started:.0f} s.")


def _install_with_uv(python: Path, job: str, wanted: list[str]) -> bool:
    """Install with a temporary download of uv, and return whether it worked."""
    with tempfile.TemporaryDirectory() as folder:
        _say("Downloading uv ...")
        fetched: list[str | Path] = [
            python,
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            "--target",
            folder,
            "uv",
        ]
        if not _run(*fetched):
            return False
        _say(f"Installing the packages for '{job}' with uv ...")
        uv = Path(folder, "bin", "uv")
        return _run(uv, "pip", "install", "--quiet", "--python", python, *wanted, **_uv_settings(python))


def _uv_settings(python: Path) -> dict[str, str]:
    """Return the environment that tells uv which package index pip is configured to use; uv does not ask pip."""
    asked = subprocess.run(
        [python, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    index = os.environ.get("PIP_INDEX_URL") or asked.stdout.strip()
    return {"UV_DEFAULT_INDEX": index} if index else {}


def _run(*command: str | Path, **environment: str) -> bool:
    environment = os.environ | WITHOUT_HOOKS | environment
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def _say(text: str) -> None:
    print(text, flush=True)


def main() -> None:
    """Install the extras of the job that the command line names."""
    if sys.version_info < OLDEST:
        have = ".".join(map(str, sys.version_info[:2]))
        sys.exit(f"cobandit needs Python 3.11 or newer, got {have}. Name another: make PYTHON=python3.12 ...")
    if len(sys.argv) != 3 or sys.argv[2] not in EXTRAS:
        sys.exit(f"usage: python tools/install.py FOLDER {'|'.join(EXTRAS)}")
    install(Path(sys.argv[1]).absolute(), sys.argv[2])


if __name__ == "__main__":
    main()
