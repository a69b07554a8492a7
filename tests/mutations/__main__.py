"""Try seeded faults on copies of the tree: `python -m tests.mutations [NAME ...]`.

The tree itself is only read, so an interrupted run leaves nothing behind but a temporary folder.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutations.faults import FAULTS, Fault

ROOT = Path(__file__).parents[2]
COPIED = ("src", "tests", "tools", "docs", "benchmarks", "package.json", "pyproject.toml")
PASSED, FAILED = 0, 1
"""Exit codes of pytest; all others mean that the tests did not run."""


def main(names: Sequence[str], jobs: int) -> int:
    """Try the named faults, or all; return 1 unless the tests catch each of them."""
    known = {fault.name: fault for fault in FAULTS}
    if unknown := [name for name in names if name not in known]:
        print(f"NAME must be one of {', '.join(known)}, got {', '.join(unknown)}.")
        return 2
    faults = [known[name] for name in names] or list(FAULTS)
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(jobs):
            copies.put(copy_tree(Path(folder) / str(number)))
        if not passes_without_fault(copies, faults):
            return 1
        with ThreadPoolExecutor(jobs) as pool:
            verdicts = list(pool.map(lambda fault: try_fault(fault, copies), faults))
    caught = verdicts.count("caught")
    print(f"{caught} of {len(faults)} faults caught in {time.monotonic() - start:.0f} s.")
    return int(caught < len(faults))


def copy_tree(folder: Path) -> Path:
    """Copy what tests need; compiled Python files stay valid, because the times of the sources are kept."""
    folder.mkdir()
    for name in COPIED:
        source = ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder / name)
    return folder


def passes_without_fault(copies: queue.SimpleQueue[Path], faults: Sequence[Fault]) -> bool:
    """Run all named tests on an unchanged copy: a test that fails anyway catches nothing."""
    copy = copies.get()
    code, output = run_tests(copy, sorted({test for fault in faults for test in fault.tests}))
    copies.put(copy)
    if code != PASSED:
        print(f"{output}\nThe tests fail without any fault; make them pass first.")
    return code == PASSED


def try_fault(fault: Fault, copies: queue.SimpleQueue[Path]) -> str:
    """Apply a fault to a copy, run its tests, undo it, and print and return the verdict."""
    copy = copies.get()
    start = time.monotonic()
    path = copy / fault.file
    original = path.read_text(encoding="utf-8")
    output = ""
    if original.count(fault.old) != 1:
        verdict = f"not applied: the old text occurs {original.count(fault.old)} times"
    else:
        write_source(path, original.replace(fault.old, fault.new))
        code, output = run_tests(copy, fault.tests)
        write_source(path, original)
        verdict = {PASSED: "SURVIVED", FAILED: "caught"}.get(code, f"not tested: pytest ended with {code}")
    copies.put(copy)
    print(f"{fault.name}: {verdict} ({time.monotonic() - start:.0f} s)", flush=True)
    if verdict != "caught":
        print(f"  {fault.file}: {fault.breaks}\n{output}", flush=True)
    return verdict


def write_source(path: Path, text: str) -> None:
    """Write a source file and remove its bytecode, which Python trusts for a second after a change of equal size."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def run_tests(copy: Path, tests: Sequence[str]) -> tuple[int, str]:
    """Run tests of a copy until the first failure; return the exit code of pytest and the end of its output."""
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "CI": "true"}  # a skipped test would catch nothing
    command = [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", "--tb=line", *tests]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr)[-2000:]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.mutations", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="fault to try; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="number of copies tested at once")
    arguments = parser.parse_args()
    sys.exit(main(arguments.names, arguments.jobs))
