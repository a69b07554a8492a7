"""Every participant in every condition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cobandit.analysis import Analysis, AnalysisPlan, Exclusions, analyse_data
from cobandit.base.numbers import APA
from cobandit.report.kit.figure import NARROW, WIDE
from cobandit.report.study.figures.base import StudyFigure
from cobandit.report.study.figures.regret import regret_drawing
from cobandit.report.study.figures.slopes import BETTER, SAME, WORSE, paired_slopes
from cobandit.studies import StudyData, load_design


def test_slopes_have_a_line_for_everybody_and_the_test_above(burger: Analysis) -> None:
    (figure,) = paired_slopes(burger)
    assert isinstance(figure, StudyFigure)
    values = burger.measures.totals("task_regret")
    axes = figure.draw(WIDE).axes[0]
    lines = [tuple(line.get_ydata()) for line in axes.get_lines() if len(line.get_ydata()) == 2 and line.get_alpha()]
    assert lines == [tuple(row) for row in values]
    difference = values[:, 1] - values[:, 0]
    counts = [int((difference < 0).sum()), int((difference > 0).sum()), int((difference == 0).sum())]
    assert f"for {counts[0]} of 12, higher for {counts[1]}, equal for {counts[2]}" in figure.caption
    p = burger.result("H1-regret").p
    assert p is not None
    assert any(f"{p:.3f}"[1:] in text.get_text() or "p >" in text.get_text() for text in axes.texts)
    assert figure.rows[3] == (
        burger.measures.participants[3],
        *(APA.format(x) for x in values[3]),
        *(APA.format(x) for x in burger.measures.totals("good")[3]),
    )


def test_green_means_better_in_both_panels(burger: Analysis) -> None:
    (figure,) = paired_slopes(burger)
    assert isinstance(figure, StudyFigure)
    drawn = figure.draw(WIDE)
    for axes, measure, sign in zip(drawn.axes, ("task_regret", "good"), (-1, 1), strict=True):
        values = burger.measures.totals(measure)
        aware = burger.measures.column("partner-aware-ucb")
        gains = sign * (values[:, aware] - values[:, 1 - aware])
        assert {True, False} <= set((gains > 0).tolist())
        colours = [
            line.get_color() for line in axes.get_lines() if len(line.get_ydata()) == 2 and line.get_alpha() is not None
        ]
        expected = [BETTER if gain > 0 else WORSE if gain < 0 else SAME for gain in gains]
        assert colours == [colour for colour, _ in expected]
    [legend] = drawn.legends
    assert legend.get_texts()[0].get_text() == "better with Partner-Aware UCB"
    assert "Better means less task regret and more satisfied customers." in figure.caption


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_large_numbers_find_room_beside_the_marks(burger: Analysis, width: float) -> None:
    large = replace(burger.described[0].description, mean=18136.04, low=18000.0, high=18300.0)
    enlarged = replace(burger, described=tuple(replace(row, description=large) for row in burger.described))
    (slopes,) = paired_slopes(enlarged)
    assert isinstance(slopes, StudyFigure)
    figure = slopes.draw(width)
    for axes in figure.axes:
        labels = [text for text in axes.texts if text.get_text() == "18,136.0"]
        assert len(labels) == 2
        box = axes.get_window_extent()
        for label in labels:
            extent = label.get_window_extent(figure.canvas.get_renderer())
            assert box.x0 < extent.x0
            assert extent.x1 < box.x1


def test_somebody_without_one_condition_is_left_out_of_the_lines_alone(people: Callable[..., StudyData]) -> None:
    data = people(load_design("burger"), 4)
    last = data.participants[3]
    broken = replace(last, status="dropped", episodes={0: last.episodes[0]})
    study = replace(data, participants=(*data.participants[:3], broken))
    plan = AnalysisPlan(study="burger", exclusions=Exclusions(unfinished=False))
    analysis = analyse_data(study, plan=plan)
    assert len(analysis.measures) == 4
    (figure,) = paired_slopes(analysis)
    assert isinstance(figure, StudyFigure)
    assert "of 3, higher" in figure.caption
    assert "\N{EN DASH}" in figure.rows[3]
    drawing = regret_drawing(analysis)
    assert drawing is not None
    assert sorted(line.label[-2] for line in drawing.lines) == ["3", "4"]
