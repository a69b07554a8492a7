"""The layers of a burger: what lies on what, and who brings it (paper: Experiments, the burger study).

The participant brings patty and cheese, the partner tomato and lettuce. Each decides which of its two comes first; the
other two follow, so the four configurations differ in order and none lacks a filling.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cobandit.base.checks import is_list, short_repr, whole
from cobandit.base.errors import InvalidInput

By = Literal["participant", "partner", "shop"]
"""Who brings a layer; buns are the shop's."""

BOTTOM_BUN, TOP_BUN = "bottom_bun", "top_bun"
FILLINGS = (("patty", "cheese"), ("tomato", "lettuce"))
"""What the participant brings, and what the partner does, by arm."""

_MOST_ARMS = 9


@dataclass(frozen=True)
class Layer:
    """One layer: the item, and who brings it."""

    item: str
    by: By


def burger_layers(arms: Sequence[int]) -> tuple[Layer, ...]:
    """Return the layers of a configuration's burger, from the bottom bun to the top bun, with all four fillings.

    ``arms`` has two entries: which of their two fillings the participant puts first, and the same for the partner.

    >>> " ".join(layer.item for layer in burger_layers((0, 1)))
    'bottom_bun patty lettuce cheese tomato top_bun'
    """
    mine, theirs = _checked(arms, most=2)
    first, second = (mine, theirs), (1 - mine, 1 - theirs)
    return _between_buns(*_pair(first), *_pair(second))


def two_filling_layers(arms: Sequence[int]) -> tuple[Layer, ...]:
    """Return the layers of a burger with one filling per player; arms beyond the second are plain slabs.

    >>> [layer.item for layer in two_filling_layers((1, 2))]
    ['bottom_bun', 'cheese', 'slab_2', 'top_bun']
    """
    return _between_buns(*_pair(_checked(arms, most=_MOST_ARMS)))


def filling(seat: int, arm: int) -> Layer:
    """Return the filling of an arm: the participant's at seat 0, the partner's at seat 1."""
    brings = FILLINGS[seat]
    return Layer(brings[arm] if arm < len(brings) else f"slab_{arm}", "partner" if seat else "participant")


def _pair(arms: tuple[int, int]) -> tuple[Layer, Layer]:
    mine, theirs = arms
    return filling(0, mine), filling(1, theirs)


def _between_buns(*fillings: Layer) -> tuple[Layer, ...]:
    return (Layer(BOTTOM_BUN, "shop"), *fillings, Layer(TOP_BUN, "shop"))


def _checked(arms: object, most: int) -> tuple[int, int]:
    parts = list(arms) if is_list(arms) else []
    if len(parts) != 2:
        raise InvalidInput(f"arms must be two, the participant's and the partner's, got {short_repr(arms)}.")
    check = whole(0, most - 1)
    return check("The participant's arm", parts[0]), check("The partner's arm", parts[1])
