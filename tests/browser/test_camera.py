"""The camera of the robot's page: no part of the arm is cut off, and it ends close to the burger."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

pytest.importorskip("mujoco")

from cobandit.robot import simulate_burger
from cobandit.robot.recording import POSITION_UNIT, Recording
from tests.browser.site import Site

SHOTS = """async () => {
  const { CLOSE, ENDED } = await import("/static/participant/robot/player.js");
  return [CLOSE, ENDED];
}"""
NARROWEST = 1.5  # the stage is 8 : 5 or wider
THICKNESS = 0.04  # metres from the axis of the arm to its surface
ARM = ("shoulder_lift", "upperarm_roll", "elbow_flex", "forearm_roll", "wrist_flex", "wrist_roll", "gripper")
HEAD = (0.42, 1.3, 1.44)  # the top of the customer's head


def surface(recording: Recording, frames: slice) -> NDArray[np.float64]:
    """Points around the arm's joints in these frames."""
    places = [recording.bodies.index(body) for body in ARM]
    joints = recording.poses[frames, places, :3].astype(float) * POSITION_UNIT
    corners = THICKNESS * np.array(list(itertools.product((-1, 1), repeat=3)))
    return (joints.reshape(-1, 1, 3) + corners).reshape(-1, 3)


def in_picture(points: NDArray[np.float64], shot: dict[str, Any]) -> NDArray[np.float64]:
    """Where points are in the picture, from -1 to 1 both ways."""
    position, target = np.array(shot["position"]), np.array(shot["target"])
    ahead = (target - position) / np.linalg.norm(target - position)
    right = np.cross(ahead, (0, 0, 1))
    right /= np.linalg.norm(right)
    seen = points - position
    depth = (seen @ ahead) * np.tan(np.radians(shot["fov"]) / 2)
    assert (depth > 0).all()
    return np.stack([seen @ right / (NARROWEST * depth), seen @ np.cross(right, ahead) / depth], axis=1)


@pytest.fixture(scope="module")
def recordings() -> list[Recording]:
    """Every burger once."""
    return [simulate_burger(arms, 1) for arms in itertools.product((0, 1), repeat=2)]


def test_the_whole_arm_is_in_the_picture(
    new_context: Callable[..., Any], site: Site, recordings: list[Recording]
) -> None:
    page = new_context().new_page()
    page.goto(site.address)
    close, ended = page.evaluate(SHOTS)
    for recording in recordings:
        assert abs(in_picture(surface(recording, slice(0, None, 5)), close)).max() < 1
        assert abs(in_picture(surface(recording, slice(-1, None)), ended)).max() < 1
        assert abs(in_picture(np.array([HEAD]), ended)).max() < 1
        # The burger is a tenth of a metre high, and a sixth of the picture at the end.
        burger = recording.positions("bottom_bun")[-1]
        low, high = in_picture(np.array([burger, burger + np.array([0, 0, 0.1])]), ended)
        assert low[1] > -1
        assert (high - low)[1] / 2 > 1 / 6
