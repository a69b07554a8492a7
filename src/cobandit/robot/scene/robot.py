"""How the robot looks: a body of our own on Fetch's chain of joints, in its colours."""

from __future__ import annotations

from cobandit.robot.layout import FINGER_HALF_LENGTH, FINGER_HALF_WIDTH, LIFT, TORSO
from cobandit.robot.scene.shapes import Drawing, lathe

WHITE, TEAL, DARK, BLACK, GLOW = "#eceae4", "#0b7a95", "#4a4e55", "#23262b", "#5fe3f0"


def draw_robot(drawing: Drawing) -> None:
    """Base, torso, head, arm and gripper."""
    _base(drawing)
    _torso(drawing)
    _head(drawing)
    _shoulder_and_arm(drawing)
    _gripper(drawing)


def _base(drawing: Drawing) -> None:
    foot = [(0.0, 0.02), (0.24, 0.02), (0.268, 0.045), (0.272, 0.09), (0.272, 0.20), (0.266, 0.235), (0.0, 0.235)]
    drawing.on("base", DARK, "satin").mesh("foot", lathe(foot, 56))
    shell = [(0.0, 0.235), (0.262, 0.235), (0.27, 0.25), (0.266, 0.31), (0.245, 0.345), (0.20, 0.362), (0.0, 0.365)]
    drawing.on("base", WHITE, "satin").mesh("shell", lathe(shell, 56))
    drawing.on("base", TEAL, "gloss").mesh(
        "stripe", lathe([(0, 0.222), (0.2735, 0.222), (0.2745, 0.231), (0.2735, 0.24), (0, 0.24)], 56)
    )
    drawing.on("base", BLACK, "gloss").cushion((0.05, 0.12, 0.022), (0.225, 0, 0.29), 0.018)
    # The column that the torso slides in.
    drawing.on("base", TEAL, "satin").cushion((0.085, 0.135, 0.27), (-0.115, 0, 0.62), 0.04)
    drawing.on("base", DARK, "matt").cushion((0.055, 0.10, 0.20), (-0.045, 0, 0.56), 0.03)


def _torso(drawing: Drawing) -> None:
    white = drawing.on("torso", WHITE, "satin")
    white.cushion((0.078, 0.112, 0.23), (0.0, 0, 0.20), 0.045)
    white.cushion((0.072, 0.155, 0.062), (0.0, 0, 0.45), 0.055)
    white.drum((0.1195, 0, 0.17), (0.1195, 0, 0.30), 0.064, 0.02)
    white.cushion((0.07, 0.062, 0.055), (0.055, 0, 0.235), 0.03)
    teal = drawing.on("torso", TEAL, "gloss")
    for side in (-1, 1):
        teal.drum((0, side * 0.150, 0.452), (0, side * 0.160, 0.452), 0.036, 0.005)
        drawing.on("torso", TEAL, "satin").cushion((0.05, 0.006, 0.16), (-0.008, side * 0.110, 0.18), 0.006)
    dark = drawing.on("torso", DARK, "satin")
    dark.drum((0.0531, 0, 0.50), (0.0531, 0, 0.575), 0.034, 0.008)
    dark.drum((0.1195, 0, 0.292), (0.1195, 0, 0.304), 0.066, 0.004)


def _head(drawing: Drawing) -> None:
    pan = drawing.on("head_pan", DARK, "satin")
    pan.cushion((0.10, 0.075, 0.026), (0.055, 0, 0.006), 0.024)
    pan.drum((0.1425, -0.072, 0.058), (0.1425, 0.072, 0.058), 0.022, 0.006)
    pan.cushion((0.03, 0.03, 0.03), (0.125, 0, 0.035), 0.015)
    drawing.on("head_tilt", WHITE, "satin").cushion((0.058, 0.128, 0.048), (-0.012, 0, 0.032), 0.045)
    drawing.on("head_tilt", TEAL, "gloss").cushion((0.030, 0.131, 0.012), (-0.022, 0, 0.066), 0.011)
    drawing.on("head_tilt", BLACK, "gloss").cushion((0.022, 0.106, 0.034), (0.034, 0, 0.030), 0.021)
    eye = drawing.on("head_tilt", GLOW, "gloss")
    for side in (-1, 1):
        eye.ellipsoid((0.005, 0.0155, 0.0185), (0.0545, side * 0.046, 0.032))
        drawing.on("head_tilt", "#ffffff", "gloss").sphere(0.0042, (0.0585, side * 0.046 + 0.005, 0.0385))
        drawing.on("head_tilt", DARK, "satin").drum(
            (-0.012, side * 0.122, 0.03), (-0.012, side * 0.138, 0.03), 0.026, 0.005
        )


