"""The sheet that every figure of a study is drawn on: heading, panels, legend; all distances in inches."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from cobandit.report.kit.figure import LETTERS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEAD = 0.5
"""Inches at the top of every figure for its heading; a page has a heading of its own and cuts them off."""

SMALL = LETTERS - 1.0
"""The size of small letters, in points; nothing is smaller."""


class Margins(NamedTuple):
    """Around all panels."""

    left: float
    right: float
    bottom: float
    top: float


def sheet(width: float, height: float, title: str, about: str) -> Figure:
    """Return an empty figure with its heading."""
    lines = (fitting(title, width, LETTERS + 1.5), fitting(about, width, LETTERS - 0.5))
    return new_figure((width, height), *lines, indent=0.12, gid="heading")


def fitting(text: str, width: float, size: float) -> str:
    """Return as much of a text as fits on one line of the figure."""
    most = int((width - 0.2) / (0.0083 * size))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def wrapped(text: str, width: int, most: int = 3) -> str:
    """Return a text on a few lines."""
    return "\n".join(textwrap.wrap(text, width, max_lines=most, placeholder=" …", break_on_hyphens=True)) or text


def panels_in(
    figure: Figure, shape: tuple[int, int], margins: Margins, *, gap: float = 0.0, rise: float = 0.0
) -> list[Any]:
    """Add panels in a grid (down, across), with gaps between them and extra space between their rows."""
    down, across = shape
    width, height = figure.get_size_inches()
    wide = (width - margins.left - margins.right - gap * (across - 1)) / across
    high = (height - margins.top - margins.bottom - rise * (down - 1)) / down
    return [
        figure.add_axes(
            (
                (margins.left + place % across * (wide + gap)) / width,
                (height - margins.top - (place // across + 1) * high - place // across * rise) / height,
                wide / width,
                high / height,
            )
        )
        for place in range(down * across)
    ]


def key_shape(labels: Sequence[str], width: float) -> tuple[int, float]:
    """Return the columns of a legend of these labels that fits, and its height."""
    each = 0.62 + 0.058 * max(len(label) for label in labels)
    columns = max(1, min(len(labels), int((width - 0.1) / each)))
    return columns, 0.07 + 0.165 * math.ceil(len(labels) / columns)


def keys_on_top(figure: Figure, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Draw a legend on the left below the heading."""
    columns, _ = key_shape(labels, figure.get_size_inches()[0])
    figure.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(0.01, 1 - HEAD / figure.get_size_inches()[1]),
        ncols=columns,
        frameon=False,
        fontsize=SMALL,
        borderaxespad=0.0,
        handlelength=2.8,
        columnspacing=1.3,
    )


def bracket(axes: Axes, ends: tuple[float, float], y: float, depth: float, text: str) -> None:
    """Draw a bracket over two positions, with the result of their test."""
    left, right = ends
    axes.plot([left, left, right, right], [y - depth, y, y, y - depth], color="#000000", linewidth=0.8)
    axes.annotate(
        text, ((left + right) / 2, y), xytext=(0, 1.5), textcoords="offset points", ha="center", va="bottom",
        fontsize=LETTERS,
    )  # fmt: skip
