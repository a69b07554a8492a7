"""MuJoCo, loaded with a library that can draw without a display.

MuJoCo reads ``MUJOCO_GL`` once, when it is first imported. Import ``mujoco`` from here, so that a program that first
simulates and then draws finds OpenGL as well.
"""

from __future__ import annotations

import os
import sys
from ctypes.util import find_library


def _choose_library() -> None:
    """Set ``MUJOCO_GL`` to an installed library if there is no display and the user has not set it."""
    if sys.platform == "linux" and "mujoco" not in sys.modules and not os.environ.get("DISPLAY"):
        libraries = [name for name, file in (("egl", "EGL"), ("osmesa", "OSMesa")) if find_library(file)]
        if libraries:
            os.environ.setdefault("MUJOCO_GL", libraries[0])


_choose_library()

import mujoco  # noqa: E402 -- the library must be chosen first

__all__ = ["mujoco"]