def _shoulder_and_arm(drawing: Drawing) -> None:
    pan = drawing.on("shoulder_pan", WHITE, "satin")
    pan.drum((0, 0, -0.045), (0, 0, 0.085), 0.064, 0.025)
    pan.capsule((0.0, 0, 0.05), (0.10, 0, 0.06), 0.050)
    _flex(drawing, "shoulder_lift", 0.064, 0.068, 0.15)
    _roll(drawing, "upperarm_roll", 0.053, 0.06, 0.09)
    _flex(drawing, "elbow_flex", 0.059, 0.062, 0.13)
    _roll(drawing, "forearm_roll", 0.049, 0.055, 0.085)
    _flex(drawing, "wrist_flex", 0.053, 0.056, 0.095)
    wrist = drawing.on("wrist_roll", WHITE, "satin")
    wrist.drum((-0.034, 0, 0), (0.03, 0, 0), 0.044, 0.008)
    drawing.on("wrist_roll", TEAL, "gloss").drum((0.010, 0, 0), (0.017, 0, 0), 0.0452, 0.002)


def _flex(drawing: Drawing, body: str, radius: float, half: float, reach: float) -> None:
    """Draw a joint that bends: a teal drum across the arm with white caps, and the tube that it carries."""
    teal = drawing.on(body, TEAL, "satin")
    teal.drum((0, -half, 0), (0, half, 0), radius, 0.010)
    teal.drum((0.0, 0, 0), (reach, 0, 0), radius * 0.82, 0.010)
    cap, ring = drawing.on(body, WHITE, "gloss"), drawing.on(body, DARK, "satin")
    for side in (-1, 1):
        ring.drum((0, side * (half - 0.002), 0), (0, side * (half + 0.002), 0), radius * 0.72, 0.0015)
        cap.drum((0, side * half, 0), (0, side * (half + 0.005), 0), radius * 0.62, 0.0025)


def _roll(drawing: Drawing, body: str, radius: float, before: float, after: float) -> None:
    """Draw a joint that rotates along the arm: a white tube with a dark seam."""
    white = drawing.on(body, WHITE, "satin")
    white.drum((-before, 0, 0), (after, 0, 0), radius, 0.012)
    drawing.on(body, DARK, "satin").drum((-before - 0.003, 0, 0), (-before + 0.003, 0, 0), radius * 0.93, 0.002)
    drawing.on(body, TEAL, "gloss").drum((0.016, 0, 0), (0.022, 0, 0), radius + 0.0008, 0.002)


def _gripper(drawing: Drawing) -> None:
    dark = drawing.on("gripper", DARK, "satin")
    dark.cushion((0.045, 0.067, 0.037), (-0.088, 0, 0), 0.016)
    dark.drum((-0.15, 0, 0), (-0.128, 0, 0), 0.042, 0.006)
    drawing.on("gripper", BLACK, "matt").cushion((0.006, 0.062, 0.016), (-0.044, 0, 0), 0.004)
    drawing.on("gripper", TEAL, "gloss").cushion((0.030, 0.068, 0.005), (-0.088, 0, 0.034), 0.004)
    for body, side in (("right_finger", 1), ("left_finger", -1)):
        middle = side * FINGER_HALF_WIDTH
        drawing.on(body, DARK, "satin").cushion((0.012, 0.008, 0.014), (-0.034, middle, 0), 0.004)
        finger = drawing.on(body, "#8d939b", "gloss")
        finger.cushion((FINGER_HALF_LENGTH, FINGER_HALF_WIDTH * 0.7, 0.011), (0, middle * 1.3, 0), 0.003)
        pad = drawing.on(body, BLACK, "matt")
        pad.cushion((0.022, FINGER_HALF_WIDTH * 0.35, 0.0105), (0.0155, middle * 0.36, 0), 0.0015)


def fixed_bodies() -> dict[str, tuple[float, float, float]]:
    """Return the positions of the parts of the robot that never move."""
    return {"base": (0.0, 0.0, 0.0), "torso": (TORSO[0], TORSO[1], TORSO[2] + LIFT)}
