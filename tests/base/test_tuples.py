"""NamedTuples that consist of others."""

import pickle
from typing import NamedTuple

from cobandit.agents.elected import Election
from cobandit.agents.election import Opening
from cobandit.agents.steered import Steering
from cobandit.base.tuples import joined_tuple


class Point(NamedTuple):
    x: int
    y: int


class Named(NamedTuple):
    y: int
    name: str


class NamedPoint(joined_tuple(("place",), Point, Named)):  # type: ignore[misc]
    def length(self) -> int:
        return abs(self.x) + abs(self.y)


def test_each_field_comes_once_in_the_order_of_the_parts() -> None:
    point = NamedPoint(place=7, x=1, y=-2, name="here")
    assert point._fields == ("place", "x", "y", "name")
    assert point.length() == 3
    assert type(point._replace(x=4)) is NamedPoint


def test_it_can_be_pickled() -> None:
    point = NamedPoint(7, 1, -2, "here")
    loaded = pickle.loads(pickle.dumps(point))
    assert (type(loaded), loaded) == (NamedPoint, point)


def test_an_election_has_the_fields_of_states_written_before() -> None:
    assert Election._fields[: len(Steering._fields)] == Steering._fields
    assert Election._fields[len(Steering._fields) :] == (
        "aware",
        "agents",
        "sweep",
        "sweep_rounds",
        "evidence",
        "order",
        "votes",
        "tally",
    )
    assert set(Opening._fields) < set(Election._fields)
