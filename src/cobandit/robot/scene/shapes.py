"""What a scene is drawn with: simple shapes, and closed meshes made from a few numbers. Metres, z up."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobandit.robot.layout import Array

Finish = Literal["matt", "satin", "gloss"]
Point = tuple[float, float, float]
UPRIGHT = (1.0, 0.0, 0.0, 0.0)
AROUND = 32
"""Segments of a mesh of revolution."""


@dataclass(frozen=True, eq=False)
class Mesh:
    """Corners (n, 3) and triangles (m, 3), counter-clockwise seen from outside."""

    vertices: Array
    faces: NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """Flat lists for JSON; a tenth of a millimetre is enough to look at."""
        return {
            "vertices": [round(float(number), 4) for number in self.vertices.ravel()],
            "faces": [int(number) for number in self.faces.ravel()],
        }


@dataclass(frozen=True)
class Geom:
    """One shape on a body; ``mesh`` names its mesh where the type is "mesh"."""

    body: str
    type: Literal["box", "sphere", "capsule", "cylinder", "ellipsoid", "plane", "mesh"]
    size: tuple[float, ...]
    pos: Point
    quat: tuple[float, float, float, float]
    colour: str
    finish: Finish
    mesh: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the drawing as data for JSON."""
        table: dict[str, Any] = {
            "body": self.body,
            "type": self.type,
            "size": _rounded(self.size),
            "pos": _rounded(self.pos),
            "quat": _rounded(self.quat),
            "colour": self.colour,
            "finish": self.finish,
        }
        return table | ({"mesh": self.mesh} if self.mesh else {})


class Drawing:
    """Collects the shapes and meshes of a scene."""

    def __init__(self) -> None:
        self.geoms: list[Geom] = []
        self.meshes: dict[str, Mesh] = {}

    def on(self, body: str, colour: str, finish: Finish = "satin") -> Brush:
        """Draw on one body with one colour."""
        return Brush(self, body, colour, finish)


@dataclass(frozen=True)
class Brush:
    """Adds shapes of one colour to one body."""

    drawing: Drawing
    body: str
    colour: str
    finish: Finish

    def box(self, half: Point, pos: Point, quat: Sequence[float] = UPRIGHT) -> None:
        """Sharp edges, by its half sides."""
        self._add("box", half, pos, quat)

    def sphere(self, radius: float, pos: Point) -> None:
        """Add a sphere."""
        self._add("sphere", (radius,), pos, UPRIGHT)

    def ellipsoid(self, half: Point, pos: Point, quat: Sequence[float] = UPRIGHT) -> None:
        """Add an ellipsoid by its half axes."""
        self._add("ellipsoid", half, pos, quat)

    def plane(self, half: tuple[float, float], pos: Point) -> None:
        """Add a floor."""
        self._add("plane", half, pos, UPRIGHT)

    def capsule(self, begin: Point, end: Point, radius: float) -> None:
        """Add a capsule from point to point."""
        self._between("capsule", begin, end, radius)

    def cylinder(self, begin: Point, end: Point, radius: float) -> None:
        """Add a capsule from point to point."""
        self._between("cylinder", begin, end, radius)

    def mesh(self, name: str, mesh: Mesh, pos: Point = (0, 0, 0), quat: Sequence[float] = UPRIGHT) -> None:
        """Add a mesh; the same name can be used several times."""
        self.drawing.meshes.setdefault(name, mesh)
        self._add("mesh", (), pos, quat, name)

    def drum(self, begin: Point, end: Point, radius: float, bevel: float = 0.006) -> None:
        """Add a cylinder with soft edges, from point to point."""
        middle, quat, half = _axis(begin, end)
        name = f"drum {radius:g} {half:.4g} {bevel:g}"
        self.mesh(name, lathe(soft_profile(radius, half, bevel)), middle, quat)

    def cushion(self, half: Point, pos: Point, radius: float, quat: Sequence[float] = UPRIGHT) -> None:
        """Add a box with round edges."""
        name = "cushion " + " ".join(f"{number:g}" for number in (*half, radius))
        self.mesh(name, rounded_box(half, radius), pos, quat)

    def _between(self, kind: Literal["capsule", "cylinder"], begin: Point, end: Point, radius: float) -> None:
        middle, quat, half = _axis(begin, end)
        self._add(kind, (radius, half), middle, quat)

    def _add(
        self, kind: Any, size: tuple[float, ...], pos: Point, quat: Sequence[float], mesh: str | None = None
    ) -> None:
        w, x, y, z = quat
        geom = Geom(self.body, kind, tuple(size), pos, (w, x, y, z), self.colour, self.finish, mesh)
        self.drawing.geoms.append(geom)


def turn(axis: Literal["x", "y", "z"], angle: float) -> tuple[float, float, float, float]:
    """Return the quaternion of a turn about an axis."""
    cosine, sine = math.cos(angle / 2), math.sin(angle / 2)
    return (cosine, *(sine if name == axis else 0.0 for name in "xyz"))  # type: ignore[return-value]


