"""Check the sizes of modules and functions against limits, with a list of allowed exceptions.

`make lint` runs this check. An entry of ALLOWED must be needed, and the function that it names may shrink but not grow.
Functions are named without their module, so that they can be moved freely.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("benchmarks", "src", "tests", "tools")

LIMITS = {"module lines": 500, "function lines": 80, "arguments": 8, "complexity": 12, "statements": 50}
RULES = {"PLR0913": "arguments", "C901": "complexity", "PLR0915": "statements"}
"""The rules of ruff that measure some of these sizes."""

ALLOWED: dict[str, dict[str, dict[str, int]]] = {
    "the signature of a command": {
        "arguments": {
            "arena": 12,
            "fit": 12,
            "export": 11,
            "play": 12,
            "power": 11,
            "reproduce": 13,
            "simulate": 11,
        },
    },
    "a public signature": {
        "arguments": {
            "MarkovProblem.of": 11,
            "Partner.__init__": 12,
            "Problem.bernoulli": 9,
            "Problem.gaussian": 10,
            "Problem.of": 10,
            "calibrate": 9,
            "compare_teams": 9,
            "power_analysis": 9,
            "run_arena": 10,
            "simulate": 13,
            "simulate_participants": 9,
        },
    },
    "a migration": {
        "function lines": {
            "upgrade": 144,
        },
    },
    "a compiled loop or what calls it": {
        "function lines": {
            "play_round": 97,
        },
        "arguments": {
            "_arguments": 9,
            "foresee_packed": 11,
            "foresee_remembered": 10,
            "play": 12,
            "play_copies": 15,
            "play_lanes": 15,
            "play_participants": 20,
            "play_runs": 9,
        },
        "complexity": {
            "play": 19,
            "play_lanes": 18,
            "play_participants": 23,
            "play_round": 18,
        },
        "statements": {
            "play_round": 82,
        },
    },
}
"""The allowed exceptions, under the reason for each. There are no other reasons."""


class Size(NamedTuple):
    """The size of one module or function in one respect."""

    kind: str
    name: str
    size: int
    place: str


def functions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, int, int]]:
    """Yield every function: its qualified name, its first line (without decorators) and its last line."""
    for child in ast.iter_child_nodes(node):
        inside = owner
        if isinstance(child, ast.ClassDef):
            inside = f"{child.name}."
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = ""
            yield owner + child.name, child.lineno, child.end_lineno or child.lineno
        yield from functions(child, inside)


def lengths(path: Path, root: Path = ROOT) -> Iterator[Size]:
    """Yield the number of lines of a module and of each of its functions."""
    place, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
    yield Size("module lines", place, len(text.splitlines()), place)
    for name, first, last in functions(ast.parse(text)):
        yield Size("function lines", name, last - first + 1, f"{place}:{first}")


def measured_by_ruff(folders: Iterable[Path], root: Path = ROOT) -> Iterator[Size]:
    """Yield the sizes that ruff reports as too large."""
    limits = [
        f"lint.pylint.max-args={LIMITS['arguments']}",
        f"lint.pylint.max-statements={LIMITS['statements']}",
        f"lint.mccabe.max-complexity={LIMITS['complexity']}",
    ]
    ruff = [sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--exit-zero", "--output-format=json"]
    options = ["--select", ",".join(RULES), *(word for limit in limits for word in ("--config", limit))]
    done = subprocess.run([*ruff, *options, *folders], check=True, capture_output=True, text=True)
    for finding in json.loads(done.stdout):
        path, row = Path(finding["filename"]), finding["location"]["row"]
        size = int(re.findall(r"\((\d+) > \d+\)", finding["message"])[-1])
        names = {first: name for name, first, _ in functions(ast.parse(path.read_text(encoding="utf-8")))}
        yield Size(RULES[finding["code"]], names[row], size, f"{path.relative_to(root).as_posix()}:{row}")


def beyond(root: Path = ROOT) -> list[Size]:
    """Return everything in the tree that exceeds a limit."""
    folders = [root / name for name in FOLDERS if (root / name).is_dir()]
    modules = sorted(path for folder in folders for path in folder.rglob("*.py"))
    sizes = [size for module in modules for size in lengths(module, root)]
    return [size for size in [*sizes, *measured_by_ruff(folders, root)] if size.size > LIMITS[size.kind]]


def allowances(reasons: Iterable[dict[str, dict[str, int]]]) -> dict[str, dict[str, int]]:
    """Return the largest allowed size of each kind for each name, over all reasons."""
    most: dict[str, dict[str, int]] = {}
    for kinds in reasons:
        for kind, names in kinds.items():
            for name, size in names.items():
                sizes = most.setdefault(kind, {})
                sizes[name] = max(size, sizes.get(name, 0))
    return most


def complaints(sizes: Iterable[Size], allowed: dict[str, dict[str, int]]) -> list[str]:
    """Return a sentence for each size that exceeds its limit or its exception, and for each exception that is not
    needed.
    """
    needed, said = set(), []
    for kind, name, size, place in sizes:
        most = allowed.get(kind, {}).get(name)
        needed.add((kind, name))
        which = name if name == place else f"{place}: {name}"
        if most is None:
            said.append(f"{which}: {kind}: {size}, and {LIMITS[kind]} are the limit. Make it smaller.")
        elif size > most:
            said.append(f"{which}: {kind}: {size}, up from {most}; the limit is {LIMITS[kind]}. Make it smaller.")
    said += [
        f"{name}: {kind}: within the limit of {LIMITS[kind]} by now. Delete its entry in tools/sizes.py."
        for kind, names in allowed.items()
        for name in names
        if (kind, name) not in needed
    ]
    return said


def main() -> None:
    """Print the complaints, and exit with 1 if there are any."""
    allowed = allowances(ALLOWED.values())
    said = complaints(beyond(), allowed)
    print("\n".join(said) or f"Sizes are kept, with {sum(map(len, allowed.values()))} exceptions.")
    raise SystemExit(1 if said else 0)


if __name__ == "__main__":
    main()
