"""The version before, beside which the new figures stand: its source, taken from git into a cache below ``out/``."""

from __future__ import annotations

import functools
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

BASE = "abfa1a039aa8ff35673aaf031d77dba179e9054a"
"""The version before: 0.1.0 with its first compiled engine, the last commit before the second one was begun."""


SERVER_BASE = "e791a342425498c3a3319efb442acf0763f7de96"
"""The version before of study servers: the last commit with several paths for a move."""


TEAMS_BASE = "dfb387d637f77e922ee747eb6c205e68262a75b3"
"""The last version in which one person plays in a team: what people who play alone must not get slower than."""


@functools.cache
def source(base: str = BASE) -> Path | None:
    """The folder to put on PYTHONPATH; None, with a word on why, where git or the commit is missing."""
    kept = ROOT / "out" / "before" / base[:12]
    if not (kept / "src").is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:  # half an archive must never be taken for it
            fresh = Path(folder) / "fresh"
            fresh.mkdir()
            archive = Path(folder) / "src.tar"
            try:
                _run("git", "archive", "--output", str(archive), base, "src")
                _run("tar", "-x", "-f", str(archive), "-C", str(fresh))
            except (OSError, subprocess.CalledProcessError) as error:
                told = getattr(error, "stderr", "") or str(error)
                print(f"The version before ({base[:7]}) is not to be had, so its column stays empty: {told.strip()}")
                return None
            fresh.rename(kept)
    return kept / "src"


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
