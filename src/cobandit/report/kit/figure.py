"""Figures for print: one way to make them, letter them and save them, on no screen and in no global state."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobandit.base.extras import require_extras
from cobandit.base.files import make_folder, whole_file
from cobandit.report.kit.palette import FAINT, GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

FORMATS = ("pdf", "svg", "png")
SIZE = (7.2, 3.4)
"""Inches: the text width of a two-column page."""

WIDE, NARROW = SIZE[0], 3.5
"""Inches: the text width of a two-column page, and one column of it, which is also what a telephone shows well."""

PICTURE = (4.3, 2.5)
"""Inches: a picture on a page, two of which stand side by side."""

LETTERS = 8.5
"""The size of letters, in points."""

LONGEST_LABEL = 80
"""Characters of a curve's label that fit under the figure."""

ROW = 0.18
"""Inches of one line of the legend."""

PNG_DPI = 160
METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""Equal numbers give equal files: no dates."""

TEXT_STAYS_TEXT: dict[str, Any] = {"svg.fonttype": "none", "svg.hashsalt": "cobandit"}
"""In SVG text stays text, and equal numbers give equal ids."""

PRINT_STYLE = TEXT_STAYS_TEXT | {
    "text.parse_math": False,  # a dollar sign in a label is a dollar sign
    "font.size": LETTERS,
    "font.family": ["DejaVu Sans"],
    "pdf.fonttype": 42,  # publishers refuse the other kind
}
_DRAWING = threading.Lock()
"""Matplotlib's settings and font caches belong to the whole process: one figure at a time."""

Make = Callable[[], "Figure"]
"""Draws a figure and gives it back."""


# Saving


@contextmanager
def drawing_style(style: Mapping[str, object] = PRINT_STYLE) -> Iterator[None]:
    """Draw with these settings of matplotlib, and leave it as it was."""
    import matplotlib

    settings: Any = dict(style)
    with _DRAWING, matplotlib.rc_context(settings):
        yield


def figure_folder(folder: Path) -> None:
    """Make the folder of some figures; refused, before any work, where nothing can be drawn or written."""
    require_extras("Drawing a figure", plot=True)
    make_folder(folder)


def save_figure(make: Make, folder: Path, name: str) -> dict[str, Path]:
    """Save the drawing of ``make`` as ``folder/NAME.pdf``, ``.svg`` and ``.png``; equal numbers give equal files."""
    figure_folder(folder)
    paths = {kind: folder / f"{name}.{kind}" for kind in FORMATS}
    with drawing_style():
        figure = make()
        for path in paths.values():
            write_figure(figure, path)
    return paths


def write_figure(figure: Figure, path: Path, dpi: float = PNG_DPI) -> None:
    """Write one file of a figure, in the format that its name says; it appears whole or not at all."""
    kind = path.suffix.lower().removeprefix(".")
    # Drawn in memory first: on a full disk Matplotlib's PDF writer fails with an error of its compression instead.
    drawn = BytesIO()
    with _small_fonts() if kind == "pdf" else nullcontext():
        figure.savefig(drawn, format=kind, dpi=dpi, metadata=METADATA[kind])
    with whole_file(path) as file:
        file.write(drawn.getbuffer())


@contextmanager
def _small_fonts() -> Iterator[None]:
    """Embed fonts without their layout tables inside of the with block; PDF files do not use these tables.

    Subsetting the tables would take half of the time of a figure.
    """
    from fontTools.subset import Options  # matplotlib needs it

    before = getattr(Options, "_drop_tables_default", None)
    if before is None:  # another fontTools than those known: larger and slower, and otherwise the same
        yield
        return
    Options._drop_tables_default = [*before, "GDEF", "GPOS", "GSUB", "MATH"]
    try:
        yield
    finally:
        Options._drop_tables_default = before


def figure_svg(make: Make) -> str:
    """Return the drawing of ``make`` as SVG text; equal numbers give equal text."""
    with drawing_style():
        buffer = BytesIO()
        make().savefig(buffer, format="svg", metadata=METADATA["svg"])
    return buffer.getvalue().decode()


# The sheet


