"""Which arm is behind a bridge: its joints, its limits, its gripper and its actions; Fetch's, or that of a file.

A file is TOML and names a URDF file, which every ROS 2 arm has: joints, limits and speeds are read from there.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from cobandit.base.checks import real, short_repr
from cobandit.base.errors import InvalidInput
from cobandit.robot.kinematics import Kinematics
from cobandit.robot.layout import FINGER_GAP, FREE, GRASPED_RADIUS, JOINTS, LIFT, WIDEST_OPENING, Array

PULL = 0.05
"""How strongly a redundant joint is pulled to the resting posture, per step."""
CLEARANCE = 0.004
"""How much wider than the widest item the fingers must open, in metres."""
VERTICAL = 0.999
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

_ARM_KEYS = {"urdf", "base", "tip", "action", "resting", "pointing", "closing", "tip_offset", "mount", "mount_yaw"}
_GRIPPER_KEYS = {"action", "joints", "closed", "open", "widest", "effort"}


@dataclass(frozen=True)
class Gripper:
    """The gripper's action and finger joints, and how their positions are related to the gap between the fingers.

    The gap is ``closed_gap`` plus ``gap_per_joint`` times the sum of the joints; a goal's position is ``closed_goal``
    plus ``goal_per_metre`` times the opening.
    """

    action: str = "/gripper_controller/gripper_action"
    joints: tuple[str, ...] = ("r_gripper_finger_joint", "l_gripper_finger_joint")
    closed_gap: float = FINGER_GAP
    gap_per_joint: float = 1.0
    closed_goal: float = 0.0
    goal_per_metre: float = 1.0
    widest: float = WIDEST_OPENING
    effort: float = 20.0

    def gap(self, measured: Mapping[str, float]) -> float:
        """Return the gap between the fingers, in metres."""
        return sum(measured.get(name, 0.0) for name in self.joints) * self.gap_per_joint + self.closed_gap

    def goal(self, opening: float) -> float:
        """Return the position of a goal for an opening in metres."""
        return self.closed_goal + self.goal_per_metre * float(opening)


@dataclass(frozen=True, eq=False)
class ArmModel:
    """An arm as its controllers know it. ``chain`` None is Fetch's, whose torso may be raised."""

    name: str = "fetch"
    joints: tuple[str, ...] = tuple(f"{joint.name}_joint" for joint in JOINTS)
    action: str = "/arm_controller/follow_joint_trajectory"
    gripper: Gripper = Gripper()
    torso: str | None = "torso_lift_joint"
    chain: Kinematics | None = None

    def kinematics(self, measured: Mapping[str, float]) -> Kinematics:
        """Return the geometry for the torso as it was measured."""
        if self.chain is not None:
            return self.chain
        return Kinematics(LIFT if self.torso is None else measured.get(self.torso, LIFT))

    @classmethod
    def from_file(cls, path: str | Path) -> ArmModel:
        """Read a TOML file with the tables ``arm`` and ``gripper``."""
        path = Path(path)
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InvalidInput(f"The arm file {str(path)!r} cannot be read: {error}") from error
        arm, gripper = _table(table, "arm", _ARM_KEYS), _table(table, "gripper", _GRIPPER_KEYS)
        chain = _chain(arm, path.parent)
        return cls(path.stem, chain.names, _text(arm, "action", "arm"), _gripper(gripper), torso=None, chain=chain)


class ChainKinematics(Kinematics):
    """The geometry of any chain of seven turning joints, as a URDF file describes it.

    ``steps`` has, for each joint, its fixed turn and offset from the joint before, and its axis; ``tip`` the turn and
    the offset of the fingertips, whose x axis points out of the gripper and whose y axis is that of the fingers.
    """

    def __init__(self, joints: Sequence[UrdfJoint], mount: Array, yaw: float, resting: Array, tip: Turned) -> None:
        self.names = tuple(joint.name for joint in joints)
        self.low = np.array([joint.low for joint in joints])
        self.high = np.array([joint.high for joint in joints])
        self.fastest = np.array([joint.speed for joint in joints])
        self.resting = resting
        self.pull = np.full(len(joints), PULL)
        self._mount, self._base = mount, turn_about((0.0, 0.0, 1.0), yaw)
        self._joints, self._tip = joints, tip

    @property
    def pan_axis(self) -> Array:
        """Where the first joint's axis meets the floor."""
        axis: Array = (self._mount + self._base @ self._joints[0].offset)[:2]
        return axis

    def _frames(self, joints: Array) -> tuple[Array, Array, list[tuple[Array, Array]]]:
        joints = np.asarray(joints, dtype=np.float64)
        rotation = np.broadcast_to(self._base, (*joints.shape[:-1], 3, 3))
        position = np.broadcast_to(self._mount, (*joints.shape[:-1], 3))
        frames = []
        for number, joint in enumerate(self._joints):
            position = position + rotation @ joint.offset
            rotation = rotation @ joint.turn
            frames.append((rotation @ joint.axis, position))
            rotation = rotation @ turn_about(joint.axis, joints[..., number])
        turn, offset = self._tip
        return position + rotation @ offset, rotation @ turn, frames


