"""The panels as figures for print: mean and standard error as in the paper, and the median beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cobandit.base.machine import available_cores
from cobandit.base.numbers import count
from cobandit.experiments.run import PanelResult
from cobandit.report.kit.drawing import Drawing, draw_level, draw_line
from cobandit.report.kit.figure import (
    LETTERS,
    ROW,
    SIZE,
    figure_folder,
    legend_below,
    legend_label,
    legend_shape,
    new_figure,
    regret_axes,
    save_figure,
)
from cobandit.report.simulation.drawing import drawing_of


def write_panel_figures(
    results: Sequence[PanelResult], folder: Path, *, workers: int | None = None
) -> dict[str, dict[str, Path]]:
    """Draw each panel's team regret as ``folder/PANEL.pdf``, ``.svg`` and ``.png``; files by panel and format.

    Left the mean with its standard error, as in the paper; right the median with the middle 80 % of the runs, as tails
    are heavy. Where Theorem 1 is the matter, its bounds stand beside the mean. Equal numbers give equal files. Many
    panels are drawn in worker processes where that pays.
    """
    figure_folder(folder)
    drawings = [drawing_of(result) for result in results]
    workers = min(available_cores() if workers is None else workers, len(drawings) // 3)
    if workers < 2:
        return {drawing.name: _write(drawing, folder) for drawing in drawings}
    import multiprocessing  # which some Pythons do not have, such as Pyodide in a browser
    from concurrent.futures import ProcessPoolExecutor

    # Spawned, not forked: a fork of a process with running threads may hang.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        written = pool.map(_write, drawings, [folder] * len(drawings))
        return {drawing.name: files for drawing, files in zip(drawings, written, strict=True)}


def _write(drawing: Drawing, folder: Path) -> dict[str, Path]:
    return save_figure(lambda: panel_figure(drawing), folder, drawing.name)


def panel_figure(drawing: Drawing) -> Any:
    """The figure itself."""
    levels = drawing.finite_levels
    labels = [legend_label(line.label) for line in drawing.lines]
    labels += [f"{level.label}: {level.value:,.0f}" for level in levels]
    columns, rows = legend_shape(labels)
    width, height = SIZE[0], SIZE[1] + ROW * (rows - 1)
    figure = new_figure((width, height), drawing.title, f"{drawing.fixed}; {count(drawing.runs, 'run')}")
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
    shade = 0.16 if len(drawing.lines) <= 3 else 0.08
    for line in drawing.lines:
        draw_line(left, line, line.mean_band, shade, from_zero=not levels)
        draw_line(right, line, line.median_band, shade)
    for level in levels:
        draw_level(left, level, drawing.horizon)
    left.set_title("mean ± standard error", loc="left", fontsize=LETTERS)
    right.set_title("median, with the middle 80 % of the runs", loc="left", fontsize=LETTERS)
    left.set_ylabel("team regret")
    left.yaxis.set_label_coords(0.2 / width, 0.5 * (margins["top"] + margins["bottom"]) / height, figure.transFigure)
    for axes in (left, right):
        axes.set_ylim(0, None)
        if axes is left and levels:
            axes.set_yscale("log")
            axes.set_ylim(_floor(drawing), 2 * max(level.value for level in levels))
        regret_axes(axes, drawing.horizon)
    handles = [axis_line for axis_line in left.get_lines() if axis_line.get_gid() is not None]
    legend_below(figure, handles, labels, columns)
    return figure


def _floor(drawing: Drawing) -> float:
    """Where a logarithmic axis starts: the power of ten below what a curve has lost at its first checkpoint."""
    first = [line.factor * float(line.mean[0]) for line in drawing.lines]
    return float(10.0 ** math.floor(math.log10(max(min(first), 1e-3))))
