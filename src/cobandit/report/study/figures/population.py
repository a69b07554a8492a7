"""Two populations: task regret by the answer to the question that splits the participants."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from cobandit.analysis import Analysis
from cobandit.analysis.plan import TASK_REGRET, researcher_question
from cobandit.base.numbers import APA
from cobandit.report.kit.figure import LETTERS, bare_axes, faint_grid, short_numbers
from cobandit.report.kit.palette import GREY, colour_of
from cobandit.report.study.figures.base import (
    STARS,
    NotDrawn,
    StudyFigure,
    about_line,
    condition_labels,
    correction,
    level_text,
    nobody,
    people,
    sample_cells,
    verdict_text,
)
from cobandit.report.study.figures.sheet import HEAD, SMALL, Margins, bracket, panels_in, sheet, wrapped


def population_split(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Task regret of those who research AI and of the others, in each condition."""
    title = "Two populations"
    question = researcher_question(analysis.design)
    if question is None:
        return [NotDrawn("population", title, "The design has no question that splits the participants.")]
    given = analysis.measures.group(question.id)
    groups = [_Split(analysis, c, question.id, question.choices, given) for c in range(len(analysis.design.conditions))]
    if not any(sample.n for group in groups for sample in group.means):
        why = nobody(analysis) or f"Nobody who answered {question.id!r} has whole data."
        return [NotDrawn("population", title, why)]
    silent = sum(answer is None for answer in given)
    answers = ", ".join(f"{sum(answer == choice for answer in given)} {choice!r}" for choice in question.choices)
    empty = [choice for k, choice in enumerate(question.choices) if not any(group.means[k].n for group in groups)]
    caption = (
        f"Task regret by the answer to {question.text!r}, of {people(analysis, len(analysis.measures))} ({answers}"
        + (f", {silent} without answer" if silent else "")
        + f"). Points are participants, large marks means with their {level_text(analysis)} intervals. {STARS}"
        + f"{correction([group.test for group in groups])} (Welch's t test)."
        + (f" Nobody with data answered {' or '.join(map(repr, empty))}." if empty else "")
    )
    rows = [
        (group.label, choice, *sample_cells(sample))
        for group in groups
        for choice, sample in zip(question.choices, group.means, strict=True)
    ]
    return [
        StudyFigure(
            name="population",
            title=title,
            caption=caption,
            columns=("Condition", question.text, "n", "M", "SD", f"{level_text(analysis)} interval"),
            rows=tuple(rows),
            draw=lambda width: _draw_population(analysis, groups, question.text, width),
        )
    ]


class _Split:
    """The two populations in one condition."""

    def __init__(self, analysis: Analysis, c: int, question: str, choices: Sequence[str], given: Sequence[Any]) -> None:
        self.c, self.label, self.choices = c, condition_labels(analysis)[c], choices
        condition = analysis.measures.conditions[c]
        values = analysis.measures.totals(TASK_REGRET)[:, c]
        samples = (values[[answer == choice for answer in given]] for choice in choices)
        self.samples = [sample[np.isfinite(sample)] for sample in samples]
        by_answer = {
            row.answer: row.description
            for row in analysis.described
            if row.measure == TASK_REGRET and row.condition == condition and row.question == question
        }
        self.means = [by_answer[choice] for choice in choices]
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
    titles = [wrapped(group.label, letters, 2) for group in groups]
    extra = 0.15 if any("\n" in title for title in titles) else 0.0
    height = HEAD + 0.34 + extra + (2.75 + extra) * down
    about = f"{about_line(analysis)}; {question}"
    figure = sheet(width, height, "Task regret in two populations", about)
    margins = Margins(0.62, 0.12, 0.5, HEAD + 0.26 + extra)
    drawn = panels_in(figure, (down, across), margins, gap=0.2, rise=0.95 + extra)
    everything = [value for group in groups for sample in group.samples for value in sample.tolist()]
    everything += [sample.high for group in groups for sample in group.means if sample.high is not None]
    lowest = min([0.0, *(sample.low for group in groups for sample in group.means if sample.low is not None)])
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
        short_numbers(axes.yaxis)
        faint_grid(axes)
        bare_axes(axes)
    return figure


def _draw_split(axes: Any, group: _Split, top: float) -> None:
    colour = colour_of(group.c)
    for k, (sample, summary) in enumerate(zip(group.samples, group.means, strict=True)):
        shifts = [((0.618034 * i) % 1.0 - 0.5) * 0.34 for i in range(len(sample))]
        axes.plot(k - 0.12 + np.array(shifts), np.sort(sample), ".", color=colour, alpha=0.45, markersize=4)
        if summary.mean is None:
            axes.text(k, 0.03 * top, "no data", ha="center", fontsize=SMALL, color=GREY)
            continue
        x = k + 0.22
        if summary.low is not None and summary.high is not None:
            axes.plot([x, x], [summary.low, summary.high], color="#000000", linewidth=1.8)
        axes.plot([x], [summary.mean], "os"[k % 2], color="#000000", markersize=5)
        axes.annotate(
            APA.format(summary.mean),
            (x, summary.mean),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=SMALL,
        )
    if len(group.choices) >= 2:
        bracket(axes, (0, 1), top * 1.07, 0.02 * top, verdict_text(group.test))
    axes.set_xlim(-0.5, len(group.choices) - 0.25)
    axes.set_xticks(
        range(len(group.choices)),
        [
            f"{wrapped(choice, 14, 2)}\nn = {summary.n}"
            for choice, summary in zip(group.choices, group.means, strict=True)
        ],
    )
