"""Public names of a package, declared once in its ``__init__.pyi`` and loaded when they are first used.

A package can also offer modules of higher layers to lower ones, which must not import them.
"""

from __future__ import annotations

import ast
import importlib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from cobandit.base.extras import require_extras

_PROVIDERS: dict[str, Callable[[str], Any]] = {}


def provide(load: Callable[[str], Any], modules: Iterable[str]) -> None:
    """Offer modules of higher layers, which ``load`` loads by name on first use, to the layers below."""
    _PROVIDERS.update(dict.fromkeys(modules, load))


def provided(module: str) -> Any:
    """Return a module of a higher layer that the package offers; the layers below import nothing from above."""
    return _PROVIDERS[module](module)


class Declared(NamedTuple):
    """The imports of a stub: the module of each name, the package's own modules, and modules imported by ``*``."""

    homes: dict[str, str]
    modules: frozenset[str]
    stars: tuple[str, ...]


def lazy_package(
    package: str, *, extras: Mapping[str, str] | None = None, renamed: Mapping[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose ``__init__.pyi`` declares its public names.

    Type checkers and this function read the same file, so a name is declared once. ``from package import module as
    module`` declares a module, ``from module import *`` every name of that module that has no leading underscore. The
    package's own ``__all__`` is derived: every declared name but the modules that need an extra, so that ``from package
    import *`` works without extras.

    ``extras`` maps a name to the extra that it needs; without it the user gets the command that installs it.
    ``renamed`` maps old names to new ones; an old name still works, with a `DeprecationWarning`.
    """
    needed, old_names = extras or {}, renamed or {}

    @cache
    def declared() -> Declared:
        return read_stub(package, Path(str(sys.modules[package].__file__)).with_suffix(".pyi").read_text("utf-8"))

    def names() -> list[str]:
        stub = declared()
        starred = [name for module in stub.stars for name in _public_names(module)]
        return sorted({*stub.homes, *(stub.modules - set(needed)), *starred})

    def load(name: str) -> Any:
        if name in old_names:
            warn_renamed(package, name, old_names[name])
            return getattr(sys.modules[package], old_names[name])
        if name == "__all__":
            return names()
        if name.startswith("__"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in needed:
            require_extras(f"{package}.{name}", **{needed[name]: True})
        stub = declared()
        if name in stub.modules:
            return importlib.import_module(f"{package}.{name}")
        starred = (module for module in stub.stars if name in _public_names(module))
        home = stub.homes.get(name) or next(starred, None)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names(), *declared().modules})

    return load, listed


def _public_names(module: str) -> list[str]:
    return [name for name in vars(importlib.import_module(module)) if not name.startswith("_")]


def read_stub(package: str, text: str) -> Declared:
    """Return the imports that the text of a package's stub declares.

    >>> read_stub("calendar", "from json import dumps as dumps")
    Declared(homes={'dumps': 'json'}, modules=frozenset(), stars=())
    """
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    pairs = [(str(node.module), alias.name) for node in imports for alias in node.names]
    return Declared(
        {name: module for module, name in pairs if module != package and name != "*"},
        frozenset(name for module, name in pairs if module == package),
        tuple(module for module, name in pairs if name == "*"),
    )


def warn_renamed(package: str, old: str, new: str) -> None:
    """Warn the caller of a module's ``__getattr__`` that a name has changed."""
    warnings.warn(f"{package}.{old} is now {package}.{new}; the old name will go.", DeprecationWarning, stacklevel=3)


def renamed_names(package: str, renamed: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module in which names have changed; an old name works, with a warning."""

    def load(name: str) -> Any:
        if name not in renamed:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warn_renamed(package, name, renamed[name])
        return getattr(sys.modules[package], renamed[name])

    return load
