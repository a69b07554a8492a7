"""Paths of the arm: a curve for the fingertips, joints along it, and minimum-jerk timing within the joints' speeds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from cobandit.robot.kinematics import Kinematics, OutOfReach, gripper_down
from cobandit.robot.layout import Array

PERIOD = 0.02
"""Seconds between two set points."""
WAYPOINTS = 24
MARGIN = 0.9
"""The part of a joint's speed limit that is planned with; the rest is for the controller."""
AROUND = 0.1
"""A longer way over the table goes around the shoulder: straight lines meet the limit of the shoulder lift."""


@dataclass(frozen=True, eq=False)
class JointPath:
    """Set points: ``times`` (n,) from the start, the first after one `PERIOD`; ``positions`` (n, 7)."""

    times: Array
    positions: Array

    @property
    def duration(self) -> float:
        """Seconds."""
        return float(self.times[-1])


class Planner:
    """Plans paths that keep ``speed`` (a fraction) of the joints' speed limits."""

    def __init__(self, kinematics: Kinematics, speed: float = 1.0) -> None:
        self.kinematics = kinematics
        self._fastest = speed * MARGIN * kinematics.fastest
        self._speed = speed

    def pose(self, joints: Array) -> tuple[Array, float]:
        """Return fingertips and yaw for given joints."""
        tip, rotation = self.kinematics.forward(joints)
        return tip, math.atan2(rotation[1, 1], rotation[0, 1])

    def move(self, joints: Array, tip: Array, yaw: float, shortest: float = 0.25) -> JointPath:
        """Return a path from the joints to a tip and yaw, at rest at both ends, in at least ``shortest`` seconds."""
        fractions = np.linspace(0, 1, WAYPOINTS + 1)
        grown = fractions**3 * (10 - 15 * fractions + 6 * fractions**2)
        return self._timed(self._along(joints, np.asarray(tip, dtype=np.float64), yaw, grown), shortest)

    def descend(self, joints: Array, depth: float, rate: float) -> JointPath:
        """Straight down by ``depth`` at ``rate`` metres per second, to be ended at the first touch."""
        tip, yaw = self.pose(joints)
        count = max(2, math.ceil(depth / (rate * self._speed * PERIOD)))
        lowest = self._along(joints, tip - np.array([0, 0, depth]), yaw, np.linspace(0, 1, count + 1))[1:]
        return JointPath(_ticks(count), lowest)

    def _along(self, joints: Array, tip: Array, yaw: float, grown: Array) -> Array:
        """Return the joints at the given fractions of the path."""
        begin, begin_yaw = self.pose(joints)
        end = self.kinematics.solve(joints, tip, gripper_down(yaw))
        tips = begin + (tip - begin) * grown[:, np.newaxis]
        if math.hypot(*(tip - begin)[:2]) > AROUND:
            tips[:, :2] = self._arc(begin[:2], tip[:2], grown)
        yaws = begin_yaw + (yaw - begin_yaw) * grown
        guess = joints + (end - joints) * grown[:, np.newaxis]
        inner = self.kinematics.solve(guess[1:-1], tips[1:-1], gripper_down(yaws[1:-1]), posture=0.0)
        return np.concatenate([[joints], inner, [end]])

    def _arc(self, begin: Array, end: Array, grown: Array) -> Array:
        centre = self.kinematics.pan_axis
        (x0, y0), (x1, y1) = begin - centre, end - centre
        radii = math.hypot(x0, y0) + (math.hypot(x1, y1) - math.hypot(x0, y0)) * grown
        angles = math.atan2(y0, x0) + (math.atan2(y1, x1) - math.atan2(y0, x0)) * grown
        arc: Array = centre + radii[:, np.newaxis] * np.stack([np.cos(angles), np.sin(angles)], axis=1)
        return arc

    def _timed(self, waypoints: Array, shortest: float) -> JointPath:
        """Set points through the waypoints, as fast as the slowest joint allows."""
        count = len(waypoints) - 1
        slopes = np.zeros_like(waypoints)  # per waypoint; at rest at both ends
        slopes[1:-1] = (waypoints[2:] - waypoints[:-2]) / 2
        fine = np.linspace(0, count, 8 * count + 1)
        rates = np.abs(np.diff(_blend(waypoints, slopes, fine), axis=0)) / np.diff(fine)[:, np.newaxis] * count
        duration = max(shortest / self._speed, float((rates / self._fastest).max()))
        steps = max(2, math.ceil(duration / PERIOD))
        return JointPath(_ticks(steps), _blend(waypoints, slopes, np.arange(1, steps + 1) / steps * count))


def _blend(points: Array, slopes: Array, at: Array) -> Array:
    """Return a cubic through the points with their slopes, at fractional indices."""
    left = np.minimum(at.astype(np.int64), len(points) - 2)
    u = (at - left)[:, np.newaxis]
    p, q, s, t = points[left], points[left + 1], slopes[left], slopes[left + 1]
    blended: Array = p + u * (s + u * ((3 * (q - p) - 2 * s - t) + u * (2 * (p - q) + s + t)))
    return blended


def _ticks(count: int) -> Array:
    """Return the times of ``count`` set points."""
    return np.arange(1, count + 1, dtype=np.float64) * PERIOD


__all__ = ["PERIOD", "JointPath", "OutOfReach", "Planner"]
