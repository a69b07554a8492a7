"""The figures of an analysed human-AI study, for print and for the report page.

Each function takes an analysis and gives a `Plate`, a figure that is ready to be drawn, with its caption and the
numbers behind it, or a `NotDrawn`, which says why there is nothing to draw. Odd data (nobody, one participant, one
condition, constant answers) end in one or the other, never in an error.
Paper: Figs. "burger" and "casino" and those of the appendix.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from html import escape
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobandit.analysis import Analysis, Described, Grid, GridRow
from cobandit.analysis import StudyResult as Result
from cobandit.analysis.findings import measure_name
from cobandit.analysis.plan import GOOD, SCORE, SURVEY, TASK_REGRET, contrasts, episode_word, researcher_question
from cobandit.analysis.words import condition_label, count, number, p_value, statistic
from cobandit.report.comparison import COLOURS, DASHES, _spread
from cobandit.report.figures import _DRAWING, _STYLE, LETTERS, METADATA, SIZE, Drawing, Line, _draw_line, _finish
from cobandit.report.stills import steps
from cobandit.stats import Description, summarise

Array = NDArray[np.float64]

WIDE, NARROW = SIZE[0], 3.5
"""Inches: the text width of a two-column page, and one column of it, which is also what a telephone shows well."""

HEAD = 0.5
"""Inches at the top of every figure for its heading; a page has a heading of its own and cuts them off."""

SMALL = LETTERS - 1.0
"""The size of small letters, in points; nothing is smaller."""

MOST_PANELS = 100
"""Participants or episodes that are drawn in a grid; the table beneath has them all."""

MINI_POINTS = 26
"""Rounds of a curve that are drawn in a small panel."""

DASH = "\N{EN DASH}"
SPACE = "\N{NO-BREAK SPACE}"
GREY, FAINT = "#555555", "#DDDDDD"
LOWER: tuple[str, Any] = (COLOURS[2], "-")
HIGHER: tuple[str, Any] = (COLOURS[3], (0, (4, 1.5)))
SAME: tuple[str, Any] = ("#888888", (0, (1, 1)))
"""Colour and dashes of a participant for whom the first condition has the lower, the higher, the same value."""

STARS = "One asterisk: p < .05, two: p < .005"


@dataclass(frozen=True)
class NotDrawn:
    """A figure that cannot be drawn, and the sentence that says why."""

    name: str
    title: str
    reason: str


@dataclass(frozen=True, eq=False)
class Plate:
    """A figure that is ready to be drawn at any width (in inches), and the numbers behind it as a table of texts."""

    name: str
    title: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    draw: Callable[[float], Any]


def study_figures(analysis: Analysis) -> list[Plate | NotDrawn]:
    """Every figure of a study, in the order of the report."""
    return [
        regret_over_time(analysis),
        paired_slopes(analysis),
        *(curve_grid(analysis, grid) for grid in analysis.grids),
        *_no_grids(analysis),
        survey_bars(analysis),
        population_split(analysis),
    ]


# Words


def _value(value: float | None, form: Callable[[float], str] = number) -> str:
    return DASH if value is None or not math.isfinite(value) else form(value)


def _p(p: float | None) -> str:
    return DASH if p is None else p_value(p).removeprefix("p ").removeprefix("= ")


def interval(low: float | None, high: float | None) -> str:
    """Limits in square brackets."""
    return DASH if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _people(analysis: Analysis, many: int) -> str:
    return count(many, "simulated participant" if analysis.simulated else "participant")


def _labels(analysis: Analysis) -> list[str]:
    return [condition_label(analysis.design, name) for name in analysis.measures.conditions]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _wrapped(text: str, width: int, most: int = 3) -> str:
    """A text on a few lines."""
    return "\n".join(textwrap.wrap(text, width, max_lines=most, placeholder=" …", break_on_hyphens=True)) or text


def _level(analysis: Analysis) -> str:
    return f"{100 * (1 - analysis.plan.alpha):g} %"


def _nobody(analysis: Analysis) -> str:
    return "" if len(analysis.measures) else "Nobody is left to analyse."


def _described(analysis: Analysis, measure: str) -> dict[str, Description]:
    """Mean and spread of a measure by condition, of everybody."""
    rows: Sequence[Described] = analysis.described
    return {row.condition: row.description for row in rows if row.measure == measure and not row.question}


def paired_result(analysis: Analysis, measure: str, pair: Sequence[str]) -> Result | None:
    """The test that compares a measure between two conditions: the planned one, where there is one."""
    for row in analysis.section("hypothesis"):
        same = row.measure == measure and set(row.compares) == set(pair) and len(row.compares) == 2
        if same and not row.group and not row.finding.test.startswith("RM ANOVA"):
            return row
    return None


def _corrected(rows: Sequence[Result | None]) -> str:
    some = any(row is not None and row.finding.p_adjusted is not None for row in rows)
    return ", after Holm's correction" if some else ""


# The sheet


def _sheet(width: float, height: float, title: str, about: str) -> Any:
    """An empty figure with its heading, on no screen and in no global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    heading = {"x": 0.12 / width, "ha": "left", "va": "top", "gid": "heading"}
    figure.text(y=1 - 0.07 / height, s=_fitting(title, width, LETTERS + 1.5), fontsize=LETTERS + 1.5, **heading)
    figure.text(
        y=1 - 0.27 / height, s=_fitting(about, width, LETTERS - 0.5), fontsize=LETTERS - 0.5, color=GREY, **heading
    )
    return figure


