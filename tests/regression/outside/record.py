"""Records what the package shows to the outside: ``python -m tests.regression.outside.record [GROUP ...]``.

It writes ``recorded/`` anew, all of it or the groups named: world (http, pages, exports), commands, analyses, names.
``commands:PATTERN`` and ``analyses:PATTERN`` record those cases alone whose name the pattern fits.
Only for a change that is meant and too wide for a line in `comparing.CHANGES_ON_PURPOSE`. The fixtures of layout 1 are
written where there are none, and never again: they stand for the data that people have.
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
from .comparing import keep, load
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


def _again(group: str, pattern: str) -> None:
    """Record some cases of a group anew; the others stay as they are."""
    every: list[Any] = commands() if group == "commands" else analyses()
    chosen = [case for case in every if fnmatch.fnmatchcase(case.name, pattern)]
    print(f"{group}: {keep(group, load(group) | _run(chosen)):,} bytes, {len(chosen)} cases anew")


def main(*groups: str) -> None:
    """Record everything, or some groups."""
    for chosen in [group for group in groups if ":" in group]:
        _again(*chosen.split(":", 1))
    if groups and all(":" in group for group in groups):
        return
    made: dict[str, dict[str, Any]] = {}
    if not groups or "world" in groups:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder))
            world.live_through()
            _keep_layout(world)
        made |= {"http": world.http, "pages": world.pages, "exports": world.exports}
    if not groups or "commands" in groups:
        made["commands"] = _run(commands())
    if not groups or "analyses" in groups:
        made["analyses"] = _run(analyses())
    if not groups or "names" in groups:
        made["names"] = {"cobandit": sorted(cobandit.__all__)}
    for group, cases in made.items():
        print(f"{group}: {len(cases)} cases, {keep(group, cases):,} bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
