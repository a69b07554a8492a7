"""The opening of teams that elect their leader, compiled (`agents.election`): the plain functions themselves."""

from __future__ import annotations

import numpy as np

from cobandit.agents import election as plain
from cobandit.agents.election import Opening, make_opening
from cobandit.engine.fast.pipeline import compile_plain
from cobandit.engine.fast.players import Seat, with_tables

compile_plain(
    plain.is_opening,
    plain.sweep_cell,
    plain.vote,
    plain.opening_arm,
    plain.opening_foresight,
    plain.opening_learn,
)


def opening_of(sweeps: int, seat: Seat) -> Opening:
    """Return the fields of `agents.election.Opening` on arrays."""
    return with_tables(make_opening(sweeps, seat.briefing, np.array), "arms", "own")
