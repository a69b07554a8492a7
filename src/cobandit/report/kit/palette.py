"""Colours and dashes of the curves, on paper and on a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9", "#7F7F7F")
"""Okabe and Ito's palette, distinguishable with every kind of colour vision, without its yellow, which is pale on
paper.
"""

DARK_COLOURS = ("#5AB0F0", "#FF8B4A", "#2FC79B", "#E8A0C8", "#F2F2F2", "#F2B632", "#A8DDFB", "#9A9A9A")
"""The palette once more, lighter, for a dark page; place by place the same hues."""

DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1, 1, 1, 1, 1)))
"""Dash patterns in addition to the colours, for grey prints."""

EASY, HARD = "#E3F4E3", "#FBE3E1"
"""Backgrounds of what was easy, and of what was hard."""

GREY, FAINT = "#555555", "#DDDDDD"
"""Text that matters less, and lines of a grid."""


ALGORITHMS = {
    "partner-aware-ucb": 0,
    "naive-ucb": 1,
    "naive-ts": 2,
    "partner-aware-ts": 3,
    "very-naive-ucb": 4,
    "knowledge-gradient": 5,
    "centralised-ucb": 6,
    "optimal": 7,
}
"""The place of an algorithm in the palette: the same in every figure, on every page and on the monitor."""


def algorithm_numbers(algorithms: Sequence[str]) -> list[int]:
    """Return the places of some curves, in which each algorithm has its own.

    A second curve of one algorithm, and an algorithm without a place of its own, takes the first that is free.
    """
    homes = [ALGORITHMS.get(name) for name in algorithms]
    numbers = [home if home not in homes[:place] else None for place, home in enumerate(homes)]
    free = (number for number in range(len(ALGORITHMS) + len(numbers)) if number not in homes)
    return [next(free) if number is None else number for number in numbers]


def colour_of(number: int) -> str:
    """Return the colour of a curve, by its place."""
    return COLOURS[number % len(COLOURS)]


def dashes_of(number: int) -> Any:
    """Return the dashes of a curve, as matplotlib takes them."""
    return DASHES[number % len(DASHES)]


def dash_lengths(number: int) -> list[float]:
    """Return the lengths of the strokes and gaps of a line that is two points wide."""
    pattern = dashes_of(number)
    return [] if pattern == "-" else [2.0 * float(length) for length in pattern[1]]


def css_colour(number: int) -> str:
    """Return the colour of a curve as a property of the page's style sheet, which is another one on a dark page."""
    return f"var(--c{number % len(COLOURS)})"


def palette_css() -> str:
    """Return the colours of the curves as properties of the style sheet."""
    light, dark = (
        " ".join(f"--c{number}: {colour};" for number, colour in enumerate(colours))
        for colours in (COLOURS, DARK_COLOURS)
    )
    return (
        f":root {{ {light} }}\n"
        f'@media screen and (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f'@media screen {{ :root[data-theme="dark"] {{ {dark} }} }}'
    )
