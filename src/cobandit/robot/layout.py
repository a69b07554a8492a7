"""Where everything is and how large: the arm's chain of joints, the items, the table. Metres, radians, kilograms.

The frame is the robot's base: x ahead, y to its left, z up from the floor.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.base.checks import real, short_repr
from cobandit.base.errors import InvalidInput, UnknownName

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Joint:
    """One joint of the chain: its offset from the one before, its axis, its limits and the mass that it moves."""

    name: str
    offset: tuple[float, float, float]
    axis: Literal["x", "y", "z"]
    low: float
    high: float
    speed: float
    mass: float


FREE = float("inf")
JOINTS = (
    Joint("shoulder_pan", (0.1195, 0, 0.3486), "z", -1.6056, 1.6056, 1.256, 2.56),
    Joint("shoulder_lift", (0.117, 0, 0.06), "y", -1.221, 1.518, 1.454, 2.66),
    Joint("upperarm_roll", (0.219, 0, 0), "x", -FREE, FREE, 1.571, 2.33),
    Joint("elbow_flex", (0.133, 0, 0), "y", -2.251, 2.251, 1.521, 2.13),
    Joint("forearm_roll", (0.197, 0, 0), "x", -FREE, FREE, 1.571, 1.66),
    Joint("wrist_flex", (0.1245, 0, 0), "y", -2.16, 2.16, 2.268, 1.73),
    Joint("wrist_roll", (0.1385, 0, 0), "x", -FREE, FREE, 2.268, 0.14),
)
"""The arm of a Fetch robot, from its torso on."""

LOWEST: Array = np.array([joint.low for joint in JOINTS])
HIGHEST: Array = np.array([joint.high for joint in JOINTS])
FASTEST: Array = np.array([joint.speed for joint in JOINTS])

TORSO = (-0.0869, 0.0, 0.3774)
LIFT = 0.20
"""How far the torso is raised above `TORSO`."""
GRIPPER_OFFSET = 0.1664
FINGER_HALF_LENGTH = 0.0385
TIP_OFFSET = GRIPPER_OFFSET + FINGER_HALF_LENGTH
"""From the last joint to the fingertips."""
FINGER_HALF_WIDTH = 0.005
FINGER_GAP = 0.0018
"""The gap between the fingers when both slides are at 0."""
WIDEST_OPENING = 0.1018
HEAD = (0.0531, 0.0, 0.603)
HEAD_TILT_OFFSET = (0.1425, 0.0, 0.058)
"""The head's pan axis from the torso, and its tilt axis from there."""


@dataclass(frozen=True)
class Item:
    """A layer: a disc of ``radius``, or a square of that half side (then ``square``), and its thickness."""

    name: str
    radius: float
    thickness: float
    mass: float
    square: bool = False


ITEMS = MappingProxyType(
    {
        item.name: item
        for item in (
            Item("bottom_bun", 0.045, 0.020, 0.035),
            Item("patty", 0.043, 0.012, 0.060),
            Item("cheese", 0.038, 0.006, 0.018, square=True),
            Item("tomato", 0.036, 0.008, 0.020),
            Item("lettuce", 0.038, 0.006, 0.012),
            Item("top_bun", 0.040, 0.016, 0.035),
        )
    }
)
GRASPED_RADIUS = 0.040
"""The fingers open to 50 mm each, so they cannot grasp a wider item."""

FINGERS = ("right_finger", "left_finger")
HEAD_JOINTS = ("head_pan", "head_tilt")
MOVING = (*(joint.name for joint in JOINTS), "gripper", *FINGERS, *HEAD_JOINTS, *ITEMS, "hand")
"""The bodies of a recording, in the order of its channels."""
FRAMES_PER_SECOND = 25
HAND_REST = (1.24, -0.06, 0.83)
SHOULDER_OF_HAND = (1.95, 0.0)
"""Where the person's hand waits, and where it comes from."""
SCENE = "burger-1"
"""The name of the scene of recordings; a page must redraw the scene when the name changes."""


def item_named(name: object) -> Item:
    """Return the item of that name."""
    if not isinstance(name, str) or name not in ITEMS:
        raise UnknownName("item", name, ITEMS)
    return ITEMS[name]


@dataclass(frozen=True)
class Layout:
    """Where the table, the plate and the items are; a lab with another table makes one of its own."""

    table_height: float = 0.72
    tray_thickness: float = 0.006
    plate: tuple[float, float] = (0.66, 0.0)
    trays: MappingProxyType[str, tuple[float, float]] = field(
        default_factory=lambda: MappingProxyType(
            {
                "patty": (0.90, -0.20),
                "cheese": (0.90, 0.20),
                "tomato": (0.54, 0.28),
                "lettuce": (0.56, -0.28),
                "top_bun": (0.69, 0.25),
            }
        )
    )
    home: tuple[float, float, float] = (0.50, 0.36, 0.88)
    """Where the fingertips wait."""

    def __post_init__(self) -> None:
        real(0.3, 1.2)("table_height", self.table_height)
        real(0, 0.1)("tray_thickness", self.tray_thickness)
        places = {"plate": (self.plate, 2), "home": (self.home, 3)} | {
            f"trays[{name!r}]": (place, 2) for name, place in self.trays.items()
        }
        for name, (place, length) in places.items():
            if not isinstance(place, tuple) or len(place) != length:
                raise InvalidInput(f"{name} must be a tuple of {length} lengths in metres, got {short_repr(place)}.")
            for coordinate in place:
                real(-2, 2)(name, coordinate)
        missing = set(ITEMS) - {"bottom_bun"} - set(self.trays)
        if missing:
            raise InvalidInput(f"trays lacks {', '.join(sorted(missing))}; each item but the bottom bun needs a tray.")

    @property
    def base_height(self) -> float:
        """The top of plate and trays."""
        return self.table_height + self.tray_thickness

    def place_of(self, item: str) -> tuple[float, float]:
        """Return the position of an item before it is used."""
        return self.plate if item == "bottom_bun" else self.trays[item_named(item).name]

    def stack_height(self, stack: tuple[str, ...]) -> float:
        """Return the top of a stack on the plate, from the thicknesses of its layers."""
        return self.base_height + sum(item_named(name).thickness for name in stack)