Turned = tuple[Array, Array]
"""A rotation (3, 3) and an offset (3,)."""


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """A turning joint, relative to the turning joint before it."""

    name: str
    turn: Array
    offset: Array
    axis: Array
    low: float
    high: float
    speed: float


def turn_about(axis: Sequence[float] | Array, angle: Array | float) -> Array:
    """Return the rotations (..., 3, 3) about a unit axis by angles (...)."""
    x, y, z = (float(part) for part in axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    angle = np.asarray(angle, dtype=np.float64)[..., np.newaxis, np.newaxis]
    turn: Array = np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross)
    return turn


def read_chain(urdf: str, base: str, tip: str) -> tuple[list[UrdfJoint], Turned]:
    """Return the turning joints of a URDF text from the link ``base`` to the link ``tip``, and the tip after them."""
    try:
        root = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise InvalidInput(f"The URDF file cannot be read: {error}. A xacro file must be expanded first.") from error
    parents = {}
    for element in root.iter("joint"):
        child, parent = element.find("child"), element.find("parent")
        if child is not None and parent is not None:
            parents[child.get("link")] = (parent.get("link"), element)
    path: list[ElementTree.Element] = []
    link: str | None = tip
    while link != base:
        if link not in parents or len(path) > len(parents):
            raise InvalidInput(f"The URDF file has no chain of joints from the link {base!r} to {tip!r}.")
        link, element = parents[link]
        path.append(element)
    joints, turn, offset = [], np.eye(3), np.zeros(3)
    for element in reversed(path):
        own_turn, own_offset = _origin(element)
        offset = offset + turn @ own_offset
        turn = turn @ own_turn
        kind = element.get("type")
        if kind == "fixed":
            continue
        if kind not in ("revolute", "continuous"):
            raise InvalidInput(
                f"The joint {element.get('name')!r} is {kind}; an arm may have revolute and continuous joints only."
            )
        joints.append(_joint(element, turn, offset))
        turn, offset = np.eye(3), np.zeros(3)
    if len(joints) != len(JOINTS):
        raise InvalidInput(f"The arm must have {len(JOINTS)} turning joints, got {len(joints)} in the URDF file.")
    return joints, (turn, offset)


def _joint(element: ElementTree.Element, turn: Array, offset: Array) -> UrdfJoint:
    name = str(element.get("name"))
    axis = np.array(_numbers(element.find("axis"), "xyz", "1 0 0"))
    length = float(np.linalg.norm(axis))
    limit = element.find("limit")
    speed = 0.0 if limit is None else _number(limit, "velocity")
    if length == 0 or limit is None or not 0 < speed < math.inf:
        raise InvalidInput(
            f"The joint {name!r} of the URDF file must have an axis and a limit with a velocity above 0."
        )
    low, high = -FREE, FREE
    if element.get("type") == "revolute":
        low, high = _number(limit, "lower"), _number(limit, "upper")
        if not low < high:
            raise InvalidInput(f"The joint {name!r} of the URDF file has the limits {low:g} and {high:g}.")
    return UrdfJoint(name, turn, offset, axis / length, low, high, speed)


def _origin(element: ElementTree.Element) -> Turned:
    origin = element.find("origin")
    roll, pitch, yaw = _numbers(origin, "rpy", "0 0 0")
    turn = turn_about(AXES["z"], yaw) @ turn_about(AXES["y"], pitch) @ turn_about(AXES["x"], roll)
    return turn, np.array(_numbers(origin, "xyz", "0 0 0"))


