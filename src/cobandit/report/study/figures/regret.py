"""Regret over time: a line for each condition, the mean and the median side by side."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobandit.analysis import Analysis
from cobandit.analysis.plan import episode_word
from cobandit.base.numbers import APA, count
from cobandit.report.kit.drawing import Array, Drawing, draw_line, line_of
from cobandit.report.kit.figure import LETTERS, label_line_end, regret_axes, spread_labels
from cobandit.report.kit.palette import colour_of
from cobandit.report.kit.text import SPACE
from cobandit.report.study.figures.base import NotDrawn, StudyFigure, about_line, condition_labels, nobody, people
from cobandit.report.study.figures.sheet import HEAD, SMALL, Margins, panels_in, sheet, thinned, wrapped
from cobandit.stats import summarise


def regret_drawing(analysis: Analysis) -> Drawing | None:
    """Task regret over the rounds, a line for each condition with data; None: there is none."""
    measured = analysis.measures
    lines = []
    for c, label in enumerate(condition_labels(analysis)):
        curves = _whole(measured.mean_curves[:, c])
        if len(curves):
            lines.append(
                line_of(
                    summarise(curves),
                    measured.points,
                    name=measured.conditions[c],
                    label=f"{label} (n{SPACE}={SPACE}{len(curves)})",
                    number=c,
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


def _whole(curves: Array) -> Array:
    return curves[np.isfinite(curves).all(axis=1)] if curves.size else curves[:0]


def regret_over_time(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Cumulative task regret by condition: the mean with its standard error, and the median with the middle 80 %."""
    design, title = analysis.design, "Task regret over time"
    drawing = regret_drawing(analysis)
    if drawing is None:
        why = nobody(analysis) or f"Nobody has played every {_episode(analysis)} of a condition to the end."
        return [NotDrawn("regret", title, why)]
    task = drawing.in_task_regret()
    several = f", the mean over the {count(design.episodes, episode_word(design))}" if design.episodes > 1 else ""
    empty = [
        label for c, label in enumerate(condition_labels(analysis)) if c not in {line.number for line in task.lines}
    ]
    alone = any(not np.isfinite(line.se).all() for line in task.lines)
    caption = (
        f"Cumulative task regret after each round{several}, of {people(analysis, len(analysis.measures))}. The band "
        f"is one standard error to either side of the mean; around the median, it holds the middle 80 %."
        + (" A single participant has no standard error, so there is no band around the mean." if alone else "")
        + (f" No whole data: {', '.join(empty)}." if empty else "")
    )
    keep = thinned(len(task.lines[0].rounds), 20)
    rows = [
        (
            f"{task.lines[0].rounds[k]:,}",
            *(
                APA.format(float(part[k]))
                for line in task.lines
                for part in (line.mean, line.se, line.median, line.q10, line.q90)
            ),
        )
        for k in keep
    ]
    heads = [
        f"{line.label}: {part}" for line in task.lines for part in ("mean", "standard error", "median", "10 %", "90 %")
    ]
    return [
        StudyFigure(
            name="regret",
            title=title,
            caption=caption,
            columns=("Round", *heads),
            rows=tuple(rows),
            draw=lambda width: _draw_regret(analysis, task, width),
        )
    ]


def _episode(analysis: Analysis) -> str:
    return "round" if analysis.design.episodes == 1 else episode_word(analysis.design)


def _draw_regret(analysis: Analysis, task: Drawing, width: float) -> Any:
    stacked = width < 5.0
    height = HEAD + (5.0 if stacked else 2.8)
    about = about_line(analysis)
    figure = sheet(width, height, "Cumulative task regret", about)
    shape = (2, 1) if stacked else (1, 2)
    means, medians = panels_in(figure, shape, Margins(0.62, 1.12, 0.45, HEAD + 0.25), gap=1.55, rise=0.75)
    for line in task.lines:
        draw_line(means, line, line.mean_band, 0.16)
        draw_line(medians, line, line.median_band, 0.16)
    means.set_title("mean ± standard error", loc="left", fontsize=LETTERS)
    medians.set_title("median, middle 80 %", loc="left", fontsize=LETTERS)
    for axes, ends in (
        (means, [float(line.mean[-1]) for line in task.lines]),
        (medians, [float(line.median[-1]) for line in task.lines]),
    ):
        top = axes.get_ylim()[1]
        top = top if top > 1e-9 else 1.0
        axes.set_ylim(0, top)
        regret_axes(axes, task.horizon)
        labels = [wrapped(line.label, 16) for line in task.lines]
        gap = 0.075 * max(label.count("\n") + 1.4 for label in labels)
        places = spread_labels([end / top for end in ends], gap)
        for line, label, end, place in zip(task.lines, labels, ends, places, strict=True):
            label_line_end(axes, label, (end / top, place), colour_of(line.number), SMALL)
    means.set_ylabel("task regret")
    if stacked:
        medians.set_ylabel("task regret")
    return figure
