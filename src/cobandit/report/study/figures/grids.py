"""Grids of small panels: both conditions over the rounds, for each participant or each episode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cobandit.analysis import Analysis, Grid, GridRow
from cobandit.analysis.findings import VERY_EASY, VERY_HARD, measure_name
from cobandit.analysis.grids import UNITS
from cobandit.analysis.plan import contrasts, episode_word
from cobandit.analysis.words import condition_label, statistic
from cobandit.base.numbers import APA, DASH, count
from cobandit.report.kit.drawing import Array, thinned
from cobandit.report.kit.figure import bare_axes, faint_grid, short_numbers, whole_numbers
from cobandit.report.kit.palette import EASY, GREY, HARD, colour_of, dashes_of
from cobandit.report.kit.text import capital
from cobandit.report.study.figures.base import (
    STARS,
    NotDrawn,
    StudyFigure,
    about_line,
    condition_labels,
    condition_numbers,
    interval_text,
    level_text,
    nobody,
    p_text,
    unit_count,
)
from cobandit.report.study.figures.sheet import (
    HEAD,
    SMALL,
    Margins,
    fitting,
    key_shape,
    keys_on_top,
    panels_in,
    sheet,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 100
"""Participants or episodes that are drawn in a grid; the table beneath has them all."""

SHADES = {VERY_EASY: EASY, VERY_HARD: HARD}
"""The backgrounds of episodes in which the conditions hardly differ (`cobandit.analysis.grids.shaded`)."""

EVERYBODY = "mean of all"
LAST_PANEL = "The last panel is the mean over all of them. "

MINI_POINTS = 26
"""Rounds of a curve that are drawn in a small panel."""


def curve_grids(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Return every grid of the analysis, or why it has none."""
    if analysis.grids:
        return [curve_grid(analysis, grid) for grid in analysis.grids]
    why = (
        "The design has one condition only, so there is nothing to compare."
        if len(analysis.design.conditions) == 1
        else "Each condition is one episode, so nothing can be tested within a participant or an episode."
    )
    return [NotDrawn("grids", "Participant by participant, episode by episode", why)]


def curve_grid(analysis: Analysis, grid: Grid) -> StudyFigure | NotDrawn:
    """Return a small panel for each participant, or each episode: both conditions over the rounds, with the paper's
    marks.
    """
    design = analysis.design
    first, second = (condition_label(design, name) for name in grid.compares)
    several = len(contrasts(design)) > 1
    by_person = grid.by == analysis.units.unit
    name = f"{grid.by}s" + (f"-{'-'.join(grid.compares)}" if several else "")
    title = f"{capital(grid.by)} by {grid.by}" + (f": {first} and {second}" if several else "")
    if not grid.rows:
        return NotDrawn(name, title, nobody(analysis) or f"There is no {grid.by} to draw.")
    minis = [_mini_of(analysis, grid, place) for place in range(len(grid.rows))]
    if not any(mini.n for mini in minis):
        why = nobody(analysis) or f"No participant has finished the same {episode_word(design)} in both conditions."
        return NotDrawn(name, title, why)
    total = len(grid.rows)
    who = unit_count(analysis, len(analysis.units))
    what = who if by_person else f"{count(total, grid.by)}, {who}"
    over = f"{episode_word(design)}s" if by_person else f"{unit_count(analysis, 2)[2:]}"
    caption = (
        f"Cumulative {measure_name(design, grid.measure)}, mean over the {over} with one standard error; {what}. Lower "
        f"with {first} for "
        f"{grid.lower} of {total}: {grid.significant} with p < .05, {grid.strong} of them with p < .005 (paired t "
        f"tests over the {over}, not corrected; {grid.corrected} after Holm's correction over all {total}). "
        f"Significantly higher: {grid.opposed}."
        + (f" Not tested: {grid.untested}." if grid.untested else "")
        + f" {STARS}. {_shading(grid)}{LAST_PANEL if by_person else ''}{grid.note}"
        + (f" Only the first {MOST_PANELS} are drawn; the table has all." if total > MOST_PANELS else "")
    ).strip()
    heads = (
        capital(grid.by), f"M, {first}", f"M, {second}", "Difference", f"{level_text(analysis)} interval", "Test", "p",
        "p (Holm)", "Mark", "Shade", "n", "Note",
    )  # fmt: skip
    shown = [*minis[:MOST_PANELS], *([_overall(analysis, grid)] if by_person else [])]
    return StudyFigure(
        name=name,
        title=title,
        caption=caption,
        columns=heads,
        rows=tuple(_grid_row(row) for row in grid.rows),
        draw=lambda width: _draw_grid(analysis, grid, shown, title, width),
    )


def _shading(grid: Grid) -> str:
    """Return the rule by which episodes are shaded, and which ones are; nothing in a grid of participants."""
    if grid.by in UNITS:
        return ""
    shaded = {shade: [row.label for row in grid.rows if row.shade == shade] for shade in SHADES}
    which = "; ".join(f"{shade}: {', '.join(labels)}" for shade, labels in shaded.items() if labels) or "no such one"
    return (
        "Shaded where the conditions do not differ significantly (p >= .05, not corrected): green, very easy, where "
        f"both means lie at or below the lower quartile of all means of the {grid.by}s in both conditions; red, very "
        f"hard, where both lie at or above the upper one ({which}). "
    )


def _grid_row(row: GridRow) -> tuple[str, ...]:
    finding = row.finding
    means = [APA.format(group.mean) for group in finding.groups[:2]] or [DASH, DASH]
    return (
        row.label,
        *means,
        APA.format(finding.estimate),
        interval_text(finding.estimate_low, finding.estimate_high),
        statistic(finding) or DASH,
        p_text(finding.p),
        p_text(finding.p_adjusted),
        row.mark,
        row.shade,
        f"{finding.n}",
        finding.note,
    )


