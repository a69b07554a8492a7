"""Static SVG inside a page: drawings that need no script, for print and for readers who run none.

They take their colours from the page's style sheet (``--c0``, ``--c1``, ...), so that one drawing serves light and
dark; a figure of matplotlib is brought into the same form.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobandit.report.kit.drawing import Array, Band, Drawing, Level, Line
from cobandit.report.kit.palette import COLOURS, EASY, FAINT, GREY, HARD, css_colour, dash_lengths

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH, HEIGHT = 440.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 54.0, 16.0, 24.0, 34.0
WITHIN = 0.15
"""How far a simplified line may miss a point, in points."""

Point = tuple[float, float]


# Elements


def element(tag: str, attributes: Mapping[str, object], *children: str) -> Markup:
    """One element; attributes and texts are escaped, markup among the children is not."""
    from markupsafe import Markup, escape

    written = Markup("").join(Markup(' {}="{}"').format(name, value) for name, value in attributes.items())
    if not children:
        return Markup("<{}{}/>").format(tag, written)
    return Markup("<{0}{1}>{2}</{0}>").format(tag, written, Markup("").join(map(escape, children)))


def coordinate(value: float) -> str:
    """A place in points, to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def text_at(x: float, y: float, text: str, anchor: str = "") -> Markup:
    """Words at a place; ``anchor`` is ``middle`` or ``end`` where they do not start there."""
    place = {"x": coordinate(x), "y": coordinate(y)} | ({"text-anchor": anchor} if anchor else {})
    return element("text", place, text)


def stroke(number: int, path: str) -> Markup:
    """A line in the colour and the dashes of a curve."""
    dashes = " ".join(f"{length:g}" for length in dash_lengths(number))
    style = f"stroke:{css_colour(number)}"
    return element("path", {"class": "line", "style": style, "stroke-dasharray": dashes, "d": path})


def band(number: int, upper: Sequence[Point], lower: Sequence[Point]) -> Markup:
    """The area between two lines."""
    edges = path_of([*upper, *reversed(lower)])
    return element("path", {"class": "band", "style": f"fill:{css_colour(number)}", "d": f"{edges}z"})


def path_of(points: Sequence[Point]) -> str:
    """Points as the path through them."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def swatch(number: int) -> Markup:
    """A sample of a line."""
    return element("svg", {"class": "swatch", "viewBox": "0 0 34 10", "aria-hidden": "true"}, stroke(number, "M1 5H33"))


def picture(label: str, parts: Sequence[Markup], size: tuple[float, float] = (WIDTH, HEIGHT)) -> Markup:
    """A drawing of these parts, with a label for those who do not see it."""
    view = f"0 0 {size[0]:g} {size[1]:g}"
    return element("svg", {"class": "static-chart", "viewBox": view, "role": "img", "aria-label": label}, *parts)


def axes(heights: Sequence[float]) -> list[Markup]:
    """The two axes of a picture of the usual size, and grid lines at these heights."""
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    grid = "".join(f"M{LEFT:g} {height:.1f}H{right:g}" for height in heights)
    return [
        element("path", {"class": "gridline", "d": grid}),
        element("path", {"class": "axis", "d": f"M{LEFT:g} {TOP:g}V{bottom:g}H{right:g}"}),
    ]


# Regret over the rounds


class Key(NamedTuple):
    """An entry of a legend."""

    swatch: Markup
    label: str


class Pictures(NamedTuple):
    """Drawings that stand side by side, and the legend under them."""

    pictures: list[Markup]
    keys: list[Key]


def regret_pictures(drawing: Drawing, regret: str = "team", sample: str = "runs") -> Pictures:
    """The regret twice, the mean with its standard error and the median with the middle 80 %, and a legend.

    ``regret`` says what the lines are, with their factors, and ``sample`` what they were summarised over.
    """
    levels = drawing.finite_levels
    means = [_from_zero(line, line.mean_band) for line in drawing.lines]
    medians = [_from_zero(line, line.median_band) for line in drawing.lines]
    entries: list[Line | Level] = [*drawing.lines, *levels]
    return Pictures(
        [
            _regret_picture("Mean ± standard error", regret, drawing, means, levels),
            _regret_picture(f"Median, with the middle 80 % of the {sample}", regret, drawing, medians, []),
        ],
        [Key(swatch(entry.number), entry.label) for entry in entries],
    )


def _from_zero(line: Line, stats: Band) -> Band:
    """Centre, low and high of the regret, from the round before the first on."""
    centre, low, high = (line.factor * np.concatenate([[0.0], values]) for values in stats)
    return centre, low, high


def _regret_picture(
    title: str, regret: str, drawing: Drawing, bands: Sequence[Band], levels: Sequence[Level]
) -> Markup:
    heights = [float(np.nanmax(part)) for centre, _, high in bands for part in (centre, np.maximum(centre, high))]
    first = min(float(centre[1]) for centre, _, _ in bands)
    if levels:
        floor = 10.0 ** math.floor(math.log10(max(first, 1e-3)))
        scale = _Scale(drawing.horizon, floor, 2.0 * max(*heights, *(level.value for level in levels)))
    else:
        scale = _Scale(drawing.horizon, 0.0, 1.05 * max(heights) or 1.0)
    parts = [text_at(LEFT, 13, title), *_regret_axes(scale)]
    for line, (centre, low, high) in zip(drawing.lines, bands, strict=True):
        rounds = np.concatenate([[0], line.rounds])
        if np.isfinite(low).all():  # a single run has no standard error
            parts.append(band(line.number, scale.path(rounds, high), scale.path(rounds, low)))
        parts.append(stroke(line.number, path_of(scale.path(rounds, centre))))
    for level in levels:
        rounds = np.linspace(0, drawing.horizon, 101)
        regrets = level.value * rounds / drawing.horizon if level.sloping else np.full(101, level.value)
        parts.append(stroke(level.number, path_of(scale.path(rounds, regrets))))
    return picture(f"{title} of the {regret} regret", parts)


class _Scale:
    """From rounds and regret to points; logarithmic in the regret, from ``floor`` on, if that is above 0."""

    def __init__(self, horizon: int, floor: float, top: float) -> None:
        self.horizon, self.floor, self.top = horizon, floor, top

    def x(self, rounds: float) -> float:
        """Where a round lies."""
        return LEFT + rounds / self.horizon * (WIDTH - LEFT - RIGHT)

    def y(self, regret: float) -> float:
        """Where a regret lies."""
        share = max(regret, 0.0) / self.top
        if self.floor:
            share = math.log(max(regret, self.floor) / self.floor) / math.log(self.top / self.floor)
        return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)

    def path(self, rounds: NDArray[Any], regrets: Array) -> list[Point]:
        """A line's points, as few as give the same picture. Round 0 has no place where the regret is logarithmic."""
        start = 1 if self.floor else 0
        points = zip(rounds[start:].tolist(), regrets[start:].tolist(), strict=True)
        return simplified([(self.x(t), self.y(regret)) for t, regret in points], WITHIN)

    def ticks(self) -> list[float]:
        """Round numbers along the regret."""
        if self.floor:
            return [10.0**power for power in range(round(math.log10(self.floor)), math.floor(math.log10(self.top)) + 1)]
        return steps(self.top)


