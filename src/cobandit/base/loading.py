"""User-defined classes, named on the command line or in a file as ``module:Class``."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from cobandit.base.errors import CobanditError, InvalidInput


def load_named(described: str) -> Any:
    """Return the object that ``module:Class`` names. Modules in the current folder are found, as with ``python -m``.

    The folder stays on ``sys.path``, which worker processes inherit, so that they find the module, too.
    """
    module, colon, name = described.partition(":")
    if not (module and colon and name):
        raise InvalidInput(f"A custom agent must be module:Class, such as my_agents:MyAgent, got {described!r}.")
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        loaded = importlib.import_module(module)
    except CobanditError:
        raise
    except Exception as error:
        raise InvalidInput(f"The module {module!r} cannot be loaded: {type(error).__name__}: {error}.") from error
    if not hasattr(loaded, name):
        raise InvalidInput(f"The module {module!r} has no {name!r}.")
    return getattr(loaded, name)
