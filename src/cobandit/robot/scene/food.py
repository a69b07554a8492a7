"""What the burger is made of. Every item's origin is the middle of its body, its underside half a thickness below."""

from __future__ import annotations

import math

import numpy as np

from cobandit.robot.layout import ITEMS
from cobandit.robot.scene.shapes import Drawing, lathe, sheet, soft_profile, times, turn

CRUST, CRUMB = "#c9812f", "#f3dcae"
LABELS = {
    "bottom_bun": "bottom bun",
    "patty": "patty",
    "cheese": "cheese",
    "tomato": "tomato",
    "lettuce": "lettuce",
    "top_bun": "top bun",
}


def draw_food(drawing: Drawing) -> None:
    """Draw all six items."""
    _bottom_bun(drawing)
    _patty(drawing)
    _cheese(drawing)
    _tomato(drawing)
    _lettuce(drawing)
    _top_bun(drawing)


def _bottom_bun(drawing: Drawing) -> None:
    item = ITEMS["bottom_bun"]
    half = item.thickness / 2
    outline = [(0.0, -half), (0.036, -half), (0.0425, -0.0075), (0.0455, -0.001), (0.0455, 0.004), (0.044, 0.008)]
    drawing.on("bottom_bun", CRUST, "satin").mesh("bottom bun", lathe([*outline, (0.0, 0.0085)]))
    drawing.on("bottom_bun", CRUMB, "matt").mesh(
        "cut face", lathe(soft_profile(0.0435, 0.0022, 0.0018)), (0, 0, half - 0.0022)
    )


def _patty(drawing: Drawing) -> None:
    item = ITEMS["patty"]
    half = item.thickness / 2
    rough = np.random.default_rng(5).normal(0, 1, 64).tolist()

    def outline(angle: float) -> float:
        waves: float = sum(0.0004 * rough[k] * math.cos((k + 3) * angle + rough[k + 20]) for k in range(9))
        return item.radius + 0.0012 + waves

    def bent(part: float, angle: float) -> float:
        return 0.0

    drawing.on("patty", "#5b3018", "matt").mesh("patty", lathe(soft_profile(item.radius, half, 0.0045)))
    drawing.on("patty", "#4a2512", "matt").mesh("patty rim", sheet(outline, bent, 0.0062, rings=3))
    grill = drawing.on("patty", "#2e170b", "matt")
    for y in (-0.024, -0.008, 0.008, 0.024):
        reach = math.sqrt(0.037**2 - y * y)
        grill.capsule((-reach, y, half - 0.0006), (reach, y, half - 0.0006), 0.0012)


def _cheese(drawing: Drawing) -> None:
    item = ITEMS["cheese"]

    def outline(angle: float) -> float:
        sharp = max(abs(math.cos(angle)), abs(math.sin(angle)))
        return min(item.radius / sharp, 0.0515)

    def bent(part: float, angle: float) -> float:
        beyond = max(0.0, outline(angle) * part - 0.0375)
        return -0.0005 - 26.0 * beyond * beyond

    drawing.on("cheese", "#f7b924", "gloss").mesh("cheese", sheet(outline, bent, 0.0046, around=64, rings=9))


def _tomato(drawing: Drawing) -> None:
    item = ITEMS["tomato"]
    half = item.thickness / 2
    drawing.on("tomato", "#c8261b", "gloss").mesh("tomato", lathe(soft_profile(item.radius + 0.0005, half, 0.003)))
    flesh = drawing.on("tomato", "#e8553f", "gloss")
    seeds = drawing.on("tomato", "#f6c26b", "gloss")
    for z in (half - 0.0003, -half + 0.0003):
        flesh.mesh("flesh", lathe(soft_profile(item.radius - 0.005, 0.0006, 0.0003)), (0, 0, z))
    for step in range(6):
        angle = step * math.pi / 3
        drawing.on("tomato", "#f08a4b", "gloss").ellipsoid(
            (0.0088, 0.0056, 0.0009),
            (0.0185 * math.cos(angle), 0.0185 * math.sin(angle), half + 0.0001),
            turn("z", angle),
        )
        for shift in (-0.22, 0.0, 0.22):
            x, y = 0.0195 * math.cos(angle + shift), 0.0195 * math.sin(angle + shift)
            seeds.ellipsoid((0.0019, 0.0011, 0.0008), (x, y, half + 0.0008), turn("z", angle + shift))


def _lettuce(drawing: Drawing) -> None:
    def outline(angle: float) -> float:
        return 0.0455 + 0.0020 * math.sin(5 * angle) + 0.0012 * math.sin(13 * angle + 1)

    def bent(part: float, angle: float) -> float:
        wave = 0.0048 * part**3 * math.sin(11 * angle) + 0.0022 * part**4 * math.sin(17 * angle + 2)
        return wave - 0.0015 * part**2 + 0.0006

    drawing.on("lettuce", "#6fae2e", "satin").mesh("lettuce", sheet(outline, bent, 0.0018, around=96, rings=7))
    drawing.on("lettuce", "#8cc63f", "satin").mesh("leaf", lathe(soft_profile(0.034, 0.0026, 0.002)), (0, 0, 0.0003))
    veins = drawing.on("lettuce", "#b9df84", "satin")
    for angle in (0.3, 1.5, 2.6, 3.7, 5.1):
        x, y = 0.028 * math.cos(angle), 0.028 * math.sin(angle)
        veins.capsule((0, 0, 0.0029), (x, y, 0.0027), 0.0006)


def _top_bun(drawing: Drawing) -> None:
    item = ITEMS["top_bun"]
    half = item.thickness / 2
    low, height, radius = -0.002, 0.0285, item.radius + 0.0042
    dome = [(radius * math.cos(a), low + height * math.sin(a)) for a in np.linspace(0, math.pi / 2, 10)]
    side = [(0.0, -half), (0.0365, -half), (0.0405, -0.0065), (radius - 0.0006, low - 0.001)]
    drawing.on("top_bun", "#b96f22", "gloss").mesh("top bun", lathe([*side, *dome[:-1], (0.0, low + height)], 48))
    drawing.on("top_bun", CRUMB, "matt").mesh(
        "under side", lathe(soft_profile(0.0375, 0.0014, 0.001)), (0, 0, -half + 0.0012)
    )
    seeds = drawing.on("top_bun", "#fbeec8", "satin")
    for number in range(34):
        # Sunflower spiral: even, and never in rows.
        part = math.sqrt((number + 0.5) / 34) * 0.86
        angle = number * 2.399963 + 0.25 * math.sin(3.0 * number)
        rise = math.acos(min(1.0, part))
        x, y = part * radius * math.cos(angle), part * radius * math.sin(angle)
        z = low + height * math.sin(rise)
        tilt = math.atan2(height * part, radius * math.sin(rise))
        quat = times(times(turn("z", angle), turn("y", tilt)), turn("z", 2.1 * number))
        seeds.ellipsoid((0.0024, 0.0014, 0.0009), (x, y, z), quat)
