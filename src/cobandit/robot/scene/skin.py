"""The appearance of a real Fetch robot, from the meshes in an installed ``gymnasium-robotics``.

The meshes are read from that package and never copied: their licence (CC BY-NC-SA 4.0) is stricter than ours. If you
show them, you must name their authors, and commercial use is not allowed.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from cobandit.base.errors import CobanditError
from cobandit.robot.layout import FINGER_HALF_LENGTH, FINGER_HALF_WIDTH
from cobandit.robot.scene.robot import DARK, TEAL, WHITE
from cobandit.robot.scene.shapes import Drawing, Mesh

FOLDER = Path("envs") / "assets" / "stls" / "fetch"
CREDIT = {
    "name": "Fetch robot model by Fetch Robotics, adapted by OpenAI, from gymnasium-robotics",
    "licence": "CC BY-NC-SA 4.0 (no commercial use)",
    "source": "https://github.com/fetchrobotics/fetch_ros",
}
PARTS = {  # body -> the mesh's file, its colour, and where it sits on the body
    "shoulder_pan": ("shoulder_pan_link_collision", WHITE),
    "shoulder_lift": ("shoulder_lift_link_collision", TEAL),
    "upperarm_roll": ("upperarm_roll_link_collision", WHITE),
    "elbow_flex": ("elbow_flex_link_collision", TEAL),
    "forearm_roll": ("forearm_roll_link_collision", WHITE),
    "wrist_flex": ("wrist_flex_link_collision", TEAL),
    "wrist_roll": ("wrist_roll_link_collision", WHITE),
    "gripper": ("gripper_link", DARK),
    "head_pan": ("head_pan_link_collision", DARK),
    "head_tilt": ("head_tilt_link_collision", TEAL),
    "torso": ("torso_lift_link_collision", WHITE),
    "base": ("base_link_collision", DARK),
}
TORSO_FIXED = ("torso_fixed_link", TEAL, (-0.0869, 0.0, 0.3774))


class NoMeshes(CobanditError):
    """The meshes of the genuine robot are not on this machine."""


def draw_fetch(drawing: Drawing) -> dict[str, str]:
    """Draw the robot with its genuine meshes, and give the credit that must be shown."""
    folder = mesh_folder()
    for body, (file, colour) in PARTS.items():
        drawing.on(body, colour).mesh(file, read_stl(folder / f"{file}.stl"))
    file, colour, pos = TORSO_FIXED
    drawing.on("base", colour).mesh(file, read_stl(folder / f"{file}.stl"), pos)
    for body, side in (("right_finger", 1), ("left_finger", -1)):
        half = (FINGER_HALF_LENGTH, FINGER_HALF_WIDTH, 0.011)
        drawing.on(body, "#8d939b", "gloss").cushion(half, (0, side * FINGER_HALF_WIDTH, 0), 0.003)
    return dict(CREDIT)


def mesh_folder() -> Path:
    """Return the folder of the meshes; the package is located but not imported."""
    spec = importlib.util.find_spec("gymnasium_robotics")
    folder = None if spec is None or spec.origin is None else Path(spec.origin).parent / FOLDER
    if folder is None or not folder.is_dir():
        raise NoMeshes("The skin 'fetch' needs the meshes of gymnasium-robotics: pip install gymnasium-robotics")
    return folder


def read_stl(path: Path) -> Mesh:
    """Return a binary STL file, corners that lie together made one."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise NoMeshes(f"The mesh {path.name} cannot be read: {error.strerror}.") from error
    count = int.from_bytes(data[80:84], "little")
    if len(data) != 84 + 50 * count or not count:
        raise NoMeshes(f"The mesh {path.name} is no binary STL file.")
    rows = np.frombuffer(data, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")]), offset=84)
    corners = rows["corners"].reshape(-1, 3).astype(np.float64).round(4)
    vertices, numbers = np.unique(corners, axis=0, return_inverse=True)
    faces = numbers.reshape(-1, 3)
    flat = (faces[:, 0] == faces[:, 1]) | (faces[:, 1] == faces[:, 2]) | (faces[:, 0] == faces[:, 2])
    return Mesh(vertices, faces[~flat].astype(np.int64))
