"""A name says what the thing is: participles and pronouns that name nothing are refused as names of variables.

`make lint` runs it over the package and the tools. Fields of classes are not looked at: they are read with their owner.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src", "tools")

REFUSED = frozenset({"found", "kept", "made", "one", "told"})


def names(node: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the name of every variable and argument below a node, but for the fields of classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.ClassDef) and isinstance(child, ast.AnnAssign | ast.Assign):
            continue
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.lineno, child.id
        elif isinstance(child, ast.arg):
            yield child.lineno, child.arg
        yield from names(child)


def complaints(root: Path = ROOT) -> list[str]:
    """Every variable whose name is refused, with its place."""
    modules = sorted(path for folder in FOLDERS for path in (root / folder).rglob("*.py"))
    return [
        f"{path.relative_to(root).as_posix()}:{line}: {name}: call it what it is, by a noun."
        for path in modules
        for line, name in names(ast.parse(path.read_text(encoding="utf-8")))
        if name in REFUSED
    ]


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    said = complaints()
    print("\n".join(said) or "Variables are named by nouns.")
    raise SystemExit(1 if said else 0)


if __name__ == "__main__":
    main()
