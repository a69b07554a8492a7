"""Results as figures and offline pages. Names are loaded on first use, because the plotting libraries take seconds.

All functions need the extra ``plot``.
"""

from __future__ import annotations

from cobandit.base.lazy import lazy_package

__getattr__, __dir__ = lazy_package(__name__)