def _numbers(element: ElementTree.Element | None, key: str, default: str) -> list[float]:
    text = default if element is None else element.get(key, default)
    try:
        numbers = [float(part) for part in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != 3 or not all(map(math.isfinite, numbers)):
        raise InvalidInput(f"{key} in the URDF file must be three numbers, got {short_repr(text)}.")
    return numbers


def _number(element: ElementTree.Element, key: str) -> float:
    try:
        number = float(element.get(key, "0"))
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise InvalidInput(f"{key} in the URDF file must be a number, got {short_repr(element.get(key))}.")
    return number


def _chain(arm: Mapping[str, Any], folder: Path) -> ChainKinematics:
    path = folder / _text(arm, "urdf", "arm")
    try:
        urdf = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"The URDF file {str(path)!r} cannot be read: {error}") from error
    joints, (turn, offset) = read_chain(urdf, _text(arm, "base", "arm"), _text(arm, "tip", "arm"))
    if abs(joints[0].turn[2] @ joints[0].axis) < VERTICAL:
        raise InvalidInput(f"The first joint of the arm, {joints[0].name!r}, must turn about the vertical.")
    pointing, closing = _axis(arm, "pointing", "z"), _axis(arm, "closing", "y")
    if abs(pointing @ closing) > 0.5:
        raise InvalidInput("arm.pointing and arm.closing must be two different axes.")
    tip_offset = real(-1, 1)("arm.tip_offset", arm.get("tip_offset", 0.0))
    tip = (
        turn @ np.stack([pointing, closing, np.cross(pointing, closing)], axis=1),
        offset + turn @ pointing * tip_offset,
    )
    resting = np.array(_list(arm, "resting", [0.0] * len(joints), len(joints)))
    mount = np.array(_list(arm, "mount", [0.0, 0.0, 0.0], 3))
    yaw = real(-7, 7)("arm.mount_yaw", arm.get("mount_yaw", 0.0))
    chain = ChainKinematics(joints, mount, yaw, resting, tip)
    if np.any(resting < chain.low) or np.any(resting > chain.high):
        raise InvalidInput("arm.resting must lie within the limits of the joints.")
    return chain


def _gripper(table: Mapping[str, Any]) -> Gripper:
    names = table.get("joints")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput(f"gripper.joints must be a list of names, got {short_repr(names)}.")
    closed = real(-10, 10)("gripper.closed", table.get("closed"))
    opened = real(-10, 10)("gripper.open", table.get("open"))
    widest = real(2 * GRASPED_RADIUS + CLEARANCE, 1)("gripper.widest", table.get("widest"))
    if closed == opened:
        raise InvalidInput(f"gripper.open must differ from gripper.closed, got {opened:g} for both.")
    per_joint = widest / ((opened - closed) * len(names))
    return Gripper(
        action=_text(table, "action", "gripper"),
        joints=tuple(names),
        closed_gap=-closed * len(names) * per_joint,
        gap_per_joint=per_joint,
        closed_goal=closed,
        goal_per_metre=(opened - closed) / widest,
        widest=widest,
        effort=real(0, 1000, above=True)("gripper.effort", table.get("effort", 20.0)),
    )


def _table(table: Mapping[str, Any], name: str, keys: set[str]) -> Mapping[str, Any]:
    part = table.get(name)
    if not isinstance(part, Mapping):
        raise InvalidInput(f"The arm file must have a table [{name}].")
    if unknown := sorted(set(part) - keys):
        raise InvalidInput(f"[{name}] has the unknown key {unknown[0]!r}. Known: {', '.join(sorted(keys))}.")
    return part


def _text(table: Mapping[str, Any], key: str, part: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{part}.{key} must be a text, got {short_repr(value)}.")
    return value


def _list(table: Mapping[str, Any], key: str, default: list[float], length: int) -> list[float]:
    values = table.get(key, default)
    if not isinstance(values, list) or len(values) != length:
        raise InvalidInput(f"arm.{key} must be a list of {length} numbers, got {short_repr(values)}.")
    return [real(-100, 100)(f"arm.{key}", value) for value in values]


def _axis(table: Mapping[str, Any], key: str, default: str) -> Array:
    value = table.get(key, default)
    if not isinstance(value, str) or value.removeprefix("-") not in AXES:
        raise InvalidInput(f"arm.{key} must be x, y, z, -x, -y or -z, got {short_repr(value)}.")
    axis = np.array(AXES[value.removeprefix("-")])
    return -axis if value.startswith("-") else axis
