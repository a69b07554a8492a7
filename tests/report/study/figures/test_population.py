"""Two populations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cobandit.analysis import Analysis
from cobandit.base.numbers import APA
from cobandit.report.kit.figure import NARROW, WIDE
from cobandit.report.study.figures.base import StudyFigure
from cobandit.report.study.figures.population import population_split


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_researchers_stand_left_and_the_others_right_over_time(burger: Analysis, width: float) -> None:
    (figure,) = population_split(burger)
    assert isinstance(figure, StudyFigure)
    given = np.array(burger.measures.group("ai_researcher"))
    panels = figure.draw(width).axes
    titles = [" ".join(axes.get_title(loc="left").split()) for axes in panels]
    assert titles == [f"Do you do research on artificial intelligence? {choice}" for choice in ("Yes", "No")]
    for axes, choice in zip(panels, ("Yes", "No"), strict=True):
        lines = {line.get_gid(): line.get_ydata() for line in axes.get_lines() if line.get_gid()}
        for c, condition in enumerate(burger.measures.conditions):
            curves = burger.measures.mean_curves[given == choice, c]
            assert lines[condition][1:] == pytest.approx(curves.mean(axis=0)), "the mean over time, round by round"
            assert len(lines[condition]) == 21
    if width == WIDE:
        left, right = (axes.get_position().x0 for axes in panels)
        assert left < right


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_labels_of_lines_that_end_at_one_place_do_not_overlap(burger: Analysis, width: float) -> None:
    curves = burger.measures.curves.copy()
    curves[:, 1] = curves[:, 0]
    (figure,) = population_split(replace(burger, measures=replace(burger.measures, curves=curves)))
    assert isinstance(figure, StudyFigure)
    drawn = figure.draw(width)
    for axes in drawn.axes:
        end = APA.format(
            float(next(line.get_ydata()[-1] for line in axes.get_lines() if line.get_gid() == "naive-ucb"))
        )
        assert sum(end in text.get_text() for text in axes.texts) == 2
        boxes = [text.get_window_extent(drawn.canvas.get_renderer()) for text in axes.texts]
        # An annotation's box takes in its line to the curve; of the text alone it is the part right of the panel.
        right = axes.get_window_extent().x1
        spans = sorted((box.y0, box.y1) for box in map(text_box, axes.texts) if box.x1 > right)
        assert len(spans) == len(boxes) == 2
        assert spans[0][1] <= spans[1][0]


def text_box(text: Any) -> Any:
    """The box of an annotation's text, without the line that ties it to a curve."""
    from matplotlib.text import Text

    return Text.get_window_extent(text)


def test_the_table_has_both_tests_and_the_caption_names_them(burger: Analysis) -> None:
    (figure,) = population_split(burger)
    assert isinstance(figure, StudyFigure)
    given = burger.measures.group("ai_researcher")
    assert [row[2] for row in figure.rows] == [str(given.count("Yes")), str(given.count("No"))] * 2
    mean = burger.measures.totals("task_regret")[[answer == "Yes" for answer in given], 0].mean()
    assert figure.rows[0][3] == APA.format(float(mean))
    welch, student = (burger.result(f"P-regret-naive-ucb{test}").finding for test in ("", "/student"))
    assert (welch.test, student.test) == ("Welch t", "Student t")
    assert figure.rows[0][6].endswith(f"= {APA.format(welch.statistic)}")
    assert figure.rows[0][8] == f"t(10) = {APA.format(student.statistic)}"
    assert "Welch's t: " in figure.caption
    assert "Student's t: " in figure.caption
