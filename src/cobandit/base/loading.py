"""Classes of one's own, named on a command line or in a file as ``module:Class``."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from cobandit.base.errors import CobanditError, InvalidInput


def load_named(described: str) -> Any:
    """What ``module:Class`` names; modules of the present folder are known, as they are to ``python -m``.

    The folder stays on ``sys.path``, which worker processes are given, so that they find the module, too.
    """
    module, colon, name = described.partition(":")
    if not (module and colon and name):
        raise InvalidInput(
            f"An agent of one's own is {described!r}; module:Class is needed, such as my_agents:MyAgent."
        )
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
