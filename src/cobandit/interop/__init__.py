"""Teams in the worlds of others: PettingZoo and Gymnasium. Each name is loaded when it is first used.

`TeamEnv` and `TeamPolicy` need the extra ``pettingzoo``, `SeatEnv` and `SeatVectorEnv` the extra ``gymnasium``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cobandit.base.lazy import lazy_names

if TYPE_CHECKING:
    from cobandit.interop.policies import Play as Play
    from cobandit.interop.policies import TeamPolicy as TeamPolicy
    from cobandit.interop.policies import play_env as play_env
    from cobandit.interop.seat_env import SeatEnv as SeatEnv
    from cobandit.interop.seat_vector_env import SeatVectorEnv as SeatVectorEnv
    from cobandit.interop.team_env import TeamEnv as TeamEnv

__all__ = ["Play", "SeatEnv", "SeatVectorEnv", "TeamEnv", "TeamPolicy", "play_env"]

_HOMES = {
    "Play": "cobandit.interop.policies",
    "SeatEnv": "cobandit.interop.seat_env",
    "SeatVectorEnv": "cobandit.interop.seat_vector_env",
    "TeamEnv": "cobandit.interop.team_env",
    "TeamPolicy": "cobandit.interop.policies",
    "play_env": "cobandit.interop.policies",
}
"""Where each public name lives."""

__getattr__ = lazy_names(__name__, _HOMES)
