"""Results as figures and offline pages. Each name is loaded when it is first used: what draws takes seconds to load.

All of it needs the extra ``plot``.
"""

from __future__ import annotations

from cobandit.base.lazy import lazy_package

__getattr__, __dir__ = lazy_package(__name__)
