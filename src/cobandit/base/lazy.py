"""Names of a package that are loaded on first use, and modules that the package offers to its lower layers."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from cobandit.base.extras import require_extras

_PROVIDERS: dict[str, Callable[[str], Any]] = {}


def provide(load: Callable[[str], Any], modules: Iterable[str]) -> None:
    """Offer modules of higher layers, which ``load`` loads by name on first use, to the layers below."""
    _PROVIDERS.update(dict.fromkeys(modules, load))


def provided(module: str) -> Any:
    """Return a module of a higher layer that the package offers; the layers below import nothing from above."""
    return _PROVIDERS[module](module)


def lazy_names(
    package: str,
    homes: Mapping[str, str],
    modules: Iterable[str] = (),
    extras: Mapping[str, str] | None = None,
    renamed: Mapping[str, str] | None = None,
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package: each name of ``homes`` from its module, and the package's ``modules``.

    ``extras`` says which extra a name needs; without it, using the name is refused with the command that installs it.
    ``renamed`` holds old names with the new ones; an old name still works, with a `DeprecationWarning`.

    >>> lazy_names("calendar", {"dumps": "json"})("dumps").__name__
    'dumps'
    """
    own = frozenset(modules)
    needed, old_names = extras or {}, renamed or {}

    def load(name: str) -> Any:
        if name in old_names:
            warn_renamed(package, name, old_names[name])
            return getattr(sys.modules[package], old_names[name])
        if name in needed:
            require_extras(f"{package}.{name}", **{needed[name]: True})
        if name in own:
            return importlib.import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return load


def warn_renamed(package: str, old: str, new: str) -> None:
    """Warn the caller of a module's ``__getattr__`` that a name has changed."""
    warnings.warn(f"{package}.{old} is now {package}.{new}; the old name will go.", DeprecationWarning, stacklevel=3)
