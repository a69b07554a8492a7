"""The random streams of a run, spawned from one seed.

Run r of seed s has the streams ``SeedSequence(s).spawn(runs)[r].spawn(2 + 2 N)``: set-up (means, spreads, roles),
rewards, one per agent's observation, one per agent's own choices. A joint controller uses the choices of agent 0.
SFC64 because it is quick, needs nothing wider than 64 bits and so is easy to repeat in compiled code.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobandit.checks import shown, whole
from cobandit.errors import InvalidInput

SETUP, REWARDS, FIRST_OBSERVATION = 0, 1, 2

MOST_RUNS = 2**32 - 1
"""The number of a run is one 32-bit word of its seed."""


def stream_count(agents: int) -> int:
    """How many streams a run of ``agents`` agents has."""
    return 2 + 2 * agents


def checked_seed(seed: Any) -> int:
    """The seed as a whole number; None draws a fresh one from the system."""
    if seed is None:
        return secrets.randbits(64)
    if isinstance(seed, (np.random.Generator, np.random.SeedSequence)):
        raise InvalidInput(
            f"seed is {shown(seed)}; a whole number of at least 0 is needed, so that a run can be repeated."
        )
    return int(whole(0)("seed", seed))


@dataclass(frozen=True)
class Streams:
    """The generators of one run."""

    setup: np.random.Generator
    rewards: np.random.Generator
    observations: tuple[np.random.Generator, ...]
    choices: tuple[np.random.Generator, ...]

    @classmethod
    def of(cls, seed: int, run: int, agents: int) -> Streams:
        """The streams of one run of one seed."""
        made = [
            np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(run, stream))))
            for stream in range(stream_count(agents))
        ]
        middle = FIRST_OBSERVATION + agents
        return cls(made[SETUP], made[REWARDS], tuple(made[FIRST_OBSERVATION:middle]), tuple(made[middle:]))