def new_figure(size: tuple[float, float], title: str, about: str, *, indent: float = 0.15, gid: str = "") -> Figure:
    """Return an empty figure (inches) with a heading of two lines, which ``gid`` marks in an SVG file."""
    width, height = size
    figure = _empty_figure(size)
    heading: dict[str, Any] = {"x": indent / width, "ha": "left", "va": "top"} | ({"gid": gid} if gid else {})
    figure.text(y=1 - 0.07 / height, s=title, fontsize=LETTERS + 1.5, **heading)
    figure.text(y=1 - 0.27 / height, s=about, fontsize=LETTERS - 0.5, color=GREY, **heading)
    return figure


def _empty_figure(size: tuple[float, float]) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size)
    FigureCanvasAgg(figure)
    return figure


def legend_label(text: str) -> str:
    """Return a label that fits under the figure; matplotlib would leave out one that starts with an underscore."""
    short = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return f" {short}" if short.startswith("_") else short


def legend_shape(labels: Sequence[str]) -> tuple[int, int]:
    """Return the columns and rows of a legend of these labels that fits below the figure."""
    each = 0.65 + 0.062 * max(len(label) for label in labels)  # inches: the line's sample, and the letters
    columns = max(1, min(len(labels), int(SIZE[0] / each)))
    return columns, math.ceil(len(labels) / columns)


def legend_below(figure: Figure, handles: Sequence[Any], labels: Sequence[str], columns: int) -> None:
    """Draw a legend below the figure."""
    figure.legend(
        handles, labels, loc="lower center", ncols=columns, frameon=False, handlelength=3.2, borderaxespad=0.2
    )


def new_picture() -> tuple[Figure, Axes]:
    """Return a small figure without a heading, for a page, and its axes."""
    width, height = PICTURE
    figure = _empty_figure(PICTURE)
    margins = {"left": 0.6 / width, "right": 1 - 0.2 / width, "bottom": 0.42 / height, "top": 1 - 0.22 / height}
    return figure, figure.subplots(gridspec_kw=margins)


# Axes


def bare_axes(axes: Axes) -> None:
    """Remove the box around a panel, and draw its grid behind the lines."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)


def faint_grid(axes: Any, along: str = "y", width: float = 0.6) -> None:
    """Faint lines across a panel, from the ticks of one axis."""
    axes.grid(axis=along, color=FAINT, linewidth=width)


def short_numbers(axis: Axis) -> None:
    """Format ticks with thousands separators and as few digits as possible."""
    axis.set_major_formatter(lambda value, _: f"{value:,.6g}")


def whole_numbers(axis: Axis) -> None:
    """Format ticks without decimals."""
    axis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def regret_axes(axes: Axes, horizon: int) -> None:
    """Set up the axes of regret over the rounds."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(0, horizon)
    axes.set_xlabel("round")
    bare_axes(axes)
    faint_grid(axes)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    whole_numbers(axes.xaxis)
    short_numbers(axes.yaxis)
    axes.yaxis.set_minor_formatter(lambda value, _: "")


# Labels where lines end


def label_line_end(axes: Axes, label: str, ends: tuple[float, float], colour: str, letters: float) -> None:
    """Draw a label right of a panel, connected to the end of its line; ``ends``: heights of the line's end and the
    label.
    """
    end, place = ends
    axes.annotate(
        label,
        xy=(1.0, end),
        xytext=(1.045, place),
        xycoords="axes fraction",
        textcoords="axes fraction",
        va="center",
        fontsize=letters,
        annotation_clip=False,
        arrowprops={
            "arrowstyle": "-",
            "relpos": (0.0, 0.5),
            "color": colour,
            "linewidth": 1.2,
            "shrinkA": 1.0,
            "shrinkB": 1.0,
        },
    )


def spread_labels(wanted: Sequence[float], gap: float) -> list[float]:
    """Return the places nearest to the wanted ones (in squares) that leave the gap between any two, within 0 to 1.

    With k gaps taken off the k-th place, the places need only be ascending: neighbours out of order are pooled.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    pools: list[tuple[float, int]] = []
    for k, i in enumerate(order):
        mean, size = wanted[i] - k * gap, 1
        while pools and pools[-1][0] > mean:
            before, count = pools.pop()
            mean, size = (mean * size + before * count) / (size + count), size + count
        pools.append((mean, size))
    highest = max(0.0, 1.0 - gap * (len(wanted) - 1))
    ascending = [min(max(mean, 0.0), highest) for mean, size in pools for _ in range(size)]
    places = [0.0] * len(wanted)
    for k, i in enumerate(order):
        places[i] = ascending[k] + k * gap
    return places
