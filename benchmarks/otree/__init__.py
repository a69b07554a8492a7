"""oTree as a peer of the study server: installed in its own environment, with a minimal live page.

oTree is never a dependency. ``serving`` installs the version named here from PyPI below ``out/`` and starts its web
server in a copy of ``project``. Its SQLite database is in memory and is written to disk when the server stops, so oTree
acknowledges rounds that a crash would lose; the study server acknowledges them after they are on disk.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.before import ROOT

VERSION = "6.0.15"
"""The version that is measured; it runs on Python 3.11."""

HERE = Path(__file__).parent
PATIENCE = 60.0


@dataclass(frozen=True)
class OTreeServer:
    """A running oTree."""

    url: str
    pid: int


def installed() -> Path | None:
    """Return the ``otree`` command, installed now if it is not there; None, with the reason printed, if that fails."""
    folder = ROOT / "out" / "otree" / VERSION
    command = folder / "bin" / "otree"
    if not command.exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", f"otree=={VERSION}"]
            subprocess.run(pip, check=True, capture_output=True, text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"oTree {VERSION} cannot be installed: {getattr(error, 'stderr', None) or error}")
            return None
    return command


@contextlib.contextmanager
def serving(command: Path, port: int) -> Iterator[OTreeServer]:
    """Run oTree's web server with an empty database at a port of 127.0.0.1."""
    with tempfile.TemporaryDirectory(prefix="cobandit-otree-") as name:
        project = Path(shutil.copytree(HERE / "project", Path(name) / "project"))
        (project / "_static").mkdir()  # which oTree wants, and git does not keep
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("OTREE_", "PYTHON"))}
        environment |= {"OTREE_PRODUCTION": "1", "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}"}
        with (Path(name) / "log").open("wb") as log:
            process = subprocess.Popen(
                [str(command), "prodserver1of2", f"127.0.0.1:{port}"],
                cwd=project,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # it starts a second process, which must end with it
            )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(f"{url}/api/otree_version", process, Path(name) / "log")
            yield OTreeServer(url, process.pid)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(urllib.error.URLError, ConnectionError), opener.open(url, timeout=5):
            return
        time.sleep(0.1)
    raise RuntimeError(f"oTree did not start: {log.read_text(errors='replace')[-2000:]}")
