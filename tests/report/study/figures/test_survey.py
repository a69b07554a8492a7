"""What the participants said."""

from __future__ import annotations

import pytest

from cobandit.analysis import Analysis
from cobandit.report.kit.figure import WIDE
from cobandit.report.study.figures.base import StudyFigure
from cobandit.report.study.figures.survey import survey_bars


def test_survey_bars_carry_the_asterisks_of_the_tests(burger: Analysis) -> None:
    (figure,) = survey_bars(burger)
    assert isinstance(figure, StudyFigure)
    axes = figure.draw(WIDE).axes[0]
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    means = [row.description.mean for row in burger.described if row.measure.startswith("survey:")]
    assert ends[: len(means)] == pytest.approx(means)
    marks = [text.get_text() for text in axes.texts if set(text.get_text()) == {"*"}]
    tests = [burger.result(f"H2-{item}") for item in burger.measures.items] + [burger.result("survey-score")]
    assert marks == [row.mark for row in tests if row.mark]
    assert "**" in marks, "the made-up opinions should differ"
    assert "not\ntested" in [text.get_text() for text in axes.texts]
    assert "Everybody gave one and the same answer: easy." in figure.caption
    assert "after Holm's correction" in figure.caption
