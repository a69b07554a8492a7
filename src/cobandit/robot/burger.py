"""The layers of a burger as an arm meets them: what is set down on the bottom bun, in which order, and by whom.

What lies on what is the study's word (`cobandit.studies.burger`; paper: Experiments, the burger study). In the kitchen
the person sets the participant's fillings down, the robot its own and the top bun.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cobandit.base.checks import is_list, short_repr, whole
from cobandit.base.errors import InvalidInput
from cobandit.studies import burger as study

Configuration = tuple[int, int]
"""The arms of both seats: the person's (0 = patty first), then the robot's (0 = tomato first)."""

BOTTOM_BUN = study.BOTTOM_BUN
PERSON_FILLINGS, _ = study.FILLINGS
CONFIGURATIONS: tuple[Configuration, ...] = ((0, 0), (0, 1), (1, 0), (1, 1))


@dataclass(frozen=True)
class Layer:
    """One layer: the item, and who sets it down."""

    item: str
    by: Literal["person", "robot"]


def burger_layers(configuration: Sequence[int]) -> tuple[Layer, ...]:
    """Return the layers above the bottom bun, from below.

    >>> " ".join(layer.item for layer in burger_layers((0, 1)))
    'patty lettuce cheese tomato top_bun'
    """
    _, *layers = study.burger_layers(checked_configuration(configuration))
    return tuple(Layer(layer.item, "person" if layer.by == "participant" else "robot") for layer in layers)


def checked_configuration(configuration: object) -> Configuration:
    """Return both arms, each 0 or 1."""
    arms = list(configuration) if is_list(configuration) else []
    if len(arms) != 2:
        raise InvalidInput(
            f"configuration must be two arms, the person's and the robot's, got {short_repr(configuration)}."
        )
    check = whole(0, 1)
    return check("the person's arm", arms[0]), check("the robot's arm", arms[1])
