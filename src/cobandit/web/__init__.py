"""The studies on the web: participants' pages, researcher's pages, a database behind them.

Both names are loaded when they are first used: programs that only speak HTTP (`cobandit.web.clients`) load no server.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cobandit.base.extras import require_extras

if TYPE_CHECKING:
    from cobandit.web.app import create_app
    from cobandit.web.config import WebConfig

__all__ = ["WebConfig", "create_app"]

require_extras("A study on the web", web=True)  # before imports fail one after the other

_MODULES = {"WebConfig": "cobandit.web.config", "create_app": "cobandit.web.app"}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
