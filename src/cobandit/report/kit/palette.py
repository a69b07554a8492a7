"""Colours and dashes of the curves, on paper and on a page."""

from __future__ import annotations

from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's palette, told apart by every kind of colour vision; its yellow is left out as it fades on paper."""

DARK_COLOURS = ("#5AB0F0", "#FF8B4A", "#2FC79B", "#E8A0C8", "#F2F2F2", "#F2B632", "#A8DDFB", "#9A9A9A")
"""The palette once more, lighter, for a dark page; place by place the same hues."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
"""A second sign beside the colour, for grey prints."""

GREY, FAINT = "#555555", "#DDDDDD"
"""Text that matters less, and lines of a grid."""


def colour_of(number: int) -> str:
    """The colour of a curve, by its place."""
    return COLOURS[number % len(COLOURS)]


def dashes_of(number: int) -> Any:
    """The dashes of a curve, as matplotlib takes them."""
    return DASHES[number % len(DASHES)]


def dash_lengths(number: int) -> list[float]:
    """Lengths of the strokes and gaps of a line that is two points wide."""
    pattern = dashes_of(number)
    return [] if pattern == "-" else [2.0 * float(length) for length in pattern[1]]


def css_colour(number: int) -> str:
    """The colour of a curve as a property of the page's style sheet, which is another one on a dark page."""
    return f"var(--c{number % len(COLOURS)})"


def palette_css() -> str:
    """The colours of the curves as properties of the style sheet."""
    light, dark = (
        " ".join(f"--c{number}: {colour};" for number, colour in enumerate(colours))
        for colours in (COLOURS, DARK_COLOURS)
    )
    return (
        f":root {{ {light} }}\n"
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}'
    )