class _Mini:
    """The curves of one small panel: the participants or episodes that have both conditions.

    ``pair`` is conditions x participants (or episodes) x points; ``row`` is None for the mean of all participants.
    """

    def __init__(self, analysis: Analysis, grid: Grid, row: GridRow | None, pair: Array) -> None:
        measured, numbers = analysis.units, condition_numbers(analysis)
        self.row = row
        end = min(measured.design.rounds_of(name) for name in grid.compares)
        pair = pair[:, :, measured.points <= end]
        whole = np.isfinite(pair).all(axis=(0, 2))
        self.n = int(whole.sum())
        keep = thinned(pair.shape[2], MINI_POINTS)
        self.rounds = measured.points[keep]
        self.parts = []
        columns = [measured.column(name) for name in grid.compares]
        for c, curves in zip(columns, pair[:, whole][:, :, keep], strict=True):
            if self.n:
                mean = curves.mean(axis=0)
                se = curves.std(axis=0, ddof=1) / math.sqrt(self.n) if self.n > 1 else np.zeros(len(keep))
                self.parts.append((numbers[c], mean, se))

    @property
    def top(self) -> float:
        """The highest point of the panel."""
        return max((float((mean + se).max()) for _, mean, se in self.parts), default=0.0)


def _mini_of(analysis: Analysis, grid: Grid, place: int) -> _Mini:
    """Return the panel of one participant, or of one episode."""
    measured = analysis.units
    curves = measured.regret_curves(grid.measure)
    chosen = curves[place] if grid.by in UNITS else curves[:, :, place].swapaxes(0, 1)
    return _Mini(analysis, grid, grid.rows[place], chosen[[measured.column(name) for name in grid.compares]])


def _overall(analysis: Analysis, grid: Grid) -> _Mini:
    """Return the last panel: each participant's mean over the episodes, averaged over all who have every episode."""
    measured = analysis.units
    means = measured.regret_curves(grid.measure).mean(axis=2).swapaxes(0, 1)
    return _Mini(analysis, grid, None, means[[measured.column(name) for name in grid.compares]])


def _draw_grid(analysis: Analysis, grid: Grid, minis: Sequence[_Mini], title: str, width: float) -> Figure:
    from matplotlib.lines import Line2D
    from matplotlib.ticker import MaxNLocator

    even = len(minis) % 5 == 0
    across = min(3 if width < 5.0 else 5 if even else 6, len(minis))
    down = math.ceil(len(minis) / across)
    columns = sorted(analysis.units.column(name) for name in grid.compares)
    numbers = [condition_numbers(analysis)[c] for c in columns]
    names = [fitting(condition_labels(analysis)[c], 2.6, SMALL) for c in columns]
    top_margin = HEAD + key_shape(names, width)[1] + 0.22
    height = top_margin + 0.46 + 0.98 * down - 0.3
    about = about_line(analysis)
    figure = sheet(width, height, title, about)
    drawn = panels_in(figure, (down, across), Margins(0.56, 0.1, 0.46, top_margin), gap=0.12, rise=0.3)
    top = 1.05 * max(mini.top for mini in minis) or 1.0
    horizon = analysis.design.most_rounds
    for place, axes in enumerate(drawn):
        if place >= len(minis):
            axes.set_visible(False)
            continue
        mini = minis[place]
        _draw_mini(axes, mini)
        axes.set_ylim(0, top)
        axes.set_xlim(0, horizon)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
        axes.set_xticks([0, horizon])
        axes.tick_params(labelsize=SMALL, length=2.0, pad=2.0)
        axes.tick_params(labelleft=place % across == 0, labelbottom=place + across >= len(minis))
        short_numbers(axes.yaxis)
        whole_numbers(axes.xaxis)
        for label, side in zip(axes.get_xticklabels(), ("left", "right"), strict=False):  # some panels have no labels
            label.set_horizontalalignment(side)
        faint_grid(axes, width=0.5)
        bare_axes(axes)
    middle = (0.46 + height - top_margin) / 2 / height
    figure.text(
        0.12 / width, middle, measure_name(analysis.design, grid.measure), rotation=90, ha="center", va="center"
    )
    figure.text(0.5, 0.12 / height, "round", ha="center", va="center")
    handles = [Line2D([], [], color=colour_of(k), linestyle=dashes_of(k), linewidth=1.6) for k in numbers]
    keys_on_top(figure, handles, names)
    return figure


def _draw_mini(axes: Axes, mini: _Mini) -> None:
    row = mini.row
    if row is None:
        axes.set_title(EVERYBODY, loc="left", fontsize=SMALL, pad=2.5, fontweight="bold")
    else:
        name = fitting(row.label, 0.85, SMALL)
        said = " higher" if row.mark and row.lower is False else f", {row.shade}" if row.shade else ""
        axes.set_title(f"{name} {row.mark}".rstrip() + said, loc="left", fontsize=SMALL, pad=2.5)
        if row.shade:
            axes.set_facecolor(SHADES[row.shade])
    for c, mean, se in mini.parts:
        rounds = np.concatenate([[0], mini.rounds])
        centre, spread = np.concatenate([[0.0], mean]), np.concatenate([[0.0], se])
        axes.fill_between(rounds, centre - spread, centre + spread, color=colour_of(c), alpha=0.2, linewidth=0)
        axes.plot(rounds, centre, color=colour_of(c), linestyle=dashes_of(c), linewidth=1.3)
    if not mini.n:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", fontsize=SMALL, color=GREY)
    elif row is not None and row.finding.p is None:
        axes.text(0.04, 0.82, "not tested", transform=axes.transAxes, fontsize=SMALL, color=GREY)
