"""The panels as figures for print: mean and standard error as in the paper, and the median beside it.

Also here: a panel as it is drawn (`Drawing`), which the report page shares, so that paper and screen show one thing.
"""

from __future__ import annotations

import math
import multiprocessing
import re
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.base.errors import InvalidInput
from cobandit.base.extras import require_extras
from cobandit.base.files import whole_file
from cobandit.base.machine import available_cores
from cobandit.experiments.claims import BelowBound
from cobandit.experiments.run import PanelResult
from cobandit.report.comparison import COLOURS, DASHES
from cobandit.theory import bound

FORMATS = ("pdf", "svg", "png")
SIZE = (7.2, 3.4)
"""Inches: the text width of a two-column page."""

LONGEST_LABEL = 80
"""Characters of a curve's label that fit under the figure."""

ROW = 0.18
"""Inches of one line of the legend."""

PNG_DPI = 160
LETTERS = 8.5
"""The size of letters, in points."""

BOUNDS = {
    "printed": "bound as printed",
    "proved": "bound as proved",
    "safe": "safe bound",
    "linear": "every round lost",
}
"""Theorem 1's bounds that are drawn, and what they are called."""

METADATA: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}
"""Equal numbers give equal files: no dates."""

_STYLE: Any = {
    "text.parse_math": False,  # a dollar sign in a label is a dollar sign
    "font.size": LETTERS,
    "font.family": ["DejaVu Sans"],
    "svg.fonttype": "none",
    "svg.hashsalt": "cobandit",
    "pdf.fonttype": 42,  # publishers refuse the other kind
}
_DRAWING = threading.Lock()
"""Matplotlib's settings and font caches belong to the whole process: one figure at a time."""

_SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_SYMBOL = re.compile(r"(?<![\w.])\$?([A-Za-z])_([0-9aehijklmnoprstuvx])\$?(?!\w)")


def plain(text: str) -> str:
    """A text for people, with ``p_1`` (or ``$p_1$``) as p with a small 1; needs no mathematics to be typeset."""
    return _SYMBOL.sub(lambda found: found[1] + found[2].translate(_SUBSCRIPTS), " ".join(text.split()))


@dataclass(frozen=True, eq=False)
class Line:
    """One curve as it is drawn: statistics of its task regret over the runs, one entry per checkpoint.

    Team regret is ``factor`` times that. ``number`` is its place in the panel and decides colour and dashes.
    """

    name: str
    label: str
    number: int
    rounds: NDArray[np.int64]
    mean: NDArray[np.float64]
    se: NDArray[np.float64]
    median: NDArray[np.float64]
    q10: NDArray[np.float64]
    q90: NDArray[np.float64]
    factor: float


@dataclass(frozen=True)
class Level:
    """An upper bound on the team regret after the last round.

    ``sloping``: it is proportional to the rounds; else the same all along. ``number`` goes on from the curves'.
    """

    name: str
    label: str
    number: int
    value: float
    factor: float
    sloping: bool


@dataclass(frozen=True, eq=False)
class Drawing:
    """A panel as it is drawn: little more than its lines, whatever the number of runs."""

    name: str
    title: str
    fixed: str
    runs: int
    horizon: int
    lines: tuple[Line, ...]
    levels: tuple[Level, ...]


def drawing_of(result: PanelResult) -> Drawing:
    """Statistics over the runs, and Theorem 1's bounds if the panel is about them."""
    lines = []
    for number, one in enumerate(result.curves):
        stats = one.summary()
        lines.append(
            Line(
                name=one.curve.name,
                label=plain(one.curve.label),
                number=number,
                rounds=one.checkpoints,
                mean=np.array(stats.mean),
                se=np.array([math.nan if se is None else se for se in stats.se]),
                median=np.array(stats.median),
                q10=np.array(stats.q10),
                q90=np.array(stats.q90),
                factor=one.curve.problem.team_factor,
            )
        )
    return Drawing(
        name=result.panel.name,
        title=plain(result.panel.title),
        fixed=plain(result.panel.fixed),
        runs=result.curves[0].runs,
        horizon=int(result.curves[0].checkpoints[-1]),
        lines=tuple(lines),
        levels=tuple(_levels(result)),
    )