def _fitting(text: str, width: float, size: float) -> str:
    """As much of a text as fits on one line of the figure."""
    most = int((width - 0.2) / (0.0083 * size))
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def _panels(
    figure: Any,
    down: int,
    across: int,
    *,
    left: float,
    right: float,
    bottom: float,
    top: float,
    gap: float,
    rise: float,
) -> list[Any]:
    """Panels in a grid; all distances in inches: margins, and the gaps between panels."""
    width, height = figure.get_size_inches()
    wide = (width - left - right - gap * (across - 1)) / across
    high = (height - top - bottom - rise * (down - 1)) / down
    return [
        figure.add_axes(
            (
                (left + place % across * (wide + gap)) / width,
                (height - top - (place // across + 1) * high - place // across * rise) / height,
                wide / width,
                high / height,
            )
        )
        for place in range(down * across)
    ]


def _key_shape(labels: Sequence[str], width: float) -> tuple[int, float]:
    """Columns in which a legend of these labels fits, and how high it is, in inches."""
    each = 0.62 + 0.058 * max(len(label) for label in labels)
    columns = max(1, min(len(labels), int((width - 0.1) / each)))
    return columns, 0.07 + 0.165 * math.ceil(len(labels) / columns)


def _keys(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    """A legend on the left under the heading."""
    columns, _ = _key_shape(labels, figure.get_size_inches()[0])
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


def _bare(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_axisbelow(True)


def _colour(place: int) -> str:
    return COLOURS[place % len(COLOURS)]


# Regret over time


def regret_drawing(analysis: Analysis) -> Drawing | None:
    """Task regret over the rounds, a line for each condition with data; None: there is none."""
    measured = analysis.measures
    lines = []
    for c, label in enumerate(_labels(analysis)):
        curves = _whole(measured.mean_curves[:, c])
        if len(curves):
            stats = summarise(curves)
            lines.append(
                Line(
                    name=measured.conditions[c],
                    label=f"{label} (n{SPACE}={SPACE}{len(curves)})",
                    number=c,
                    rounds=measured.points,
                    mean=np.array(stats.mean),
                    se=np.array([math.nan if se is None else se for se in stats.se]),
                    median=np.array(stats.median),
                    q10=np.array(stats.q10),
                    q90=np.array(stats.q90),
                    factor=measured.design.problem.team_factor,
                )
            )
    if not lines:
        return None
    return Drawing(
        name="regret",
        title="Regret over time",
        fixed=analysis.design.title,
        runs=len(measured),
        horizon=analysis.design.rounds,
        lines=tuple(lines),
        levels=(),
    )


def task_drawing(drawing: Drawing) -> Drawing:
    """The same with every line in task regret."""
    return replace(drawing, lines=tuple(replace(line, factor=1.0) for line in drawing.lines))


def _whole(curves: Array) -> Array:
    return curves[np.isfinite(curves).all(axis=1)] if curves.size else curves[:0]


def regret_over_time(analysis: Analysis) -> Plate | NotDrawn:
    """Cumulative task regret by condition: the mean with its standard error, and the median with the middle 80 %."""
    design, title = analysis.design, "Task regret over time"
    drawing = regret_drawing(analysis)
    if drawing is None:
        why = _nobody(analysis) or f"Nobody has played every {_episode(analysis)} of a condition to the end."
        return NotDrawn("regret", title, why)
    task = task_drawing(drawing)
    several = f", the mean over the {count(design.episodes, episode_word(design))}" if design.episodes > 1 else ""
    empty = [label for c, label in enumerate(_labels(analysis)) if c not in {line.number for line in task.lines}]
    alone = any(not np.isfinite(line.se).all() for line in task.lines)
    caption = (
        f"Cumulative task regret after each round{several}, of {_people(analysis, len(analysis.measures))}. The band "
        f"is one standard error to either side of the mean; around the median, it holds the middle 80 %."
        + (" A single participant has no standard error, so there is no band around the mean." if alone else "")
        + (f" No whole data: {', '.join(empty)}." if empty else "")
    )
    keep = _thinned(len(task.lines[0].rounds), 20)
    rows = [
        (
            f"{task.lines[0].rounds[k]:,}",
            *(
                _value(float(part[k]))
                for line in task.lines
                for part in (line.mean, line.se, line.median, line.q10, line.q90)
            ),
        )
        for k in keep
    ]
    heads = [
        f"{line.label}: {part}" for line in task.lines for part in ("mean", "standard error", "median", "10 %", "90 %")
    ]
    return Plate(
        name="regret",
        title=title,
        caption=caption,
        columns=("Round", *heads),
        rows=tuple(rows),
        draw=lambda width: _draw_regret(analysis, task, width),
    )


def _episode(analysis: Analysis) -> str:
    return "round" if analysis.design.episodes == 1 else episode_word(analysis.design)


def _thinned(size: int, most: int) -> list[int]:
    """Places evenly along a curve, with the first and the last."""
    return np.unique(np.rint(np.linspace(0, size - 1, min(size, most))).astype(int)).tolist()  # type: ignore[no-any-return]


def _draw_regret(analysis: Analysis, task: Drawing, width: float) -> Any:
    stacked = width < 5.0
    height = HEAD + (5.0 if stacked else 2.8)
    about = f"{analysis.design.title}; {_people(analysis, len(analysis.measures))}"
    figure = _sheet(width, height, "Cumulative task regret", about)
    shape = (2, 1) if stacked else (1, 2)
    means, medians = _panels(figure, *shape, left=0.62, right=1.12, bottom=0.45, top=HEAD + 0.25, gap=1.55, rise=0.75)
    for line in task.lines:
        _draw_line(means, line, (line.mean, line.mean - line.se, line.mean + line.se), 0.16)
        _draw_line(medians, line, (line.median, line.q10, line.q90), 0.16)
    means.set_title("mean ± standard error", loc="left", fontsize=LETTERS)
    medians.set_title("median, middle 80 %", loc="left", fontsize=LETTERS)
    for axes, ends in (
        (means, [float(line.mean[-1]) for line in task.lines]),
        (medians, [float(line.median[-1]) for line in task.lines]),
    ):
        top = axes.get_ylim()[1]
        top = top if top > 1e-9 else 1.0
        axes.set_ylim(0, top)
        _finish(axes, task.horizon)
        labels = [_wrapped(line.label, 16) for line in task.lines]
        gap = 0.075 * max(label.count("\n") + 1.4 for label in labels)
        places = _spread([end / top for end in ends], gap)
        for line, label, end, place in zip(task.lines, labels, ends, places, strict=True):
            axes.annotate(
                label,
                xy=(1.0, end / top),
                xytext=(1.045, place),
                xycoords="axes fraction",
                textcoords="axes fraction",
                va="center",
                fontsize=SMALL,
                annotation_clip=False,
                arrowprops={
                    "arrowstyle": "-",
                    "relpos": (0.0, 0.5),
                    "color": _colour(line.number),
                    "linewidth": 1.2,
                    "shrinkA": 1.0,
                    "shrinkB": 1.0,
                },
            )
    means.set_ylabel("task regret")
    if stacked:
        medians.set_ylabel("task regret")
    return figure


# Paired slopes


def paired_slopes(analysis: Analysis) -> Plate | NotDrawn:
    """One line per participant from condition to condition: task regret and good outcomes."""
    measured, title = analysis.measures, "Every participant in every condition"
    if len(measured.conditions) < 2:
        return NotDrawn("slopes", title, "The design has one condition only, so there is nothing to compare.")
    panels = [_Slopes(analysis, measure) for measure in (TASK_REGRET, GOOD)]
    if not any(panel.lines for panel in panels):
        why = _nobody(analysis) or "Nobody has whole data in two conditions."
        return NotDrawn("slopes", title, why)
    labels = _labels(analysis)
    heads = [f"{_capital(panel.name)}, {label}" for panel in panels for label in labels]
    rows = [
        (who, *(_value(float(value)) for panel in panels for value in panel.values[i]))
        for i, who in enumerate(measured.participants)
    ]
    few = [f"{panel.name}: {panel.said}" for panel in panels]
    lone = "" if len(measured) > 1 else " A single participant has no interval."
    return Plate(
        name="slopes",
        title=title,
        caption=(
            f"Each thin line is one of {_people(analysis, len(measured))}; large marks are means with their "
            f"{_level(analysis)} intervals. {_capital('; '.join(few))}. {STARS}"
            f"{_corrected([row for panel in panels for row in panel.tests])}.{lone}"
        ),
        columns=("Participant", *heads),
        rows=tuple(rows),
        draw=lambda width: _draw_slopes(analysis, panels, width),
    )


class _Slopes:
    """One measure of everybody, and what is known about it."""

    def __init__(self, analysis: Analysis, measure: str) -> None:
        measured = analysis.measures
        self.name = measure_name(analysis.design, measure)
        self.from_zero = measure == TASK_REGRET
        self.values = measured.totals(measure)
        there = np.isfinite(self.values)
        self.lines = np.flatnonzero(there.sum(axis=1) >= 2).tolist()
        self.means = [_described(analysis, measure)[name] for name in measured.conditions]
        self.pairs = contrasts(analysis.design)
        self.columns = [tuple(map(measured.column, pair)) for pair in self.pairs]
        self.tests = [paired_result(analysis, measure, pair) for pair in self.pairs]
        self.single = len(self.pairs) == 1
        if not self.single:
            self.said = f"{len(self.lines)} with values in two conditions or more"
            return
        first, second = (self.values[:, column] for column in self.columns[0])
        self.differences = first - second
        whole = np.isfinite(self.differences)
        label = condition_label(analysis.design, self.pairs[0][0])
        found = [int((sign * self.differences[whole] > 0).sum()) for sign in (-1, 1)]
        same = int(whole.sum()) - sum(found)
        self.said = f"lower with {label} for {found[0]} of {int(whole.sum())}, higher for {found[1]}, equal for {same}"

    def style(self, i: int) -> tuple[str, Any]:
        """Colour and dashes of a participant."""
        if not self.single:
            return SAME[0], "-"
        if not math.isfinite(self.differences[i]):
            return SAME
        return LOWER if self.differences[i] < 0 else HIGHER if self.differences[i] > 0 else SAME


def _verdict_text(row: Result | None) -> str:
    if row is None or row.p is None:
        return "not tested"
    return f"{row.mark} {p_value(row.p)}".strip()


def _draw_slopes(analysis: Analysis, panels: Sequence[_Slopes], width: float) -> Any:
    stacked = width < 5.0 or not panels[0].single
    keys = _slope_keys(analysis, panels[0])
    high = _key_shape(list(keys), width)[1] if keys else 0.0
    height = HEAD + high + (6.2 if stacked else 3.2)
    about = f"{analysis.design.title}; {_people(analysis, len(analysis.measures))}"
    figure = _sheet(width, height, "Every participant in every condition", about)
    shape = (2, 1) if stacked else (1, 2)
    across = width - 0.85 if stacked else (width - 1.6) / 2
    last = len(panels[0].means) - 1
    longest = max(len(_value(one.mean)) for panel in panels for one in panel.means)
    room = 0.32 + 0.07 * longest  # inches, for the numbers beside the outer marks
    margin = max(0.62, room * last / max(across - 2 * room, 0.6))
    letters = max(6, int(across / (last + 2 * margin) / 0.069))
    labels = [_wrapped(label, letters) for label in _labels(analysis)]
    bottom = 0.22 + 0.15 * max(label.count("\n") + 1 for label in labels)
    drawn = _panels(
        figure, *shape, left=0.7, right=0.15, bottom=bottom, top=HEAD + high + 0.12, gap=0.75, rise=bottom + 0.2
    )
    for axes, panel in zip(drawn, panels, strict=True):
        _draw_slope_panel(axes, panel, labels, margin)
    if keys:
        from matplotlib.lines import Line2D

        handles = [Line2D([], [], color=colour, linestyle=dash, linewidth=1.2) for colour, dash in keys.values()]
        _keys(figure, handles, list(keys))
    return figure


def _slope_keys(analysis: Analysis, panel: _Slopes) -> dict[str, tuple[str, Any]]:
    """What the colours of the participants mean; nothing where there are more than two conditions."""
    if not panel.single:
        return {}
    label = condition_label(analysis.design, panel.pairs[0][0])
    return {f"lower with {_fitting(label, 2.2, SMALL)}": LOWER, "higher": HIGHER, "equal": SAME}


def _draw_slope_panel(axes: Any, panel: _Slopes, labels: Sequence[str], margin: float) -> None:
    places = np.arange(len(labels))
    thick = 0.8 if len(panel.lines) > 30 else 1.2
    for i in panel.lines:
        colour, dash = panel.style(i)
        there = np.isfinite(panel.values[i])
        axes.plot(places[there], panel.values[i][there], color=colour, linestyle=dash, linewidth=thick, alpha=0.6)
    last = len(labels) - 1
    for c, description in enumerate(panel.means):
        if description.mean is None:
            continue
        x = places[c] + (-0.13 if c == 0 else 0.13 if c == last else 0.0)
        if description.low is not None and description.high is not None:
            axes.plot([x, x], [description.low, description.high], color=_colour(c), linewidth=2.2, zorder=4)
        axes.plot([x], [description.mean], "os^D"[c % 4], color=_colour(c), markersize=6, zorder=5)
        side = "right" if c < last else "left"
        shift = -0.09 if c < last else 0.09
        axes.annotate(
            number(description.mean), (x + shift, description.mean), ha=side, va="center", fontsize=LETTERS, zorder=6
        )
    shown = panel.values[np.isfinite(panel.values)]
    limits = [value for one in panel.means for value in (one.low, one.high) if value is not None]
    low, high = min([*shown.tolist(), *limits], default=0.0), max([*shown.tolist(), *limits], default=1.0)
    low = min(low, 0.0) if panel.from_zero else low
    span = high - low or max(abs(high), 1.0)
    tests = [
        (columns, row)
        for columns, row in zip(panel.columns, panel.tests, strict=True)
        if panel.single or (row is not None and row.mark)
    ]
    for level, (columns, row) in enumerate(tests):
        y = high + span * (0.06 + 0.12 * level)
        _bracket(axes, (min(columns), max(columns)), y, 0.02 * span, _verdict_text(row))
    below = 0.0 if panel.from_zero and low == 0.0 else 0.05 * span
    axes.set_ylim(low - below, high + span * (0.06 + 0.12 * max(len(tests), 0.3)))
    axes.set_xlim(-margin, last + margin)
    axes.set_xticks(places, labels)
    axes.set_ylabel(panel.name)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axes.grid(axis="y", color=FAINT, linewidth=0.6)
    _bare(axes)


def _bracket(axes: Any, ends: tuple[float, float], y: float, depth: float, text: str) -> None:
    left, right = ends
    axes.plot([left, left, right, right], [y - depth, y, y, y - depth], color="#000000", linewidth=0.8)
    axes.annotate(
        text, ((left + right) / 2, y), xytext=(0, 1.5), textcoords="offset points", ha="center", va="bottom",
        fontsize=LETTERS,
    )  # fmt: skip


# Grids of small panels


def curve_grid(analysis: Analysis, grid: Grid) -> Plate | NotDrawn:
    """A small panel for each participant, or each episode: both conditions over the rounds, with the paper's marks."""
    design = analysis.design
    first, second = (condition_label(design, name) for name in grid.compares)
    several = len(contrasts(design)) > 1
    people = grid.by == "participant"
    name = f"{grid.by}s" + (f"-{'-'.join(grid.compares)}" if several else "")
    title = f"{'Participant by participant' if people else f'{_capital(grid.by)} by {grid.by}'}" + (
        f": {first} and {second}" if several else ""
    )
    if not grid.rows:
        return NotDrawn(name, title, _nobody(analysis) or f"There is no {grid.by} to draw.")
    minis = [_Mini(analysis, grid, place) for place in range(len(grid.rows))]
    if not any(mini.n for mini in minis):
        why = _nobody(analysis) or f"Nobody has the same {episode_word(design)} whole in both conditions."
        return NotDrawn(name, title, why)
    total = len(grid.rows)
    who = _people(analysis, len(analysis.measures))
    what = who if people else f"{count(total, grid.by)}, {who}"
    over = f"{episode_word(design)}s" if people else f"{_people(analysis, 2)[2:]}"
    caption = (
        f"Cumulative task regret, mean over the {over} with one standard error; {what}. Lower with {first} for "
        f"{grid.lower} of {total}: {grid.significant} with p < .05, {grid.strong} of them with p < .005 (paired t "
        f"tests over the {over}, not corrected; {grid.corrected} after Holm's correction over all {total}). "
        f"Significantly higher: {grid.opposed}."
        + (f" Not tested: {grid.untested}." if grid.untested else "")
        + f" {STARS}. {grid.note}"
        + (f" Only the first {MOST_PANELS} are drawn; the table has all." if total > MOST_PANELS else "")
    ).strip()
    heads = (
        _capital(grid.by), f"M, {first}", f"M, {second}", "Difference", f"{_level(analysis)} interval", "Test", "p",
        "p (Holm)", "Mark", "n", "Note",
    )  # fmt: skip
    return Plate(
        name=name,
        title=title,
        caption=caption,
        columns=heads,
        rows=tuple(_grid_row(row) for row in grid.rows),
        draw=lambda width: _draw_grid(analysis, grid, minis[:MOST_PANELS], title, width),
    )


def _no_grids(analysis: Analysis) -> list[NotDrawn]:
    """Why a design has no grids."""
    if analysis.grids:
        return []
    one = len(analysis.design.conditions) == 1
    why = (
        "The design has one condition only, so there is nothing to compare."
        if one
        else "Each condition is one episode, so nothing can be tested within a participant or an episode."
    )
    return [NotDrawn("grids", "Participant by participant, episode by episode", why)]


def _grid_row(row: GridRow) -> tuple[str, ...]:
    found = row.finding
    means = [_value(group.mean) for group in found.groups[:2]] or [DASH, DASH]
    return (
        row.label,
        *means,
        _value(found.estimate),
        interval(found.estimate_low, found.estimate_high),
        statistic(found) or DASH,
        _p(found.p),
        _p(found.p_adjusted),
        row.mark,
        f"{found.n}",
        found.note,
    )


class _Mini:
    """The curves of one small panel: those participants or episodes that have both conditions."""

    def __init__(self, analysis: Analysis, grid: Grid, place: int) -> None:
        measured = analysis.measures
        self.row = grid.rows[place]
        columns = [measured.column(name) for name in grid.compares]
        chosen = measured.curves[place] if grid.by == "participant" else measured.curves[:, :, place].swapaxes(0, 1)
        pair = chosen[columns]
        whole = np.isfinite(pair).all(axis=(0, 2))
        self.n = int(whole.sum())
        keep = _thinned(len(measured.points), MINI_POINTS)
        self.rounds = measured.points[keep]
        self.parts = []
        for c, curves in zip(columns, pair[:, whole][:, :, keep], strict=True):
            if self.n:
                mean = curves.mean(axis=0)
                se = curves.std(axis=0, ddof=1) / math.sqrt(self.n) if self.n > 1 else np.zeros(len(keep))
                self.parts.append((c, mean, se))

    @property
    def top(self) -> float:
        """The highest point of the panel."""
        return max((float((mean + se).max()) for _, mean, se in self.parts), default=0.0)


def _draw_grid(analysis: Analysis, grid: Grid, minis: Sequence[_Mini], title: str, width: float) -> Any:
    even = len(minis) % 5 == 0 and len(minis) % 6 != 0
    across = min(3 if width < 5.0 else 5 if even else 6, len(minis))
    down = math.ceil(len(minis) / across)
    columns = sorted(analysis.measures.column(name) for name in grid.compares)
    names = [_fitting(_labels(analysis)[c], 2.6, SMALL) for c in columns]
    top_margin = HEAD + _key_shape(names, width)[1] + 0.22
    height = top_margin + 0.46 + 0.98 * down - 0.3
    about = f"{analysis.design.title}; {_people(analysis, len(analysis.measures))}"
    figure = _sheet(width, height, title, about)
    drawn = _panels(figure, down, across, left=0.56, right=0.1, bottom=0.46, top=top_margin, gap=0.12, rise=0.3)
    top = 1.05 * max(mini.top for mini in minis) or 1.0
    horizon = analysis.design.rounds
    for place, axes in enumerate(drawn):
        if place >= len(minis):
            axes.set_visible(False)
            continue
        mini = minis[place]
        _draw_mini(axes, mini)
        axes.set_ylim(0, top)
        axes.set_xlim(0, horizon)
        axes.set_yticks([tick for k, tick in enumerate(steps(top)) if k % 2 == 0])
        axes.set_xticks([0, horizon])
        axes.tick_params(labelsize=SMALL, length=2.0, pad=2.0)
        axes.tick_params(labelleft=place % across == 0, labelbottom=place + across >= len(minis))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        for label, side in zip(axes.get_xticklabels(), ("left", "right"), strict=False):  # some panels have no labels
            label.set_horizontalalignment(side)
        axes.grid(axis="y", color=FAINT, linewidth=0.5)
        _bare(axes)
    middle = (0.46 + height - top_margin) / 2 / height
    figure.text(0.12 / width, middle, "task regret", rotation=90, ha="center", va="center")
    figure.text(0.5, 0.12 / height, "round", ha="center", va="center")
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=_colour(c), linestyle=DASHES[c % len(DASHES)], linewidth=1.6) for c in columns]
    _keys(figure, handles, names)
    return figure


def _draw_mini(axes: Any, mini: _Mini) -> None:
    row = mini.row
    name = _fitting(row.label, 0.85, SMALL)
    said = " higher" if row.mark and row.lower is False else ""
    axes.set_title(f"{name} {row.mark}{said}".rstrip(), loc="left", fontsize=SMALL, pad=2.5)
    for c, mean, se in mini.parts:
        rounds = np.concatenate([[0], mini.rounds])
        centre, spread = np.concatenate([[0.0], mean]), np.concatenate([[0.0], se])
        axes.fill_between(rounds, centre - spread, centre + spread, color=_colour(c), alpha=0.2, linewidth=0)
        axes.plot(rounds, centre, color=_colour(c), linestyle=DASHES[c % len(DASHES)], linewidth=1.3)
    if not mini.n:
        axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", fontsize=SMALL, color=GREY)
    elif row.finding.p is None:
        axes.text(0.04, 0.82, "not tested", transform=axes.transAxes, fontsize=SMALL, color=GREY)


# The survey


def survey_bars(analysis: Analysis) -> Plate | NotDrawn:
    """Mean agreement with every item by condition, with intervals and the paper's asterisks."""
    measured, design = analysis.measures, analysis.design
    title = "What the participants said"
    if not np.isfinite(measured.survey).any():
        return NotDrawn("survey", title, _nobody(analysis) or "Nobody has answered the survey.")
    groups = [_Bars(analysis, f"{SURVEY}{item.id}") for item in design.survey.items] + [_Bars(analysis, SCORE)]
    scale = f"from 1 ({design.survey.low}) to {design.survey.points} ({design.survey.high})"
    tests = [test for group in groups for _, test in group.tests]
    untested = any(test is None or test.p is None for test in tests)
    constant = [group.name for group in groups[:-1] if group.constant]
    turned = any(measured.reversed)
    caption = (
        f"Mean agreement {scale} of {_people(analysis, len(measured))}, with {_level(analysis)} intervals."
        + (
            " Items marked (reversed) speak against the AI: there, less is better; in the score they are turned round."
            if turned
            else " The score is the mean of all items."
        )
        + (f" {STARS}{_corrected(tests)}; what has no mark is not significant" if tests else "")
        + (", and where it says 'not tested', no test was possible" if tests and untested else "")
        + ("." if tests else "")
        + (f" Everybody gave one and the same answer: {', '.join(constant)}." if constant else "")
    )
    labels = _labels(analysis)
    rows = [
        (group.name, group.text, labels[c], f"{one.n}", _value(one.mean), _value(one.sd), interval(one.low, one.high))
        for group in groups
        for c, one in enumerate(group.means)
    ]
    return Plate(
        name="survey",
        title=title,
        caption=caption,
        columns=("Item", "Statement", "Condition", "n", "M", "SD", f"{_level(analysis)} interval"),
        rows=tuple(rows),
        draw=lambda width: _draw_survey(analysis, groups, width),
    )


class _Bars:
    """One item of the survey, or the score, in every condition."""

    def __init__(self, analysis: Analysis, measure: str) -> None:
        design, measured = analysis.design, analysis.measures
        items = {item.id: item for item in design.survey.items}
        item = items.get(measure.removeprefix(SURVEY)) if measure != SCORE else None
        self.name = "score" if item is None else item.id
        self.text = "Mean of all items, reversed ones turned round" if item is None else item.text
        self.turned = item is not None and item.reversed
        found = _described(analysis, measure)
        self.means = [found[name] for name in measured.conditions]
        self.tests = [
            (tuple(map(measured.column, pair)), paired_result(analysis, measure, pair)) for pair in contrasts(design)
        ]
        given = measured.totals(measure)
        given = given[np.isfinite(given)]
        self.constant = len(given) > 1 and float(np.ptp(given)) == 0.0


BAR = 0.19
"""Inches of one bar."""


def _draw_survey(analysis: Analysis, groups: Sequence[_Bars], width: float) -> Any:
    design = analysis.design
    sets = len(design.conditions)
    wide = width > 5.0
    each = max(BAR * sets + 0.16, 0.54 if wide else 0.36)
    names = [_fitting(label, 2.6, SMALL) for label in _labels(analysis)]
    keys = _key_shape(names, width)[1] + 0.06
    bottom = 0.46 if wide else 0.62
    height = HEAD + keys + bottom + each * (len(groups) + 0.25)
    about = f"{design.title}; {_people(analysis, len(analysis.measures))}"
    figure = _sheet(width, height, "What the participants said", about)
    (axes,) = _panels(
        figure,
        1,
        1,
        left=2.75 if wide else 0.95,
        right=0.95 if wide else 0.75,
        bottom=bottom,
        top=HEAD + keys,
        gap=0,
        rise=0,
    )
    points = design.survey.points
    thick = BAR / each
    middles = []
    for place, group in enumerate(groups):
        middle = place + (0.25 if place == len(groups) - 1 else 0.0)
        middles.append(middle)
        for c, one in enumerate(group.means):
            _draw_bar(axes, middle + (c - (sets - 1) / 2) * thick, c, one, thick)
        _draw_marks(axes, group, middle, sets, thick, points)
    axes.set_xlim(1, points + 0.15)
    axes.set_ylim(middles[-1] + 0.5, -0.5)
    axes.set_xticks(range(1, points + 1))
    axes.set_yticks([])
    ends = (f"1: {design.survey.low}", f"{points}: {design.survey.high}")
    room = (width - 3.7) / 2 if wide else width - 1.0
    axes.set_xlabel(("; " if wide else "\n").join(_fitting(end, room, LETTERS) for end in ends))
    axes.grid(axis="x", color=FAINT, linewidth=0.6)
    _bare(axes)
    _survey_labels(axes, groups, middles, wide)
    from matplotlib.patches import Patch

    handles = [
        Patch(facecolor=_colour(c), hatch="" if c % 2 == 0 else "////", edgecolor="#FFFFFF", linewidth=0.0)
        for c in range(sets)
    ]
    _keys(figure, handles, names)
    return figure


def _draw_bar(axes: Any, y: float, c: int, one: Description, thick: float) -> None:
    if one.mean is None:
        axes.text(1.05, y, "no answers", va="center", fontsize=SMALL, color=GREY)
        return
    hatch = "" if c % 2 == 0 else "////"
    axes.barh(y, one.mean - 1, thick * 0.92, left=1, color=_colour(c), hatch=hatch, edgecolor="#FFFFFF", linewidth=0.0)
    high = one.mean
    if one.low is not None and one.high is not None:
        axes.plot([one.low, one.high], [y, y], color="#000000", linewidth=1.0, clip_on=False)
        high = one.high
    axes.annotate(
        number(one.mean), (high, y), xytext=(3, 0), textcoords="offset points", va="center", fontsize=SMALL,
        annotation_clip=False,
    )  # fmt: skip


def _draw_marks(axes: Any, group: _Bars, middle: float, sets: int, thick: float, points: int) -> None:
    """The asterisks, right of the bars, each with a bracket around the two that it is about."""
    level = 0
    for columns, row in group.tests:
        tested = row is not None and row.p is not None
        mark = row.mark if row is not None else ""
        if tested and not mark:
            continue
        if not tested and sets > 2:
            continue  # several brackets would hide each other; the caption speaks of them
        ends = [middle + (c - (sets - 1) / 2) * thick for c in columns]
        x = 1.0 + 0.09 + 0.05 * level  # in shares of the axes' width
        transform = axes.get_yaxis_transform()
        if tested:
            axes.plot(
                [x - 0.012, x, x, x - 0.012],
                [min(ends), min(ends), max(ends), max(ends)],
                color="#000000",
                linewidth=0.8,
                transform=transform,
                clip_on=False,
            )
        axes.text(
            x + 0.015,
            middle,
            mark if tested else "not\ntested",
            transform=transform,
            va="center",
            fontsize=LETTERS + 1.5 if tested else SMALL,
            color="#000000" if tested else GREY,
        )
        level += 1


def _survey_labels(axes: Any, groups: Sequence[_Bars], middles: Sequence[float], wide: bool) -> None:
    for group, middle in zip(groups, middles, strict=True):
        reverse = " (reversed)" if group.turned else ""
        if wide:
            lines = _wrapped(group.text, 46, 2)
            head = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "ha": "right"}
            shift = 5.5 * (lines.count("\n") + 1)
            axes.annotate(
                _wrapped(group.name, 28, 1) + reverse, (0, middle), xytext=(-7, shift), va="center", fontsize=LETTERS,
                **head,
            )  # fmt: skip
            axes.annotate(lines, (0, middle), xytext=(-7, -6.5), va="center", fontsize=SMALL, color=GREY, **head)
        else:
            text = _wrapped(group.name, 13, 2) + reverse.replace(" ", "\n")
            axes.annotate(
                text, (0, middle), xycoords=("axes fraction", "data"), xytext=(-5, 0), textcoords="offset points",
                ha="right", va="center", fontsize=SMALL,
            )  # fmt: skip


# Two populations


def population_split(analysis: Analysis) -> Plate | NotDrawn:
    """Task regret of those who research AI and of the others, in each condition."""
    title = "Two populations"
    question = researcher_question(analysis.design)
    if question is None:
        return NotDrawn("population", title, "The design has no question that splits the participants.")
    given = analysis.measures.group(question.id)
    groups = [_Split(analysis, c, question.id, question.choices, given) for c in range(len(analysis.design.conditions))]
    if not any(one.n for group in groups for one in group.means):
        why = _nobody(analysis) or f"Nobody who answered {question.id!r} has whole data."
        return NotDrawn("population", title, why)
    silent = sum(answer is None for answer in given)
    answers = ", ".join(f"{sum(answer == choice for answer in given)} {choice!r}" for choice in question.choices)
    empty = [choice for k, choice in enumerate(question.choices) if not any(group.means[k].n for group in groups)]
    caption = (
        f"Task regret by the answer to {question.text!r}, of {_people(analysis, len(analysis.measures))} ({answers}"
        + (f", {silent} without answer" if silent else "")
        + f"). Points are participants, large marks means with their {_level(analysis)} intervals. {STARS}"
        + f"{_corrected([group.test for group in groups])} (Welch's t test)."
        + (f" Nobody with data answered {' or '.join(map(repr, empty))}." if empty else "")
    )
    rows = [
        (group.label, choice, f"{one.n}", _value(one.mean), _value(one.sd), interval(one.low, one.high))
        for group in groups
        for choice, one in zip(question.choices, group.means, strict=True)
    ]
    return Plate(
        name="population",
        title=title,
        caption=caption,
        columns=("Condition", question.text, "n", "M", "SD", f"{_level(analysis)} interval"),
        rows=tuple(rows),
        draw=lambda width: _draw_population(analysis, groups, question.text, width),
    )


class _Split:
    """The two populations in one condition."""

    def __init__(self, analysis: Analysis, c: int, question: str, choices: Sequence[str], given: Sequence[Any]) -> None:
        self.c, self.label, self.choices = c, _labels(analysis)[c], choices
        condition = analysis.measures.conditions[c]
        values = analysis.measures.totals(TASK_REGRET)[:, c]
        samples = (values[[answer == choice for answer in given]] for choice in choices)
        self.samples = [sample[np.isfinite(sample)] for sample in samples]
        found = {
            row.answer: row.description
            for row in analysis.described
            if row.measure == TASK_REGRET and row.condition == condition and row.question == question
        }
        self.means = [found[choice] for choice in choices]
        self.test = next(
            (
                row
                for row in analysis.section("hypothesis")
                if row.group == question and row.compares == (condition,) and row.measure == TASK_REGRET
            ),
            None,
        )


def _draw_population(analysis: Analysis, groups: Sequence[_Split], question: str, width: float) -> Any:
    across = min(len(groups), 4 if width > 5.0 else 2)
    down = math.ceil(len(groups) / across)
    letters = int((width - 0.74 - 0.2 * (across - 1)) / across / 0.069)
    titles = [_wrapped(group.label, letters, 2) for group in groups]
    extra = 0.15 if any("\n" in title for title in titles) else 0.0
    height = HEAD + 0.34 + extra + (2.75 + extra) * down
    about = f"{analysis.design.title}; {_people(analysis, len(analysis.measures))}; {question}"
    figure = _sheet(width, height, "Task regret in two populations", about)
    drawn = _panels(
        figure, down, across, left=0.62, right=0.12, bottom=0.5, top=HEAD + 0.26 + extra, gap=0.2, rise=0.95 + extra
    )
    everything = [value for group in groups for sample in group.samples for value in sample.tolist()]
    everything += [one.high for group in groups for one in group.means if one.high is not None]
    lowest = min([0.0, *(one.low for group in groups for one in group.means if one.low is not None)])
    top = max(everything, default=1.0) or 1.0
    for place, axes in enumerate(drawn):
        if place >= len(groups):
            axes.set_visible(False)
            continue
        _draw_split(axes, groups[place], top)
        axes.set_title(titles[place], loc="left", fontsize=LETTERS)
        axes.set_ylim(lowest - 0.03 * top, top * 1.2)
        axes.tick_params(labelleft=place % across == 0)
        if place % across == 0:
            axes.set_ylabel("task regret")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        axes.grid(axis="y", color=FAINT, linewidth=0.6)
        _bare(axes)
    return figure


def _draw_split(axes: Any, group: _Split, top: float) -> None:
    colour = _colour(group.c)
    for k, (sample, one) in enumerate(zip(group.samples, group.means, strict=True)):
        shifts = [((0.618034 * i) % 1.0 - 0.5) * 0.34 for i in range(len(sample))]
        axes.plot(k - 0.12 + np.array(shifts), np.sort(sample), ".", color=colour, alpha=0.45, markersize=4)
        if one.mean is None:
            axes.text(k, 0.03 * top, "no data", ha="center", fontsize=SMALL, color=GREY)
            continue
        x = k + 0.22
        if one.low is not None and one.high is not None:
            axes.plot([x, x], [one.low, one.high], color="#000000", linewidth=1.8)
        axes.plot([x], [one.mean], "os"[k % 2], color="#000000", markersize=5)
        axes.annotate(
            number(one.mean), (x, one.mean), xytext=(5, 0), textcoords="offset points", va="center", fontsize=SMALL
        )
    if len(group.choices) >= 2:
        _bracket(axes, (0, 1), top * 1.07, 0.02 * top, _verdict_text(group.test))
    axes.set_xlim(-0.5, len(group.choices) - 0.25)
    axes.set_xticks(
        range(len(group.choices)),
        [f"{_wrapped(choice, 14, 2)}\nn = {one.n}" for choice, one in zip(group.choices, group.means, strict=True)],
    )


# On a page


def drawn_svg(plate: Plate, width: float) -> str:
    """The figure as SVG text; equal numbers give equal text."""
    import matplotlib

    with _DRAWING, matplotlib.rc_context(_STYLE):
        kept = BytesIO()
        plate.draw(width).savefig(kept, format="svg", metadata=METADATA["svg"])
    return kept.getvalue().decode()


_THEMED = {colour.lower(): f"var(--c{place})" for place, colour in enumerate(COLOURS)} | {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    GREY.lower(): "var(--soft)",
    "#888888": "var(--soft)",
    FAINT.lower(): "var(--grid)",
}
"""Colours of the figures as properties of the page's style sheet, so that one drawing serves light and dark."""


def inline_svg(svg: str, name: str, label: str, kind: str) -> str:
    """A figure as part of a page: no heading, no style of its own, the page's colours and letters, ids of its own."""
    found = re.search(r'<svg[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>(.*)</svg>', svg, re.DOTALL)
    assert found is not None
    width, height, inner = float(found[1]), float(found[2]), found[3]
    inner = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", inner, flags=re.DOTALL)
    inner = re.sub(r'<g id="heading">.*?</g>', "", inner, flags=re.DOTALL)
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', inner))
    inner = re.sub(r' id="([^"]+)"', lambda id: id[0] if id[1] in wanted else "", inner)
    inner = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{name}-{kind}-", inner)
    inner = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', inner)  # an attribute takes no property
    inner = re.sub(r"#[0-9a-f]{6}\b", lambda colour: _THEMED.get(colour[0], colour[0]), inner)
    inner = re.sub(r"font-family: 'DejaVu Sans'", "font-family: system-ui, sans-serif", inner)
    inner = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", inner)
    inner = re.sub(r"(\d\.\d\d)\d+", r"\1", inner)
    inner = re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d)\d+", r"\1", path[0]), inner)
    inner = re.sub(r"\s*\n\s*", " ", inner)
    inner = re.sub(r"> +<", "><", inner.strip())
    top = 72 * (HEAD - 0.08)
    return (
        f'<svg class="drawn {kind}" viewBox="0 {top:g} {width:g} {height - top:g}" role="img" '
        f'aria-label="{escape(label)}">{inner}</svg>'
    )
