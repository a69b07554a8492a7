"""Forward and inverse kinematics of the fingertips in plain NumPy, vectorised over poses."""

from __future__ import annotations

import numpy as np

from cobandit.robot.layout import FASTEST, HIGHEST, JOINTS, LIFT, LOWEST, TIP_OFFSET, TORSO, Array

DAMPING = 1e-6
LARGEST_STEP = 0.2
POSITION_TOLERANCE = 2e-5
ANGLE_TOLERANCE = 1e-4
REACHED_POSITION, REACHED_ANGLE = 1e-3, 0.01
"""A pose that is missed by more counts as out of reach."""
POSTURE_PULL = 0.15 * np.array([0.0, 0.3, 1.0, 0.3, 1.0, 0.3, 0.0])
POSTURE_STEPS = 40
RESTING: Array = np.array([0.3, -1.0, 0.0, 1.75, 0.0, 0.82, 0.0])
"""Elbow up, fingers down: the posture that the redundant joint is pulled to."""

_AXES = {"x": 0, "y": 1, "z": 2}


class OutOfReach(Exception):
    """No joints within their limits bring the fingertips there."""


class Kinematics:
    """The geometry and the limits of Fetch's arm with its torso raised by ``lift``; subclasses bring other arms."""

    names: tuple[str, ...] = tuple(joint.name for joint in JOINTS)
    low: Array = LOWEST
    high: Array = HIGHEST
    fastest: Array = FASTEST
    resting: Array = RESTING
    """The posture that the redundant joint is pulled to."""
    pull: Array = POSTURE_PULL

    def __init__(self, lift: float = LIFT) -> None:
        self._origin = np.array([TORSO[0], TORSO[1], TORSO[2] + lift])

    @property
    def pan_axis(self) -> Array:
        """Where the first joint's axis meets the floor."""
        axis: Array = self._origin[:2] + np.array(JOINTS[0].offset[:2])
        return axis

    def forward(self, joints: Array) -> tuple[Array, Array]:
        """Return the fingertips (..., 3) and the gripper's rotation (..., 3, 3) for joints (..., 7)."""
        tip, rotation, _ = self._frames(joints)
        return tip, rotation

    def jacobian(self, joints: Array) -> Array:
        """Return how the fingertips move and turn with each joint: (..., 6, 7)."""
        tip, _, frames = self._frames(joints)
        return _columns(tip, frames)

    def solve(self, start: Array, tip: Array, rotation: Array, steps: int = 80, posture: float = 1.0) -> Array:
        """Return joints (..., 7) that bring the fingertips to ``tip`` with ``rotation``, by damped least squares.

        The free degrees of freedom are pulled to ``resting`` for `POSTURE_STEPS` steps at most, so the end is exact.
        """
        joints = np.array(start, dtype=np.float64)
        for step in range(steps):
            at, turned, frames = self._frames(joints)
            error = np.concatenate([tip - at, _turn(turned, rotation)], axis=-1)
            reached = _within(error, POSITION_TOLERANCE, ANGLE_TOLERANCE)
            if reached and (not posture or step):
                return joints
            jacobian = _columns(at, frames)
            square = jacobian @ np.swapaxes(jacobian, -1, -2) + DAMPING * np.eye(6)
            inverse = np.swapaxes(np.linalg.solve(square, jacobian), -1, -2)
            change = (inverse @ error[..., np.newaxis])[..., 0]
            if posture and step < POSTURE_STEPS:
                pull = posture * self.pull * (self.resting - joints)
                change += pull - (inverse @ (jacobian @ pull[..., np.newaxis]))[..., 0]
            joints = np.clip(joints + np.clip(change, -LARGEST_STEP, LARGEST_STEP), self.low, self.high)
        at, turned, _ = self._frames(joints)
        if not _within(np.concatenate([tip - at, _turn(turned, rotation)], axis=-1), REACHED_POSITION, REACHED_ANGLE):
            raise OutOfReach
        return joints

    def _frames(self, joints: Array) -> tuple[Array, Array, list[tuple[Array, Array]]]:
        """Return the fingertips, the gripper's rotation, and the axis and position of every joint."""
        joints = np.asarray(joints, dtype=np.float64)
        cosines, sines = np.cos(joints), np.sin(joints)
        rotation = np.broadcast_to(np.eye(3), (*joints.shape[:-1], 3, 3))
        position = np.broadcast_to(self._origin, (*joints.shape[:-1], 3))
        frames = []
        for number, joint in enumerate(JOINTS):
            position = position + rotation @ np.array(joint.offset)
            axis = _AXES[joint.axis]
            frames.append((rotation[..., axis], position))
            # A turn about an axis mixes the other two columns; the axis itself stays.
            second, third = rotation[..., (axis + 1) % 3], rotation[..., (axis + 2) % 3]
            cosine, sine = cosines[..., number, np.newaxis], sines[..., number, np.newaxis]
            rotation = rotation.copy()
            rotation[..., (axis + 1) % 3] = cosine * second + sine * third
            rotation[..., (axis + 2) % 3] = cosine * third - sine * second
        return position + TIP_OFFSET * rotation[..., 0], rotation, frames


def gripper_down(yaw: Array | float) -> Array:
    """Return the rotation of a gripper that points down, its fingers moving along the direction ``yaw`` of the
    table.
    """
    yaw = np.asarray(yaw, dtype=np.float64)
    cosine, sine, zero = np.cos(yaw), np.sin(yaw), np.zeros_like(yaw)
    columns = [(zero, zero, zero - 1), (cosine, sine, zero), (sine, -cosine, zero)]
    return np.stack([np.stack(column, axis=-1) for column in columns], axis=-1)


def _columns(tip: Array, frames: list[tuple[Array, Array]]) -> Array:
    axes = np.stack([axis for axis, _ in frames], axis=-2)
    arms = tip[..., np.newaxis, :] - np.stack([position for _, position in frames], axis=-2)
    return np.swapaxes(np.concatenate([_cross(axes, arms), axes], axis=-1), -1, -2)


def _turn(rotation: Array, wanted: Array) -> Array:
    """Return the small turn that is missing."""
    turns: Array = 0.5 * _cross(np.swapaxes(rotation, -1, -2), np.swapaxes(wanted, -1, -2)).sum(axis=-2)
    return turns


def _cross(left: Array, right: Array) -> Array:
    """Return the cross product; NumPy's own takes twice as long for few vectors."""
    x, y, z = left[..., 0], left[..., 1], left[..., 2]
    u, v, w = right[..., 0], right[..., 1], right[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def _within(error: Array, position: float, angle: float) -> bool:
    squares = error * error
    return bool(
        np.all(squares[..., :3].sum(axis=-1) < position**2) and np.all(squares[..., 3:].sum(axis=-1) < angle**2)
    )
