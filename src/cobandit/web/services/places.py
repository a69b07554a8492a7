"""Places in a study: which seed and which order of conditions the next person gets."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator

from cobandit.studies import Places, next_order
from cobandit.studies.plan import partner_order, partner_orders
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import active_since, orders_taken, seeds_taken
from cobandit.web.storage.studies import Study, count_arrival, locked_study


def places(connection: Connection, study: Study, kind: str, now: int) -> Places:
    """Return how many participants of each order have finished, and how many are active."""
    taken = orders_taken(connection, study.id, kind, active_since(study.design, now))
    orders = range(len(study.design.orders))
    return Places(
        tuple(taken.get((order, True), 0) for order in orders), tuple(taken.get((order, False), 0) for order in orders)
    )


def _seeds(study: Study) -> Iterator[int]:
    """Yield seeds for the next participant, without end; the first that fits is used."""
    for draw in itertools.count():
        parts = f"participant:{study.seed}:{study.arrivals}" + (f":{draw}" if draw else "")
        yield int.from_bytes(hashlib.sha256(parts.encode()).digest()[:16], "big")


def _balanced_seed(connection: Connection, study: Study, kind: str, order: int, now: int) -> int:
    """Return a seed whose partners appear in the way that the fewest people with this order of conditions have.

    Who is met in which set follows from the seed, so seeds are drawn until it is the wanted way; names and faces are
    thereby balanced within each order, and tied to no algorithm.
    """
    seeds, design = _seeds(study), study.design
    seed = next(seeds)
    if len(design.partners) < 2:
        return seed
    taken = seeds_taken(connection, study.id, kind, order, active_since(design, now))
    counts = Counter(partner_order(design, other) for other in taken)
    fewest = min(counts[way] for way in partner_orders(design))
    while counts[partner_order(design, seed)] > fewest:
        seed = next(seeds)
    return seed


def take_place(connection: Connection, study_id: int, kind: str, now: int) -> tuple[int, int | None]:
    """Seed and order for the next person; everything is counted and taken in the caller's transaction.

    In a design for several people the order is that of the team, which is not known yet.
    """
    study = locked_study(connection, study_id)
    order = None
    if study.design.group is None:
        order = next_order(study.design, places(connection, study, kind, now), study.seed, study.arrivals)
    seed = next(_seeds(study)) if order is None else _balanced_seed(connection, study, kind, order, now)
    fixes_plan = kind == "real" and study.plan is not None and study.plan_fixed_at is None
    count_arrival(connection, study_id, study.arrivals + 1, now if fixes_plan else study.plan_fixed_at)
    return seed, order
