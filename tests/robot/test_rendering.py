"""Frames of a recording, drawn without a display."""

from __future__ import annotations

import os
import subprocess
import sys

DRAW = """
from cobandit.robot import simulate_burger
recording = simulate_burger((0, 0), 1)
from cobandit.robot.rendering import FrameRenderer
from cobandit.robot.scene import scene_description
with FrameRenderer(scene_description("own"), 64, 48) as renderer:
    print(renderer.draw(recording, recording.frames - 1).std() > 10)
"""


def test_a_program_that_simulates_first_can_draw() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "MUJOCO_GL")}
    drawn = subprocess.run([sys.executable, "-c", DRAW], env=environment, capture_output=True, text=True, check=False)
    assert drawn.stdout == "True\n", drawn.stderr
