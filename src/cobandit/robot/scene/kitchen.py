"""The kitchen around the robot: table, plate and trays, the person's hand, and a customer at the counter."""

from __future__ import annotations

import itertools
import math

from cobandit.robot.layout import Layout
from cobandit.robot.scene.shapes import Drawing, lathe, soft_profile, turn

WOOD, WOOD_EDGE, STEEL, BOARD = "#d9b98c", "#c49a68", "#c9ced3", "#a9713f"
GLOVE, CUFF, SLEEVE = "#9cc4e4", "#f4f1ea", "#e07a5f"
CUSTOMER = (0.42, 1.30, 0.0)
COUNTER = (0.55, 0.92)


def draw_kitchen(drawing: Drawing, layout: Layout) -> None:
    """Draw everything except the robot and the food."""
    drawing.on("room", "#e9e4db", "matt").plane((6, 6), (0, 0, 0))
    _table(drawing, layout)
    _counter(drawing)
    _customer(drawing)
    _hand(drawing)


def _table(drawing: Drawing, layout: Layout) -> None:
    top = layout.table_height
    drawing.on("room", WOOD, "satin").cushion((0.37, 0.56, 0.018), (0.75, 0, top - 0.018), 0.008)
    drawing.on("room", WOOD_EDGE, "matt").cushion((0.355, 0.545, 0.02), (0.75, 0, top - 0.05), 0.006)
    legs = drawing.on("room", "#5b6068", "satin")
    for x in (0.43, 1.07):
        for y in (-0.50, 0.50):
            legs.cylinder((x, y, 0.0), (x, y, top - 0.06), 0.022)
    drawing.on("room", "#2f8f83", "matt").mesh(
        "mat", lathe(soft_profile(0.150, 0.0012, 0.001), 56), (*layout.plate, top + 0.0006)
    )
    base = layout.tray_thickness
    dish = [
        (0.0, 0.0005),
        (0.060, 0.0005),
        (0.064, 0.003),
        (0.104, 0.0135),
        (0.1065, 0.0150),
        (0.104, 0.0158),
        (0.078, base + 0.001),
        (0.066, base),
    ]
    drawing.on("room", "#fbfaf7", "gloss").mesh("plate", lathe([*dish, (0.0, base)], 64), (*layout.plate, top))
    for name, (x, y) in layout.trays.items():
        middle = (x, y, top + base / 2)
        if name in ("patty", "cheese"):
            # The cheese bends over the rim of what it lies on, as it will over the patty.
            radius = 0.037 if name == "cheese" else 0.058
            drawing.on("room", STEEL, "gloss").mesh(
                f"tray {radius}", lathe(soft_profile(radius, base / 2, 0.002)), middle
            )
            drawing.on("room", "#b4bac1", "gloss").mesh(
                "tray foot", lathe(soft_profile(0.068, 0.0008, 0.0006)), (x, y, top + 0.0008)
            )
        else:
            drawing.on("room", BOARD, "satin").cushion((0.062, 0.062, base / 2), middle, 0.0028)


def _counter(drawing: Drawing) -> None:
    x, y = COUNTER
    drawing.on("room", "#f2efe8", "satin").cushion((0.62, 0.13, 0.44), (x, y + 0.01, 0.44), 0.015)
    drawing.on("room", WOOD, "satin").cushion((0.66, 0.17, 0.018), (x, y, 0.90), 0.008)
    slats = drawing.on("room", "#dfe9e6", "satin")
    for step in range(11):
        slats.cushion((0.045, 0.006, 0.36), (x - 0.55 + 0.11 * step, y - 0.122, 0.44), 0.005)
    bell = [(0.0, 0.0), (0.034, 0.0), (0.036, 0.004), (0.030, 0.009), (0.028, 0.018), (0.018, 0.029), (0.0, 0.033)]
    drawing.on("room", "#d9a441", "gloss").mesh("bell", lathe(bell), (x + 0.22, y - 0.02, 0.918))
    drawing.on("room", "#d9a441", "gloss").sphere(0.006, (x + 0.22, y - 0.02, 0.955))
    cup = [(0.0, 0.0), (0.026, 0.0), (0.036, 0.095), (0.038, 0.1), (0.0, 0.1)]
    drawing.on("room", "#e07a5f", "satin").mesh("cup", lathe(cup), (x + 0.40, y + 0.02, 0.918))
    drawing.on("room", "#fbfaf7", "satin").mesh(
        "lid", lathe(soft_profile(0.039, 0.005, 0.003)), (x + 0.40, y + 0.02, 1.02)
    )
    drawing.on("room", "#fbfaf7", "satin").cylinder((x + 0.40, y + 0.02, 1.02), (x + 0.415, y + 0.015, 1.085), 0.004)


