"""The layers of a burger: what is set down in which order, and by whom (paper: Experiments, the burger study).

The person brings patty and cheese, the robot tomato and lettuce; each decides which of the two comes first, so that the
four configurations differ in order and none lacks a filling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cobandit.base.checks import is_list, short_repr, whole
from cobandit.base.errors import InvalidInput

Configuration = tuple[int, int]
"""The arms of both seats: the person's (0 = patty first), then the robot's (0 = tomato first)."""

BOTTOM_BUN, TOP_BUN = "bottom_bun", "top_bun"
PERSON_FILLINGS, ROBOT_FILLINGS = ("patty", "cheese"), ("tomato", "lettuce")
CONFIGURATIONS: tuple[Configuration, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))


@dataclass(frozen=True)
class Layer:
    """One layer: the item, and who sets it down."""

    item: str
    by: Literal["person", "robot"]


def burger_layers(configuration: Sequence[int]) -> tuple[Layer, ...]:
    """What goes onto the bottom bun, from below.

    >>> [layer.item for layer in burger_layers((0, 1))]
    ['patty', 'lettuce', 'cheese', 'tomato', 'top_bun']
    """
    person, robot = checked_configuration(configuration)
    return (
        Layer(PERSON_FILLINGS[person], "person"),
        Layer(ROBOT_FILLINGS[robot], "robot"),
        Layer(PERSON_FILLINGS[1 - person], "person"),
        Layer(ROBOT_FILLINGS[1 - robot], "robot"),
        Layer(TOP_BUN, "robot"),
    )


def checked_configuration(configuration: object) -> Configuration:
    """Both arms, each 0 or 1."""
    arms = list(configuration) if is_list(configuration) else []
    if len(arms) != 2:
        raise InvalidInput(
            f"configuration is {short_repr(configuration)}; two arms are needed: the person's and the robot's."
        )
    check = whole(0, 1)
    return check("the person's arm", arms[0]), check("the robot's arm", arms[1])
