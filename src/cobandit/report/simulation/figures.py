"""The panels as figures for print: mean and standard error as in the paper, and the median."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobandit.base.machine import available_cores
from cobandit.base.numbers import count
from cobandit.experiments.run import PanelResult
from cobandit.report.kit.drawing import Drawing, Statistic, draw_regret
from cobandit.report.kit.figure import (
    ROW,
    SIZE,
    figure_folder,
    figure_svg,
    legend_below,
    legend_label,
    legend_shape,
    new_figure,
    new_picture,
    save_figure,
)
from cobandit.report.kit.static_svg import inline_figure
from cobandit.report.simulation.drawing import drawing_of

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

TITLES: dict[Statistic, str] = {
    "mean": "mean ± standard error",
    "median": "median, with the middle 80 % of the runs",
}
"""What each panel shows."""

PICTURE_POINTS = 40
"""Checkpoints of a curve in a picture on a page: as many as a reader can see."""


def write_panel_figures(
    results: Sequence[PanelResult], folder: Path, *, workers: int | None = None
) -> dict[str, dict[str, Path]]:
    """Draw each panel's team regret as ``folder/PANEL.pdf``, ``.svg`` and ``.png``; return files by panel and format.

    Left the mean with its standard error, as in the paper; right the median with the middle 80 % of the runs, because
    tails are heavy. Panels about Theorem 1 show its bounds with the mean. Equal numbers give equal files. Many panels
    are drawn in worker processes if that is faster.
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
    """Return the figure itself."""
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
    for axes, (statistic, title) in zip((left, right), TITLES.items(), strict=True):
        draw_regret(axes, drawing, statistic, title)
    left.set_ylabel("team regret")
    left.yaxis.set_label_coords(0.2 / width, 0.5 * (margins["top"] + margins["bottom"]) / height, figure.transFigure)
    handles = [axis_line for axis_line in left.get_lines() if axis_line.get_gid() is not None]
    legend_below(figure, handles, labels, columns)
    return figure


def panel_pictures(drawing: Drawing) -> list[Markup]:
    """Return a panel for its page: mean and median as two pictures, which need no script."""
    few = drawing.thinned(PICTURE_POINTS)

    def picture(statistic: Statistic) -> Markup:
        def draw() -> Figure:
            figure, axes = new_picture()
            draw_regret(axes, few, statistic, TITLES[statistic])
            return figure

        label = f"{TITLES[statistic].capitalize()} of the team regret"
        return inline_figure(figure_svg(draw), f"{drawing.name}-{statistic}", label)

    return [picture(statistic) for statistic in TITLES]