def _customer(drawing: Drawing) -> None:
    """Draw a neutral customer: a round figure in one colour, with a face."""
    skin = drawing.on("customer", "#b8a6d9", "satin")
    body = [
        (0.0, 0.55),
        (0.15, 0.56),
        (0.175, 0.65),
        (0.18, 0.85),
        (0.165, 1.00),
        (0.125, 1.11),
        (0.07, 1.16),
        (0.0, 1.18),
    ]
    drawing.on("customer", "#7d6bb3", "satin").mesh("customer's body", lathe(body, 48))
    skin.drum((0, 0, 1.13), (0, 0, 1.22), 0.05, 0.01)
    skin.ellipsoid((0.118, 0.112, 0.132), (0, 0, 1.31))
    for side in (-1, 1):
        sleeve = drawing.on("customer", "#7d6bb3", "satin")
        sleeve.capsule((side * 0.155, 0, 1.06), (side * 0.215, -0.09, 0.955), 0.045)
        sleeve.capsule((side * 0.215, -0.09, 0.955), (side * 0.115, -0.265, 0.955), 0.040)
        skin.ellipsoid((0.040, 0.048, 0.028), (side * 0.095, -0.300, 0.950))
        drawing.on("customer", "#2b2536", "gloss").ellipsoid((0.0125, 0.008, 0.0165), (side * 0.040, -0.1035, 1.335))
        drawing.on("customer", "#ffffff", "gloss").sphere(0.0040, (side * 0.040 + 0.004, -0.1105, 1.342))
        drawing.on("customer", "#e7a3b4", "matt").ellipsoid((0.017, 0.006, 0.011), (side * 0.066, -0.0905, 1.297))
    smile = drawing.on("customer", "#2b2536", "satin")
    angles = [math.radians(degrees) for degrees in range(215, 326, 22)]
    points = [(0.036 * math.cos(a), 1.307 + 0.032 * math.sin(a)) for a in angles]
    for (x0, z0), (x1, z1) in itertools.pairwise(points):
        smile.capsule((x0, _face(x0, z0), z0), (x1, _face(x1, z1), z1), 0.0042)


def _face(x: float, z: float) -> float:
    """Return the front of the head at a place on it."""
    return -0.112 * math.sqrt(max(0.0, 1 - (x / 0.118) ** 2 - ((z - 1.31) / 0.132) ** 2)) - 0.0005


def _hand(drawing: Drawing) -> None:
    """Draw a gloved hand from above, its forearm along x; the origin is the centre of the held item, at its top."""
    glove = drawing.on("hand", GLOVE, "satin")
    glove.ellipsoid((0.050, 0.043, 0.018), (0.045, 0, 0.046), turn("y", -0.12))
    for y, reach in ((-0.031, -0.026), (-0.0105, -0.040), (0.0105, -0.040), (0.031, -0.028)):
        glove.capsule((0.015, y, 0.048), (reach * 0.45, y * 1.08, 0.044), 0.0098)
        glove.capsule((reach * 0.45, y * 1.08, 0.044), (reach, y * 1.1, 0.012), 0.0090)
    glove.capsule((0.062, 0.034, 0.042), (0.036, 0.054, 0.030), 0.0120)
    glove.capsule((0.036, 0.054, 0.030), (0.014, 0.050, 0.010), 0.0100)
    glove.capsule((0.075, 0, 0.050), (0.125, 0, 0.062), 0.030)
    drawing.on("hand", "#86b3d6", "satin").drum((0.118, 0, 0.0605), (0.130, 0, 0.0635), 0.035, 0.004)
    drawing.on("hand", CUFF, "matt").drum((0.150, 0, 0.068), (0.178, 0, 0.0745), 0.045, 0.008)
    sleeve = drawing.on("hand", SLEEVE, "matt")
    drawing.on("hand", GLOVE, "satin").capsule((0.11, 0, 0.058), (0.17, 0, 0.073), 0.028)
    sleeve.capsule((0.205, 0, 0.081), (0.46, 0, 0.14), 0.043)
    sleeve.capsule((0.46, 0, 0.14), (1.15, 0, 0.27), 0.052)
