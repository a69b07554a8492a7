"""Regret curves on a terminal, drawn with braille dots: two columns and four rows of dots in each character."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cobandit.cli.output import console, number

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
"""The bit of each dot in a braille character, by column and row."""

BLANK = 0x2800
COLOURS = ("cyan", "red", "green", "magenta", "yellow", "blue", "bright_white")
HEIGHT = 9
"""Lines of a drawing, unless more curves need a line each for their labels."""

LEAST_WIDTH = 60
WIDEST = 60
"""Columns of the terminal below which nothing is drawn, and the most that the curves themselves take."""


class Curve(NamedTuple):
    """One line: its label and its values at the rounds that all lines share."""

    label: str
    values: Sequence[float]


def print_curves(title: str, rounds: Sequence[int], curves: Sequence[Curve]) -> None:
    """Draw curves on the terminal; print nothing to a pipe, a file or a terminal that cannot show them."""
    screen = console()
    if _can_draw(screen) and len(rounds) > 1:
        for line in drawn_lines(title, rounds, curves, screen.width):
            screen.print(line, no_wrap=True, crop=True)
        screen.print()


def _can_draw(screen: Console) -> bool:
    """Return whether this is a terminal that is wide enough and has the characters."""
    if not screen.is_terminal or screen.is_dumb_terminal or screen.width < LEAST_WIDTH:
        return False
    try:
        chr(BLANK).encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def drawn_lines(title: str, rounds: Sequence[int], curves: Sequence[Curve], width: int) -> list[Text]:
    """Return the drawing line by line: axis, curves, and each label in the colour of its curve where it ends."""
    from rich.text import Text

    top = max((max(curve.values) for curve in curves), default=0.0) or 1.0
    height = max(HEIGHT, len(curves))
    heads = [number(top), *[""] * (height - 2), "0"]
    margin = max(map(len, heads))
    label_width = max(len(curve.label) for curve in curves) + 1
    columns = max(10, min(WIDEST, width - margin - label_width - 3))
    cells, owners = _cells(rounds, curves, columns, height, top)
    labels = _label_rows([curve.values[-1] / top for curve in curves], height)
    lines = [Text(f"{' ' * (margin + 2)}{title}")]
    for row in range(height):
        line = Text(f"{heads[row]:>{margin}} ┤")
        for column in range(columns):
            owner = owners[row][column]
            # A space, not the braille blank: some fonts show the latter as empty circles.
            line.append(" ") if owner is None else line.append(chr(BLANK + cells[row][column]), _colour(owner))
        for place, curve in enumerate(curves):
            if labels[place] == row:
                line.append(f" {curve.label}", _colour(place))
        lines.append(line)
    last = f"{rounds[-1]:,}"
    lines.append(Text(f"{' ' * margin} └{'─' * columns}"))
    lines.append(Text(f"{' ' * (margin + 2)}round 1{last:>{columns - 7}}"))
    return lines


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


def _cells(
    rounds: Sequence[int], curves: Sequence[Curve], columns: int, height: int, top: float
) -> tuple[list[list[int]], list[list[int | None]]]:
    """Return the dots of each character, and the last curve that put one there."""
    cells = [[0] * columns for _ in range(height)]
    owners: list[list[int | None]] = [[None] * columns for _ in range(height)]
    across, down = 2 * columns, 4 * height
    for place, curve in enumerate(curves):
        before = None
        for x in range(across):
            value = _value_at(rounds, curve.values, rounds[0] + (rounds[-1] - rounds[0]) * x / (across - 1))
            y = round((down - 1) * (1.0 - min(max(value / top, 0.0), 1.0)))
            start = y if before is None else before
            for dot in range(min(start, y), max(start, y) + 1):  # steep parts stay connected
                cells[dot // 4][x // 2] |= DOTS[x % 2][dot % 4]
                owners[dot // 4][x // 2] = place
            before = y
    return cells, owners


def _value_at(rounds: Sequence[int], values: Sequence[float], t: float) -> float:
    """Return the value of a curve between two checkpoints."""
    from bisect import bisect_left

    right = min(max(bisect_left(rounds, t), 1), len(rounds) - 1)
    left = right - 1
    share = (t - rounds[left]) / (rounds[right] - rounds[left])
    return values[left] + (values[right] - values[left]) * min(max(share, 0.0), 1.0)


def _label_rows(ends: Sequence[float], height: int) -> list[int]:
    """Return the row of each label: where its curve ends, or the nearest row that is free."""
    from cobandit.report.kit.figure import spread_labels

    step = 1.0 / (height - 1)
    return [round((1.0 - place) / step) for place in spread_labels(ends, step)]
