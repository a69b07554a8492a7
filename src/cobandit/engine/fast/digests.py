"""Digests of code: compiled copies on disk belong to one version of a kind, and of the engine."""

from __future__ import annotations

import hashlib
import types
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

KNOWN_BY_VERSION = frozenset({"builtins", "llvmlite", "math", "numba", "numpy"})
"""Packages of which compiled code never changes: numba keeps nothing from another version of itself."""


@cache
def kind_digest(kind: Any) -> str:
    """Return a digest of everything the methods of a kind are made of, the functions and constants they use
    included.
    """
    digest = hashlib.sha256(engine_digest().encode())
    seen: set[int] = set()
    for name in ("_fields", *sorted(name for name in dir(kind) if not name.startswith("_"))):
        digest.update(name.encode())
        _add(digest, getattr(kind, name), seen)
    return digest.hexdigest()[:16]


@cache
def engine_digest() -> str:
    """Return a digest of the engine's own files."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _add(digest: Any, value: Any, seen: set[int], names: tuple[str, ...] = ()) -> None:
    """Add a function with all it refers to, or a constant, to a digest.

    Of a module or a class, only the attributes that the function uses (``names``) are added.
    """
    function = getattr(value, "py_func", getattr(value, "_defn", value))
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if isinstance(function, types.FunctionType):
        if id(function) not in seen:
            seen.add(id(function))
            _add_function(digest, function, seen)
    elif isinstance(value, types.ModuleType | type):
        if _package(value) not in KNOWN_BY_VERSION:
            digest.update(repr(getattr(value, "_fields", None)).encode())
            for name in names:
                if hasattr(value, name):
                    rest = tuple(other for other in names if other != name)
                    _add(digest, getattr(value, name), seen, rest)
    elif isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, (bool, int, float, str, bytes, tuple, type(None))):
        digest.update(repr(value).encode())


def _add_function(digest: Any, function: types.FunctionType, seen: set[int]) -> None:
    code = function.__code__
    digest.update(code.co_code)
    for constant in code.co_consts:
        digest.update(_nested(constant))
    for name in code.co_names:
        digest.update(name.encode())
        if name in function.__globals__:
            _add(digest, function.__globals__[name], seen, code.co_names)
    for cell in function.__closure__ or ():
        _add(digest, cell.cell_contents, seen, code.co_names)
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        _add(digest, default, seen)


def _package(value: Any) -> str:
    """Return the package that a module or a class belongs to."""
    name: str = value.__name__ if isinstance(value, types.ModuleType) else value.__module__
    return name.partition(".")[0]


def _nested(constant: Any) -> bytes:
    """Return a constant of a function as bytes; a nested function by its code."""
    if isinstance(constant, types.CodeType):
        return constant.co_code + b"".join(map(_nested, constant.co_consts))
    return repr(constant).encode()
