"""Places in a study: which seed and which order of conditions the next person gets."""

from __future__ import annotations

import hashlib

from cobandit.studies import Places, next_order
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import active_since, orders_taken
from cobandit.web.storage.studies import Study, count_arrival, locked_study


def places(connection: Connection, study: Study, kind: str, now: int) -> Places:
    """How many of each order have finished, and how many are at it."""
    taken = orders_taken(connection, study.id, kind, active_since(study.design, now))
    orders = range(len(study.design.orders))
    return Places(
        tuple(taken.get((order, True), 0) for order in orders), tuple(taken.get((order, False), 0) for order in orders)
    )


def take_place(connection: Connection, study_id: int, kind: str, now: int) -> tuple[int, int]:
    """Seed and order for the next person; everything is counted and taken in the caller's transaction."""
    study = locked_study(connection, study_id)
    order = next_order(study.design, places(connection, study, kind, now), study.seed, study.arrivals)
    key = hashlib.sha256(f"participant:{study.seed}:{study.arrivals}".encode()).digest()
    fixes_plan = kind == "real" and study.plan is not None and study.plan_fixed_at is None
    count_arrival(connection, study_id, study.arrivals + 1, now if fixes_plan else study.plan_fixed_at)
    return int.from_bytes(key[:16], "big"), order
