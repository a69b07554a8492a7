"""Every name in single backticks in a docstring is one that Python can find."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import cobandit

SOURCE = Path(cobandit.__file__).parent
# Double backticks mark literals, such as options and values; names in single ones are links.
NAME = re.compile(r"(?<!`)`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?:\(\))?`(?!`)")
MODULES = [
    path.relative_to(SOURCE.parent).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
    for path in sorted(SOURCE.rglob("*.py"))
    if "migrations" not in path.parts and path.name != "__main__.py"
]


def docstrings(tree: ast.AST, classes: tuple[str, ...] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield every text that stands alone, with the names of the classes around it."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value, classes
        yield from docstrings(node, (*classes, node.name) if isinstance(node, ast.ClassDef) else classes)


def has_attribute(owner: Any, name: str) -> bool:
    if hasattr(owner, name):
        return True
    if not isinstance(owner, type):
        return False
    if owner.__module__.partition(".")[0] != "cobandit":
        return False
    declared = (name in vars(base).get("__annotations__", {}) for base in owner.__mro__)
    return any(declared) or re.search(rf"\bself\.{name}\b.*=", inspect.getsource(owner)) is not None


def found_below(owner: Any, parts: list[str]) -> bool:
    for i, part in enumerate(parts):
        if isinstance(owner, ModuleType) and not hasattr(owner, part):
            try:
                owner = importlib.import_module(f"{owner.__name__}.{part}")
                continue
            except ModuleNotFoundError:
                return False
        if i == len(parts) - 1:
            return has_attribute(owner, part)
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def resolves(name: str, module: ModuleType, classes: tuple[str, ...]) -> bool:
    """Return whether a name is known in the class, the module, a package around it or one of their classes."""
    parts = name.split(".")
    scopes: list[Any] = [module]
    inner: Any = module
    for part in classes:
        inner = getattr(inner, part, None)
        scopes.append(inner)
    scopes = [scope for scope in scopes if scope is not None]
    packages = module.__name__.split(".")
    scopes += [importlib.import_module(".".join(packages[:i])) for i in range(1, len(packages))]
    scopes += [value for scope in scopes[:] for value in vars(scope).values() if inspect.isclass(value)]
    if any(found_below(scope, parts) for scope in [*scopes, builtins]):
        return True
    try:
        return found_below(importlib.import_module(parts[0]), parts[1:])
    except ImportError:
        return False


def test_names_in_backticks_exist() -> None:
    unknown = []
    for name in MODULES:
        module = importlib.import_module(name)
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        names = {(match[1], classes) for text, classes in docstrings(tree) for match in NAME.finditer(text)}
        unknown += [f"{name}: {known}" for known, classes in sorted(names) if not resolves(known, module, classes)]
    assert unknown == []
