"""Places in a study: which seed and which order of conditions the next person gets."""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from cobandit.studies import Places, StudyDesign, next_order
from cobandit.studies.plan import partner_order, partner_orders
from cobandit.web.storage.database import Connection
from cobandit.web.storage.participants import (
    Participant,
    active_since,
    orders_and_answers,
    orders_taken,
    seeds_taken,
)
from cobandit.web.storage.studies import Study, count_arrival, locked_study


def take_order(
    connection: Connection, person: Participant, design: StudyDesign, answers: Mapping[str, Any], now: int
) -> dict[str, Any]:
    """Return seed and order of a person, as they are stored, once it is known to which stratum they belong.

    Nothing that came before depends on either. The caller's transaction stores both with the answers. Empty: the design
    has no strata, and the order is known already.
    """
    if not design.strata:
        return {}
    assert person.seed is not None
    study, stratum = locked_study(connection, person.study_id), design.stratum_of(answers)
    counts: dict[bool, Counter[int]] = {True: Counter(), False: Counter()}
    for order, finished, given in orders_and_answers(connection, study.id, person.kind, active_since(design, now)):
        if design.stratum_of(given) == stratum:
            counts[finished][order] += 1
    orders = range(len(design.orders))
    own = Places(tuple(counts[True][order] for order in orders), tuple(counts[False][order] for order in orders))
    # The person's own seed breaks ties: how many have arrived says nothing about who answers now.
    order = next_order(design, own, person.seed, 0, places(connection, study, person.kind, now))
    seeds = itertools.chain([person.seed], _numbers(f"order:{study.seed}:{person.seed}"))
    seed = _balanced_seed(connection, study, person.kind, order, now, seeds)
    return {"seed": str(seed), "order_index": order}


def places(connection: Connection, study: Study, kind: str, now: int) -> Places:
    """Return how many participants of each order have finished, and how many are active."""
    taken = orders_taken(connection, study.id, kind, active_since(study.design, now))
    orders = range(len(study.design.orders))
    return Places(
        tuple(taken.get((order, True), 0) for order in orders), tuple(taken.get((order, False), 0) for order in orders)
    )


def _seeds(study: Study) -> Iterator[int]:
    """Yield seeds for the next participant, without end; the first that fits is used."""
    return _numbers(f"participant:{study.seed}:{study.arrivals}")


def _numbers(start: str) -> Iterator[int]:
    for draw in itertools.count():
        parts = start + (f":{draw}" if draw else "")
        yield int.from_bytes(hashlib.sha256(parts.encode()).digest()[:16], "big")


def _balanced_seed(connection: Connection, study: Study, kind: str, order: int, now: int, seeds: Iterator[int]) -> int:
    """Return a seed whose partners appear in the way that the fewest people with this order of conditions have.

    Who is met in which set follows from the seed, so seeds are drawn until it is the wanted way; names and faces are
    thereby balanced within each order, and tied to no algorithm.
    """
    design, seed = study.design, next(seeds)
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

    In a design for several people the order is that of the team, which is not known yet; in a design with strata it is
    taken with the answers about the person (`take_order`).
    """
    study = locked_study(connection, study_id)
    order = None
    if study.design.group is None and not study.design.strata:
        order = next_order(study.design, places(connection, study, kind, now), study.seed, study.arrivals)
    seed = next(_seeds(study)) if order is None else _balanced_seed(connection, study, kind, order, now, _seeds(study))
    fixes_plan = kind == "real" and study.plan is not None and study.plan_fixed_at is None
    count_arrival(connection, study_id, study.arrivals + 1, now if fixes_plan else study.plan_fixed_at)
    return seed, order
