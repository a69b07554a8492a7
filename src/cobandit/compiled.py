"""Building blocks of compiled agents; see docs/how-to/compile-an-agent.md. Needs the extra ``fast``.

The methods of a kind call these functions: `uniform`, `normal` and `beta` draw what ``self.rng.random()``,
``standard_normal()`` and ``beta(a, b)`` draw, `best_of` decides as the plain agents' arg max does, `record` counts a
seen reward, `own_arm` is an agent's arm in a cell. `compiled_function` makes your own function that a kind calls.
"""

from cobandit.base.errors import MissingExtra

try:
    from cobandit.engine.choice import NotCompiled
    from cobandit.engine.fast.kinds.search import best_of
    from cobandit.engine.fast.kinds.ucb import record
    from cobandit.engine.fast.players import Seat, table
    from cobandit.engine.fast.random import beta, gamma_steps, normal, uniform
    from cobandit.engine.fast.random import compiled as compiled_function
    from cobandit.engine.fast.world import World, own_arm
except ModuleNotFoundError as error:
    if error.name is None or error.name.partition(".")[0] not in ("numba", "llvmlite"):
        raise
    raise MissingExtra("fast", "cobandit.compiled") from None

__all__ = [
    "NotCompiled",
    "Seat",
    "World",
    "best_of",
    "beta",
    "compiled_function",
    "gamma_steps",
    "normal",
    "own_arm",
    "record",
    "table",
    "uniform",
]