def _levels(result: PanelResult) -> list[Level]:
    levels: list[Level] = []
    curves = {one.curve.name: one.curve for one in result.curves}
    for claim in result.panel.claims:
        if isinstance(claim, BelowBound):
            problem = curves[claim.curve].problem
            limits = bound(problem, result.settings.horizon_of(result.panel))
            for name, label in BOUNDS.items():
                number = len(curves) + len(levels)
                value = float(getattr(limits, name))
                levels.append(Level(name, label, number, value, problem.team_factor, sloping=name == "linear"))
    return levels


def write_figures(result: PanelResult, folder: Path) -> dict[str, Path]:
    """Draw a panel's team regret as ``folder/PANEL.pdf``, ``.svg`` and ``.png``; the files by format.

    Left the mean with its standard error, as in the paper; right the median with the middle 80 % of the runs, as tails
    are heavy. Where Theorem 1 is the matter, its bounds stand beside the mean. Equal numbers give equal files.
    """
    _check(folder)
    return _write(drawing_of(result), folder)


def write_all_figures(
    results: Sequence[PanelResult], folder: Path, *, workers: int | None = None
) -> dict[str, dict[str, Path]]:
    """The figures of many panels, drawn in worker processes where that pays; files by panel and format."""
    _check(folder)
    drawings = [drawing_of(result) for result in results]
    workers = min(available_cores() if workers is None else workers, len(drawings) // 3)
    if workers < 2:
        return {drawing.name: _write(drawing, folder) for drawing in drawings}
    # Spawned, not forked: a fork of a process with running threads may hang.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        written = pool.map(_write, drawings, [folder] * len(drawings))
        return {drawing.name: files for drawing, files in zip(drawings, written, strict=True)}


def _check(folder: Path) -> None:
    require_extras("Drawing a figure", plot=True)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(folder)!r} cannot be made: {error.strerror}.") from None


def save_figure(make: Callable[[], Any], folder: Path, name: str) -> dict[str, Path]:
    """What ``make`` draws as ``folder/NAME.pdf``, ``.svg`` and ``.png``; equal numbers give equal files."""
    _check(folder)
    return _saved(make, folder, name)


def _write(drawing: Drawing, folder: Path) -> dict[str, Path]:
    return _saved(lambda: _figure(drawing), folder, drawing.name)


def _saved(make: Callable[[], Any], folder: Path, name: str) -> dict[str, Path]:
    import matplotlib

    written = {}
    with _DRAWING, matplotlib.rc_context(_STYLE):
        figure = make()
        for kind in FORMATS:
            written[kind] = folder / f"{name}.{kind}"
            with whole_file(written[kind]) as file:
                figure.savefig(file, format=kind, dpi=PNG_DPI, metadata=METADATA[kind])
    return written


