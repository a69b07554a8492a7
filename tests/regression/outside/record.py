"""Record the behaviour users see: ``python -m tests.regression.outside.record [--dry-run] [GROUP ...]``.

The groups are world (http, pages, exports), commands, analyses and names; the default is all of them.
``commands:PATTERN`` and ``analyses:PATTERN`` record only the cases whose name matches the pattern. The command prints
every difference from the previous recording: read them before you commit. ``--dry-run`` only prints them. The fixtures
of layout 1 are written only where they are missing, because they represent data that users already have.
"""

from __future__ import annotations

import fnmatch
import gzip
import io
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

import cobandit

from .commands import Analysis, Command, analyses, commands
from .comparing import as_stored, differences, keep, load
from .world import FIXTURES, World


def _keep_layout(world: World) -> None:
    """The database and its exports, once."""
    if (FIXTURES / "studies.sqlite.gz").exists():
        return
    (FIXTURES / "studies.sqlite.gz").write_bytes(gzip.compress(world.database(), 9, mtime=0))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for file in sorted((world.folder / "exports").rglob("*")):
            if file.is_file():
                about = tarfile.TarInfo(file.relative_to(world.folder).as_posix())
                about.size = file.stat().st_size
                archive.addfile(about, io.BytesIO(file.read_bytes()))
    (FIXTURES / "exports.tar.gz").write_bytes(gzip.compress(packed.getvalue(), 9, mtime=0))


def _run(cases: list[Command] | list[Analysis]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for case in cases:
        if case.name in made:
            sys.exit(f"There are two cases {case.name!r}.")
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            made[case.name] = case.run(Path(folder))
        print(f"{time.monotonic() - start:5.1f} s  {case.name}", flush=True)
    return made


def _again(group: str, pattern: str) -> dict[str, Any]:
    """Record the cases of a group that match the pattern."""
    every: list[Any] = commands() if group == "commands" else analyses()
    return _run([case for case in every if fnmatch.fnmatchcase(case.name, pattern)])


def _print_differences(group: str, cases: dict[str, Any]) -> None:
    before = load(group)
    for name in before.keys() | cases.keys():
        for line in differences({name: before.get(name)}, {name: as_stored(cases.get(name))}):
            print(f"{group}{line}")


def main(*arguments: str) -> None:
    """Record everything, or some groups."""
    groups = [argument for argument in arguments if argument != "--dry-run"]
    recorded: dict[str, dict[str, Any]] = {}
    for chosen in [group for group in groups if ":" in group]:
        group, pattern = chosen.split(":", 1)
        recorded[group] = recorded.get(group, load(group)) | _again(group, pattern)
    if not groups or "world" in groups:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder))
            world.live_through()
            _keep_layout(world)
        recorded |= {"http": world.http, "pages": world.pages, "exports": world.exports}
    if not groups or "commands" in groups:
        recorded["commands"] = _run(commands())
    if not groups or "analyses" in groups:
        recorded["analyses"] = _run(analyses())
    if not groups or "names" in groups:
        recorded["names"] = {"cobandit": sorted(cobandit.__all__)}
    for group, cases in recorded.items():
        _print_differences(group, cases)
        if "--dry-run" not in arguments:
            print(f"{group}: {len(cases)} cases, {keep(group, cases):,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
