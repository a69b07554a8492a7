"""Two populations."""

from __future__ import annotations

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
    assert [axes.get_title(loc="left") for axes in panels] == ["ai researcher: Yes", "ai researcher: No"]
    for axes, choice in zip(panels, ("Yes", "No"), strict=True):
        lines = {line.get_gid(): line.get_ydata() for line in axes.get_lines() if line.get_gid()}
        for c, condition in enumerate(burger.measures.conditions):
            curves = burger.measures.mean_curves[given == choice, c]
            assert lines[condition][1:] == pytest.approx(curves.mean(axis=0)), "the mean over time, round by round"
            assert len(lines[condition]) == 21
    if width == WIDE:
        left, right = (axes.get_position().x0 for axes in panels)
        assert left < right


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