def _figure(drawing: Drawing) -> Any:
    """The figure itself, on no screen and in no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    levels = [level for level in drawing.levels if math.isfinite(level.value)]
    labels = [_legend_label(line.label) for line in drawing.lines]
    labels += [f"{level.label}: {level.value:,.0f}" for level in levels]
    columns, rows = _legend_shape(labels)
    width, height = SIZE[0], SIZE[1] + ROW * (rows - 1)
    figure: Any = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    # Fixed margins, given in inches: quicker than a layout engine, and the same in every panel.
    margins = {
        "left": 0.68,
        "right": width - 0.2,
        "wspace": 0.2,
        "bottom": 0.68 + ROW * (rows - 1),
        "top": height - 0.7,
    }
    scale = {"left": width, "right": width, "wspace": 1.0, "bottom": height, "top": height}
    left, right = figure.subplots(1, 2, gridspec_kw={side: margins[side] / scale[side] for side in margins})
    about = f"{drawing.fixed}; {drawing.runs:,} run{'s' if drawing.runs > 1 else ''}"
    heading = {"x": 0.15 / width, "ha": "left", "va": "top"}
    figure.text(y=1 - 0.07 / height, s=drawing.title, fontsize=LETTERS + 1.5, **heading)
    figure.text(y=1 - 0.27 / height, s=about, fontsize=LETTERS - 0.5, color="#555555", **heading)
    shade = 0.16 if len(drawing.lines) <= 3 else 0.08
    for line in drawing.lines:
        _draw_line(left, line, (line.mean, line.mean - line.se, line.mean + line.se), shade, from_zero=not levels)
        _draw_line(right, line, (line.median, line.q10, line.q90), shade)
    for level in levels:
        _draw_level(left, level, drawing.horizon)
    left.set_title("mean ± standard error", loc="left", fontsize=LETTERS)
    right.set_title("median, with the middle 80 % of the runs", loc="left", fontsize=LETTERS)
    left.set_ylabel("team regret")
    left.yaxis.set_label_coords(0.2 / width, 0.5 * (margins["top"] + margins["bottom"]) / height, figure.transFigure)
    for axes in (left, right):
        axes.set_ylim(0, None)
        if axes is left and levels:
            axes.set_yscale("log")
            axes.set_ylim(_floor(drawing), 2 * max(level.value for level in levels))
        _finish(axes, drawing.horizon)
    handles = [axis_line for axis_line in left.get_lines() if axis_line.get_gid() is not None]
    figure.legend(
        handles, labels, loc="lower center", ncols=columns, frameon=False, handlelength=3.2, borderaxespad=0.2
    )
    return figure


def _legend_label(text: str) -> str:
    """A label that fits under the figure; matplotlib would leave out one that starts with an underscore."""
    short = text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"
    return f" {short}" if short.startswith("_") else short


def _legend_shape(labels: Sequence[str]) -> tuple[int, int]:
    """Columns and rows in which a legend of these labels fits under the figure."""
    each = 0.65 + 0.062 * max(len(label) for label in labels)  # inches: the line's sample, and the letters
    columns = max(1, min(len(labels), int(SIZE[0] / each)))
    return columns, math.ceil(len(labels) / columns)


def _draw_line(
    axes: Any, line: Line, stats: tuple[NDArray[np.float64], ...], shade: float, *, from_zero: bool = True
) -> None:
    """A curve with its band; ``stats`` is centre, low, high. A logarithmic axis has no place for round 0."""
    colour, dash = COLOURS[line.number % len(COLOURS)], DASHES[line.number % len(DASHES)]
    first = 0 if from_zero else 1
    rounds = np.concatenate([[0], line.rounds])[first:]
    centre, low, high = (line.factor * np.concatenate([[0.0], part])[first:] for part in stats)
    if np.isfinite(low).all():  # a single run has no standard error
        axes.fill_between(rounds, low, high, color=colour, alpha=shade, linewidth=0)
        for edge in (low, high):
            axes.plot(rounds, edge, color=colour, linewidth=0.5, alpha=0.6)
    axes.plot(rounds, centre, color=colour, linestyle=dash, gid=line.name)


def _draw_level(axes: Any, level: Level, horizon: int) -> None:
    rounds = np.linspace(0, horizon, 101)[1 if level.sloping else 0 :]
    heights = level.value * rounds / horizon if level.sloping else np.full(len(rounds), level.value)
    colour, dash = COLOURS[level.number % len(COLOURS)], DASHES[level.number % len(DASHES)]
    axes.plot(rounds, heights, color=colour, linestyle=dash, gid=f"bound-{level.name}")


def _floor(drawing: Drawing) -> float:
    """Where a logarithmic axis starts: the power of ten below what a curve has lost at its first checkpoint."""
    first = [line.factor * float(line.mean[0]) for line in drawing.lines]
    return float(10.0 ** math.floor(math.log10(max(min(first), 1e-3))))


def _finish(axes: Any, horizon: int) -> None:
    axes.set_xlim(0, horizon)
    axes.set_xlabel("round")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_locator(_whole_numbers())
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axes.yaxis.set_minor_formatter(lambda value, _: "")


def _whole_numbers() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=5, integer=True)