def _regret_axes(scale: _Scale) -> list[Markup]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    ticks = scale.ticks()
    return [
        *axes([scale.y(tick) for tick in ticks]),
        *(text_at(LEFT - 6, scale.y(tick) + 4, f"{tick:,.6g}", "end") for tick in ticks),
        *(
            text_at(scale.x(tick), bottom + 16, f"{tick:,.0f}", "middle")
            for tick in steps(scale.horizon)
            if tick == round(tick)
        ),
        text_at((LEFT + right) / 2, HEIGHT - 4, "round", "middle"),
    ]


def steps(top: float) -> list[float]:
    """From 0 to the top in steps of 1, 2 or 5 times a power of ten, five or so of them."""
    unit = 10.0 ** math.floor(math.log10(top))
    step = next(step for step in (unit / 5, unit / 2, unit, 2 * unit) if top / step <= 7)
    return [k * step for k in range(math.floor(top / step + 1e-9) + 1)]


def simplified(points: Sequence[Point], within: float) -> list[Point]:
    """Points of a line, left to right, without those that lie on it anyway; none is missed by more than ``within``."""
    corners = list(points[:1])
    low, high = -math.inf, math.inf  # slopes from the last corner that miss no point since
    for before, (x, y) in pairwise(points):
        along, up = x - corners[-1][0], y - corners[-1][1]
        if not low <= up / along <= high:
            corners.append(before)
            low, high = -math.inf, math.inf
            along, up = x - before[0], y - before[1]
        low, high = max(low, (up - within) / along), min(high, (up + within) / along)
    return corners + list(points[1:][-1:])


# A figure of matplotlib on a page

_THEMED = {colour.lower(): css_colour(place) for place, colour in enumerate(COLOURS)} | {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    GREY.lower(): "var(--soft)",
    "#888888": "var(--soft)",
    FAINT.lower(): "var(--grid)",
    EASY.lower(): "var(--good-back)",
    HARD.lower(): "var(--bad-back)",
}
"""Colours of the figures as properties of the page's style sheet."""


def inline_figure(svg: str, name: str, label: str, kind: str, head: float) -> Markup:
    """A figure as part of a page: the page's colours and letters, ids of its own, no style and no heading.

    ``kind`` is ``wide`` or ``narrow``, the screen that it is for; ``head`` is how many inches at the top are cut off.
    """
    from markupsafe import Markup

    match = re.search(r'<svg[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>(.*)</svg>', svg, re.DOTALL)
    assert match is not None
    width, height, inner = float(match[1]), float(match[2]), match[3]
    inner = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", inner, flags=re.DOTALL)
    inner = re.sub(r'<g id="heading">.*?</g>', "", inner, flags=re.DOTALL)
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', inner))
    inner = re.sub(r' id="([^"]+)"', lambda id: id[0] if id[1] in wanted else "", inner)
    inner = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-{kind}-", inner)
    inner = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', inner)  # an attribute takes no property
    inner = re.sub(r"#[0-9a-f]{6}\b", lambda colour: _THEMED.get(colour[0], colour[0]), inner)
    inner = re.sub(r"font-family: 'DejaVu Sans'", "font-family: system-ui, sans-serif", inner)
    inner = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", inner)
    inner = re.sub(r"(\d\.\d\d)\d+", r"\1", inner)
    inner = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d)\d+", r"\1", path[0]), inner)
    inner = re.sub(r"\s*\n\s*", " ", inner)
    inner = re.sub(r"> +<", "><", inner.strip())
    top = 72 * head
    view = f"0 {top:g} {width:g} {height - top:g}"
    attributes = {"class": f"drawn {kind}", "viewBox": view, "role": "img", "aria-label": label}
    return element("svg", attributes, Markup(inner))
