"""Every participant in every condition: a line from one to the next."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cobandit.analysis import Analysis
from cobandit.analysis.findings import measure_name
from cobandit.analysis.plan import GOOD, contrasts
from cobandit.analysis.words import condition_label
from cobandit.base.numbers import APA
from cobandit.report.kit.figure import LETTERS, bare_axes, faint_grid, short_numbers
from cobandit.report.kit.palette import COLOURS, colour_of
from cobandit.report.kit.text import capital
from cobandit.report.study.figures.base import (
    STARS,
    NotDrawn,
    StudyFigure,
    about_line,
    condition_labels,
    condition_numbers,
    correction,
    described,
    level_text,
    nobody,
    paired_result,
    unit_count,
    verdict_text,
)
from cobandit.report.study.figures.sheet import (
    HEAD,
    SMALL,
    Margins,
    bracket,
    fitting,
    key_shape,
    keys_on_top,
    panels_in,
    sheet,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BETTER: tuple[str, Any] = (COLOURS[2], "-")
WORSE: tuple[str, Any] = (COLOURS[3], (0, (4, 1.5)))
SAME: tuple[str, Any] = ("#888888", (0, (1, 1)))
"""Colour and dashes of a participant who does better, worse, the same with the first condition, in every panel.

Better is a lower regret, and a higher number of good outcomes.
"""


def paired_slopes(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Return one line per participant from condition to condition: task regret and good outcomes."""
    measured, title = analysis.units, f"Every {analysis.units.unit} in every condition"
    if len(measured.conditions) < 2:
        return [NotDrawn("slopes", title, "The design has one condition only, so there is nothing to compare.")]
    panels = [_Slopes(analysis, measure) for measure in (analysis.plan.regret_measure, GOOD)]
    if not any(panel.lines for panel in panels):
        why = nobody(analysis) or "No participant has complete data in two conditions."
        return [NotDrawn("slopes", title, why)]
    labels = condition_labels(analysis)
    heads = [f"{capital(panel.name)}, {label}" for panel in panels for label in labels]
    rows = [
        (who, *(APA.format(float(value)) for panel in panels for value in panel.values[i]))
        for i, who in enumerate(measured.participants)
    ]
    counts = [f"{panel.name}: {panel.said}" for panel in panels]
    more = f"{'a higher' if analysis.design.rewards.graded else 'more'} {panels[1].name}"
    lone = "" if len(measured) > 1 else f" A single {measured.unit} has no interval."
    caption = (
        f"Each {'thin line' if analysis.design.sets > 1 else 'dot'} is one of {unit_count(analysis, len(measured))}; "
        f"large marks are means with their "
        f"{level_text(analysis)} intervals. {capital('; '.join(counts))}. Better means less {panels[0].name} and "
        f"{more}. {STARS}"
        f"{correction(analysis, [row for panel in panels for row in panel.tests])}.{lone}"
    )
    return [
        StudyFigure(
            name="slopes",
            title=title,
            caption=caption,
            columns=(capital(measured.unit), *heads),
            rows=tuple(rows),
            draw=lambda width: _draw_slopes(analysis, panels, width),
        )
    ]


class _Slopes:
    """One measure of all participants, with its statistics."""

    def __init__(self, analysis: Analysis, measure: str) -> None:
        measured = analysis.units
        self.name = measure_name(analysis.design, measure)
        self.from_zero = self.lower_is_better = measure != GOOD
        self.values = measured.totals(measure)
        there = np.isfinite(self.values)
        paired = analysis.design.sets > 1
        self.lines = np.flatnonzero(there.sum(axis=1) >= (2 if paired else 1)).tolist()
        self.means = [described(analysis, measure)[name] for name in measured.conditions]
        self.pairs = contrasts(analysis.design)
        self.columns = [tuple(map(measured.column, pair)) for pair in self.pairs]
        self.tests = [paired_result(analysis, measure, pair) for pair in self.pairs]
        self.numbers = condition_numbers(analysis)
        self.verdicts = [verdict_text(analysis, test) for test in self.tests]
        self.single = len(self.pairs) == 1 and paired
        if not self.single:
            many = "two conditions or more" if paired else "their condition"
            self.said = f"{len(self.lines)} with values in {many}"
            return
        first, second = (self.values[:, column] for column in self.columns[0])
        self.differences = first - second
        whole = np.isfinite(self.differences)
        label = condition_label(analysis.design, self.pairs[0][0])
        total = int(whole.sum())
        lower, higher = (int((sign * self.differences[whole] > 0).sum()) for sign in (-1, 1))
        same = total - lower - higher
        self.said = f"lower with {label} for {lower} of {total}, higher for {higher}, equal for {same}"

    def style(self, i: int) -> tuple[str, Any]:
        """Colour and dashes of a participant."""
        if not self.single:
            return SAME[0], "-"
        if not math.isfinite(self.differences[i]):
            return SAME
        if self.differences[i] == 0:
            return SAME
        return BETTER if (self.differences[i] < 0) == self.lower_is_better else WORSE


