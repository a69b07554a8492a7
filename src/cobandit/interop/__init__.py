"""Teams in the worlds of others: PettingZoo and Gymnasium. Each name is loaded when it is first used.

`TeamEnv` and `TeamPolicy` need the extra ``pettingzoo``, `SeatEnv` and `SeatVectorEnv` the extra ``gymnasium``.
"""

from __future__ import annotations

from cobandit.base.lazy import lazy_package

__getattr__, __dir__ = lazy_package(__name__)
