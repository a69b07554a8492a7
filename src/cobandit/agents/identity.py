"""The identity of an agent's class, which tells two classes with one name apart."""

from __future__ import annotations

import hashlib
import inspect
from typing import Any


def class_path(kind: type) -> str:
    """Return module and qualified name of a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def class_identity(kind: type, registered: type | None) -> dict[str, Any]:
    """Return module, name and source digest of a class, and whether it is registered.

    A registered class has no digest: the version of its package, which results hold, says which one it was. A class
    that was typed into an interpreter has no source and therefore no digest either.
    """
    digest = None
    if kind is not registered:
        try:
            digest = hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()
        except (OSError, TypeError):
            digest = None
    return {
        "module": kind.__module__,
        "class": kind.__qualname__,
        "digest": digest,
        "registered": kind is registered,
    }
