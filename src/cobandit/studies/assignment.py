"""Assign the order of the conditions to the next participant: pure counting, for the caller that stores the counts.

Half of the participants meet one algorithm first and half the other (Experiments, Procedure), or the order is drawn
(Online Casino Study). A place is taken while its participant plays or has finished; dropping out frees it. Counting and
taking a place must be one transaction in the store.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cobandit.base.checks import one_per_agent, whole
from cobandit.base.errors import InvalidInput
from cobandit.base.streams import checked_seed, generator
from cobandit.studies.cells import emptiest_cells
from cobandit.studies.design import StudyDesign


@dataclass(frozen=True)
class Places:
    """How many people of each order have finished, and how many are playing now."""

    finished: tuple[int, ...]
    active: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        finished = one_per_agent("finished", self.finished, None, whole(0))
        active = one_per_agent("active", self.active, None, whole(0)) or (0,) * len(finished)
        if not finished or len(active) != len(finished):
            raise InvalidInput(f"There are {len(finished)} finished and {len(active)} active counts; equally many.")
        object.__setattr__(self, "finished", finished)
        object.__setattr__(self, "active", active)

    @classmethod
    def empty(cls, design: StudyDesign) -> Places:
        """Return counts of zero participants."""
        return cls((0,) * len(design.orders))

    @property
    def taken(self) -> tuple[int, ...]:
        """Finished and active people of each order."""
        return tuple(done + now for done, now in zip(self.finished, self.active, strict=True))

    def arrive(self, order: int) -> Places:
        """Count a participant who starts in this order."""
        return replace(self, active=_moved(self.active, order, 1))

    def finish(self, order: int) -> Places:
        """Count a participant of this order who has finished."""
        return replace(self, active=_moved(self.active, order, -1), finished=_moved(self.finished, order, 1))


def next_order(design: StudyDesign, places: Places, seed: int, arrival: int, everyone: Places | None = None) -> int:
    """Return the order for the next participant, as its index in ``design.orders``.

    *counterbalanced*: the order with the fewest finished and active people, ties broken at random; *random*: a random
    order. In a design with cells, the person goes into the cell that is filled least, measured by the quotas; a random
    order is one of that cell. The draw depends only on the study's seed and on how many people have arrived before
    (``arrival``).

    In a design with strata, ``places`` are those of the person's stratum and ``everyone`` counts all of them. Ties
    between cells or orders within the stratum are resolved by the counts of all people. A cell that has reached its
    quota takes no one else until all cells have.
    """
    orders = len(design.orders)
    for counts in (places, everyone or places):
        if len(counts.finished) != orders:
            raise InvalidInput(f"places counts {len(counts.finished)} orders; the design has {orders}.")
    possible = list(range(orders))
    if everyone is not None:
        full = set(_full_cells(design, everyone))
        possible = [order for order in possible if design.cell_of(order) not in full] or possible
    for counts in (places,) if everyone is None else (places, everyone):
        possible = _of_smallest_cells(design, counts, possible)
    if design.order != "random":
        for counts in (places,) if everyone is None else (places, everyone):
            fewest = min(counts.taken[order] for order in possible)
            possible = [order for order in possible if counts.taken[order] == fewest]
    rng = generator(checked_seed(seed), whole(0, 2**32 - 1)("arrival", arrival))
    return possible[int(rng.random() * len(possible))]


def _of_smallest_cells(design: StudyDesign, places: Places, orders: list[int]) -> list[int]:
    """Return those of some orders whose cells are filled least by finished and active people."""
    there = {design.cell_of(order) for order in orders}
    smallest = emptiest_cells(design, taken_by_cell(design, places), there)
    return [order for order in orders if design.cell_of(order) in smallest]


def taken_by_cell(design: StudyDesign, places: Places) -> dict[str, int]:
    """Return how many people have finished or are active in each cell."""
    counts = dict.fromkeys(design.cells, 0)
    for order, taken in enumerate(places.taken):
        counts[design.cell_of(order)] += taken
    return counts


def cells_are_full(design: StudyDesign, places: Places) -> bool:
    """Return whether every cell has as many people as its quota; False, where the design has no quotas."""
    return bool(design.quotas.pairs) and len(_full_cells(design, places)) == len(design.cells)


def _full_cells(design: StudyDesign, places: Places) -> list[str]:
    """Return the cells that have as many people as their quota."""
    taken = taken_by_cell(design, places)
    return [cell for cell, quota in design.quotas.pairs if taken[cell] >= quota]


def _moved(counts: tuple[int, ...], order: int, by: int) -> tuple[int, ...]:
    place = whole(0, len(counts) - 1)("order", order)
    if counts[place] + by < 0:
        raise InvalidInput(f"No participant of order {place} is active, so none can finish.")
    return tuple(count + by * (i == place) for i, count in enumerate(counts))