def _draw_slopes(analysis: Analysis, panels: Sequence[_Slopes], width: float) -> Figure:
    stacked = width < 5.0 or not panels[0].single
    keys = _slope_keys(analysis, panels[0])
    high = key_shape(list(keys), width)[1] if keys else 0.0
    height = HEAD + high + (6.2 if stacked else 3.2)
    about = about_line(analysis)
    figure = sheet(width, height, f"Every {analysis.units.unit} in every condition", about)
    shape = (2, 1) if stacked else (1, 2)
    across = width - 0.85 if stacked else (width - 1.6) / 2
    last = len(panels[0].means) - 1
    longest = max(len(APA.format(sample.mean)) for panel in panels for sample in panel.means)
    space = 0.32 + 0.07 * longest  # inches, for the numbers next to the outer marks
    margin = max(0.62, space * last / max(across - 2 * space, 0.6))
    letters = max(6, int(across / (last + 2 * margin) / 0.069))
    labels = [wrapped(label, letters) for label in condition_labels(analysis)]
    bottom = 0.22 + 0.15 * max(label.count("\n") + 1 for label in labels)
    margins = Margins(0.7, 0.15, bottom, HEAD + high + 0.12)
    drawn = panels_in(figure, shape, margins, gap=0.75, rise=bottom + 0.2)
    for axes, panel in zip(drawn, panels, strict=True):
        _draw_slope_panel(axes, panel, labels, margin)
    if keys:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], color=colour, linestyle=dash, linewidth=1.2) for colour, dash in keys.values()]
        keys_on_top(figure, handles, list(keys))
    return figure


def _slope_keys(analysis: Analysis, panel: _Slopes) -> dict[str, tuple[str, Any]]:
    """Return the meaning of the participants' colours; empty for more than two conditions."""
    if not panel.single:
        return {}
    label = condition_label(analysis.design, panel.pairs[0][0])
    return {f"better with {fitting(label, 2.2, SMALL)}": BETTER, "worse": WORSE, "equal": SAME}


def _draw_slope_panel(axes: Axes, panel: _Slopes, labels: Sequence[str], margin: float) -> None:
    places = np.arange(len(labels))
    thick = 0.8 if len(panel.lines) > 30 else 1.2
    for i in panel.lines:
        colour, dash = panel.style(i)
        there = np.isfinite(panel.values[i])
        dot = "." if there.sum() == 1 else ""  # a participant of a single condition
        style = {"color": colour, "linestyle": dash, "linewidth": thick, "alpha": 0.6, "marker": dot}
        axes.plot(places[there], panel.values[i][there], **style)
    last = len(labels) - 1
    for c, description in enumerate(panel.means):
        if description.mean is None:
            continue
        colour = colour_of(panel.numbers[c])
        x = places[c] + (-0.13 if c == 0 else 0.13 if c == last else 0.0)
        if description.low is not None and description.high is not None:
            axes.plot([x, x], [description.low, description.high], color=colour, linewidth=2.2, zorder=4)
        axes.plot([x], [description.mean], "os^D"[c % 4], color=colour, markersize=6, zorder=5)
        side = "right" if c < last else "left"
        shift = -0.09 if c < last else 0.09
        axes.annotate(
            APA.format(description.mean),
            (x + shift, description.mean),
            ha=side,
            va="center",
            fontsize=LETTERS,
            zorder=6,
        )
    shown = panel.values[np.isfinite(panel.values)]
    limits = [value for sample in panel.means for value in (sample.low, sample.high) if value is not None]
    low, high = min([*shown.tolist(), *limits], default=0.0), max([*shown.tolist(), *limits], default=1.0)
    low = min(low, 0.0) if panel.from_zero else low
    span = high - low or max(abs(high), 1.0)
    tests = [
        (columns, verdict)
        for columns, row, verdict in zip(panel.columns, panel.tests, panel.verdicts, strict=True)
        if panel.single or (row is not None and row.mark)
    ]
    for level, (columns, verdict) in enumerate(tests):
        y = high + span * (0.06 + 0.12 * level)
        bracket(axes, (min(columns), max(columns)), y, 0.02 * span, verdict)
    below = 0.0 if panel.from_zero and low == 0.0 else 0.05 * span
    axes.set_ylim(low - below, high + span * (0.06 + 0.12 * max(len(tests), 0.3)))
    axes.set_xlim(-margin, last + margin)
    axes.set_xticks(places, labels)
    axes.set_ylabel(panel.name)
    short_numbers(axes.yaxis)
    faint_grid(axes)
    bare_axes(axes)
