"""The scene as one table for JSON: shapes, where bodies stand, camera, lights. The keys: docs/reference/robot.md."""

from __future__ import annotations

import math
from typing import Any

from cobandit.base.checks import one_of
from cobandit.base.json_types import JsonObject
from cobandit.robot.burger import PERSON_FILLINGS
from cobandit.robot.layout import FRAMES_PER_SECOND, HAND_REST, ITEMS, MOVING, SCENE, Layout
from cobandit.robot.scene.food import LABELS, draw_food
from cobandit.robot.scene.kitchen import CUSTOMER, draw_kitchen
from cobandit.robot.scene.robot import draw_robot, fixed_bodies
from cobandit.robot.scene.shapes import UPRIGHT, Drawing

VERSION = 1
SKINS = ("own", "fetch")
CAMERA = {"position": [1.95, -1.46, 1.66], "target": [0.50, 0.16, 0.90], "fov": 32}
LIGHTS = [
    {"position": [1.5, -1.3, 2.9], "target": [0.55, 0.05, 0.75], "intensity": 0.75, "shadow": True},
    {"position": [-0.8, 1.8, 2.4], "target": [0.5, 0.0, 0.8], "intensity": 0.25, "shadow": False},
]
BACKGROUND = "#dfe9ef"


def require_skin(skin: str) -> str:
    """Return the skin, if this machine has what it is drawn from; a refusal where not, before any work."""
    one_of(SKINS, "skin")("skin", skin)
    if skin == "fetch":
        from cobandit.robot.scene.skin import mesh_folder

        mesh_folder()
    return skin


def scene_description(skin: str = "own") -> dict[str, Any]:
    """Return the static description of the scene; a `Recording` has the positions of the moving bodies in each frame.

    ``skin="fetch"`` draws the robot with the meshes of an installed ``gymnasium-robotics``; ``credit`` then names their
    authors, and must be shown.
    """
    one_of(SKINS, "skin")("skin", skin)
    layout, drawing = Layout(), Drawing()
    draw_kitchen(drawing, layout)
    draw_food(drawing)
    credit = None
    if skin == "own":
        draw_robot(drawing)
    else:
        from cobandit.robot.scene.skin import draw_fetch

        credit = draw_fetch(drawing)
    return {
        "version": VERSION,
        "name": SCENE,
        "skin": skin,
        "fps": FRAMES_PER_SECOND,
        "moving": list(MOVING),
        "bodies": _bodies(layout),
        "geoms": [geom.to_dict() for geom in drawing.geoms],
        "meshes": {name: mesh.to_dict() for name, mesh in drawing.meshes.items()},
        "items": {
            name: {
                "label": LABELS[name],
                "by": "person" if name in PERSON_FILLINGS else "robot",
                "radius": item.radius,
                "thickness": item.thickness,
            }
            for name, item in ITEMS.items()
            if name != "bottom_bun"
        },
        "camera": CAMERA,
        "lights": LIGHTS,
        "background": BACKGROUND,
        "credit": credit,
    }


def _bodies(layout: Layout) -> JsonObject:
    """Return the positions of all bodies before the first frame, including the arm's links."""
    places: dict[str, tuple[float, float, float]] = {"room": (0.0, 0.0, 0.0), "customer": CUSTOMER, "hand": HAND_REST}
    places |= fixed_bodies()
    for name, item in ITEMS.items():
        places[name] = (*layout.place_of(name), layout.base_height + item.thickness / 2)
    table = {name: {"pos": list(place), "quat": list(UPRIGHT)} for name, place in places.items()}
    turn = math.radians(-12)
    table["customer"]["quat"] = [math.cos(turn / 2), 0.0, 0.0, math.sin(turn / 2)]
    return table
