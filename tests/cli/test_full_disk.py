"""A disk that fills up during ``cobandit reproduce``: a clear message, no partial file, and --resume goes on."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from cobandit.base.files import PARTIAL

PAGE = 4096
COMMAND = ("reproduce", "sim4", "--runs", "12", "--horizon", "60", "--seed", "1", "--workers", "1")
Space = Callable[[int], Any]
"""Leaves so many bytes of free space within its block."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[tuple[Path, Space]]:
    """A folder on a disk of its own, where we may mount one; elsewhere files may not grow beyond a size."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        yield folder, _limited
        return
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(folder)], check=True)
    try:

        @contextmanager
        def filled(free: int) -> Iterator[None]:
            filler = folder / "filler"
            space = os.statvfs(folder)
            filler.write_bytes(bytes(max(0, space.f_bavail * space.f_frsize - free)))
            yield
            filler.unlink()

        yield folder, filled
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def _limited(free: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (free // 8, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _numbers(folder: Path) -> dict[str, Any]:
    """Return the numbers of every stored chunk; reading a damaged one fails."""
    return {str(path.relative_to(folder)): parquet.read_table(path).to_pydict() for path in folder.rglob("*.parquet")}


def test_reproduce_on_a_disk_that_fills_up(run: Any, disk: tuple[Path, Space], tmp_path: Path) -> None:
    folder, filled = disk
    whole = tmp_path / "whole"
    assert run(*COMMAND, "--out", str(whole)).exit_code == 0
    sizes = [-(-path.stat().st_size // PAGE) * PAGE for path in _files(whole)]
    stages = set[int]()
    for share in (0.0, 0.5):
        out = folder / f"out-{share}"
        with filled(int(share * sum(sizes))):
            done = run(*COMMAND, "--out", str(out))
            assert done.exit_code == 2, done.output
            error = " ".join(done.stderr.split("Error:")[-1].split())
            assert any(reason in error for reason in ("No space left on device", "File too large")), error
            assert str(out) in error.replace(" ", "")  # the message says where, even where the terminal breaks it
            assert not [path for path in _files(out) if path.name.startswith(PARTIAL)]
            kept = _numbers(out)
            assert "--resume" in error or len(kept) in (0, len(_numbers(whole)))
        stages.add(len(kept))
        resumed = run(*COMMAND, "--out", str(out), "--resume")
        assert resumed.exit_code == 0, resumed.output
        assert {path.relative_to(out) for path in _files(out)} == {path.relative_to(whole) for path in _files(whole)}
        assert kept.items() <= _numbers(out).items()
        assert _numbers(out) == _numbers(whole)
    assert len(stages) > 1  # the disk was full at different stages
