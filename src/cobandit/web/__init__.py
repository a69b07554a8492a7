"""The studies on the web: participants' pages, researcher's pages, a database behind them.

Both names are loaded when they are first used: programs that only speak HTTP (`cobandit.web.clients`) load no server.
"""

from __future__ import annotations

from cobandit.base.extras import require_extras
from cobandit.base.lazy import lazy_package

require_extras("A study on the web", web=True)  # before imports fail one after the other

__getattr__, __dir__ = lazy_package(__name__)
