"""Names of a package that are loaded when they are first used."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str], modules: Iterable[str] = ()) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package: each name of ``homes`` from its module, and the package's own ``modules``.

    >>> lazy_names("calendar", {"dumps": "json"})("dumps").__name__
    'dumps'
    """
    own = frozenset(modules)

    def load(name: str) -> Any:
        if name in own:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