def times(left: Sequence[float], right: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the product of two quaternions: first the right turn, then the left."""
    a, b, c, d = left
    e, f, g, h = right
    return (
        a * e - b * f - c * g - d * h,
        a * f + b * e + c * h - d * g,
        a * g - b * h + c * e + d * f,
        a * h + b * g - c * f + d * e,
    )


def soft_profile(radius: float, half: float, bevel: float, steps: int = 2) -> list[tuple[float, float]]:
    """Return the outline of a disc with round edges, from the middle of its underside to the middle of its top."""
    bevel = min(bevel, radius, half)
    corner = [math.pi / 2 * step / steps for step in range(steps + 1)]
    lower = [(radius - bevel + bevel * math.sin(a), -half + bevel - bevel * math.cos(a)) for a in corner]
    upper = [(radius - bevel + bevel * math.cos(a), half - bevel + bevel * math.sin(a)) for a in corner]
    return [(0.0, -half), *lower, *upper, (0.0, half)]


def lathe(profile: Sequence[tuple[float, float]], around: int = AROUND) -> Mesh:
    """Return a solid of revolution about z; the profile (radius, z) goes from its lowest to its highest point on the
    axis.
    """
    angles = np.arange(around) * 2 * math.pi / around
    rings = [
        np.stack([radius * np.cos(angles), radius * np.sin(angles), np.full(around, z)], axis=1)
        for radius, z in profile[1:-1]
    ]
    bottom, top = (0.0, 0.0, profile[0][1]), (0.0, 0.0, profile[-1][1])
    vertices = np.concatenate([[bottom], *rings, [top]])
    last = len(vertices) - 1
    step, following = np.arange(around), (np.arange(around) + 1) % around
    faces = [np.stack([np.zeros(around, int), 1 + following, 1 + step], axis=1)]
    for ring in range(len(rings) - 1):
        low, high = 1 + ring * around, 1 + (ring + 1) * around
        faces.append(np.stack([low + step, low + following, high + following], axis=1))
        faces.append(np.stack([low + step, high + following, high + step], axis=1))
    edge = 1 + (len(rings) - 1) * around
    faces.append(np.stack([edge + step, edge + following, np.full(around, last)], axis=1))
    return Mesh(vertices, np.concatenate(faces))


def rounded_box(half: Point, radius: float, steps: int = 3) -> Mesh:
    """Return a box whose edges and corners are parts of a sphere."""
    radius = min(radius, *half)
    quarter = [math.pi / 2 * step / steps for step in range(steps + 1)]
    across = [(math.pi / 2 * side + a, side) for side in range(4) for a in quarter]
    up = [(-math.pi / 2 + a, -1) for a in quarter] + [(a, 1) for a in quarter]
    inner = np.array(half) - radius
    vertices = []
    for latitude, above in up:
        for longitude, side in across:
            normal = np.array(
                [
                    math.cos(latitude) * math.cos(longitude),
                    math.cos(latitude) * math.sin(longitude),
                    math.sin(latitude),
                ]
            )
            signs = np.array([1 if side in (0, 3) else -1, 1 if side in (0, 1) else -1, above])
            vertices.append(signs * inner + radius * normal)
    return Mesh(np.array(vertices), _grid_faces(len(up), len(across), capped=True))


def sheet(
    outline: Callable[[float], float],
    height: Callable[[float, float], float],
    thickness: float,
    around: int = 56,
    rings: int = 7,
) -> Mesh:
    """Return a thin bent disc: ``outline`` is its radius at an angle, ``height`` its bend at (fraction of radius,
    angle).
    """
    parts = []
    for side in (-1, 1):
        middle = [(0.0, 0.0, height(0.0, 0.0) + side * thickness / 2)]
        for ring in range(1, rings + 1):
            part = (ring / rings) ** 0.8
            for number in range(around):
                angle = 2 * math.pi * number / around
                radius = outline(angle) * part
                z = height(part, angle) + side * thickness / 2
                middle.append((radius * math.cos(angle), radius * math.sin(angle), z))
        parts.append(np.array(middle))
    count = len(parts[0])
    step, following = np.arange(around), (np.arange(around) + 1) % around
    top = [np.stack([np.zeros(around, int), 1 + step, 1 + following], axis=1)]
    for ring in range(rings - 1):
        inner, outer = 1 + ring * around, 1 + (ring + 1) * around
        top.append(np.stack([inner + step, outer + step, outer + following], axis=1))
        top.append(np.stack([inner + step, outer + following, inner + following], axis=1))
    upper = np.concatenate(top)
    edge = 1 + (rings - 1) * around
    rim = np.concatenate(
        [
            np.stack([edge + step, edge + following, count + edge + following], axis=1),
            np.stack([edge + step, count + edge + following, count + edge + step], axis=1),
        ]
    )
    return Mesh(np.concatenate(parts), np.concatenate([upper[:, ::-1], upper + count, rim]))


def _grid_faces(rows: int, columns: int, capped: bool) -> NDArray[np.int64]:
    """Return the triangles of a grid that closes around, with its first and last row filled."""
    faces = []
    for row in range(rows - 1):
        for column in range(columns):
            a, b = row * columns + column, row * columns + (column + 1) % columns
            c, d = b + columns, a + columns
            faces += [(a, b, c), (a, c, d)]
    if capped:
        last = (rows - 1) * columns
        faces += [(0, column + 1, column) for column in range(1, columns - 1)]
        faces += [(last, last + column, last + column + 1) for column in range(1, columns - 1)]
    return np.array(faces)


def _axis(begin: Point, end: Point) -> tuple[Point, tuple[float, float, float, float], float]:
    """Middle, turn and half length of what goes from point to point along its own z."""
    way = np.subtract(end, begin)
    length = float(np.linalg.norm(way))
    x, y, z = way / length
    middle = tuple(float(number) for number in np.add(begin, end) / 2)
    if z < -0.999999:
        return middle, (0.0, 1.0, 0.0, 0.0), length / 2  # type: ignore[return-value]
    raw = np.array([1 + z, -y, x, 0.0])
    w, i, j, k = (raw / np.linalg.norm(raw)).tolist()
    return middle, (w, i, j, k), length / 2  # type: ignore[return-value]


def _rounded(numbers: Sequence[float]) -> list[float]:
    return [round(float(number), 5) + 0.0 for number in numbers]
