"""Digests of code: compiled copies on disk belong to one version of a kind, and of the engine."""

from __future__ import annotations

import hashlib
import types
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np


@cache
def kind_digest(kind: Any) -> str:
    """A digest of everything the methods of a kind are made of, the functions and constants they use included."""
    digest = hashlib.sha256(engine_digest().encode())
    seen: set[int] = set()
    for name in ("_fields", *sorted(name for name in dir(kind) if not name.startswith("_"))):
        digest.update(name.encode())
        _add(digest, getattr(kind, name), seen)
    return digest.hexdigest()[:16]


@cache
def engine_digest() -> str:
    """A digest of the engine's own files."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _add(digest: Any, value: Any, seen: set[int]) -> None:
    """Add a function with all it refers to, or a constant, to a digest."""
    function = getattr(value, "py_func", value)
    if isinstance(function, (staticmethod, classmethod)):
        function = function.__func__
    if isinstance(function, types.FunctionType):
        if id(function) in seen:
            return
        seen.add(id(function))
        code = function.__code__
        digest.update(code.co_code)
        for constant in code.co_consts:
            digest.update(_nested(constant))
        for name in code.co_names:
            digest.update(name.encode())
            if name in function.__globals__:
                _add(digest, function.__globals__[name], seen)
        for cell in function.__closure__ or ():
            _add(digest, cell.cell_contents, seen)
    elif isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, (bool, int, float, str, bytes, tuple, type(None))):
        digest.update(repr(value).encode())


def _nested(constant: Any) -> bytes:
    """A constant of a function as bytes; a nested function by its code."""
    if isinstance(constant, types.CodeType):
        return constant.co_code + b"".join(map(_nested, constant.co_consts))
    return repr(constant).encode()
