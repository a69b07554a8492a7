"""What the participants said."""

from __future__ import annotations

import pytest

from cobandit.analysis import Analysis
from cobandit.report.kit.figure import NARROW, WIDE
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
    assert "All participants gave the same answer: easy." in figure.caption
    assert "not corrected (as in the paper)" in figure.caption


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_bar_is_the_agreement_that_its_label_says(burger: Analysis, width: float) -> None:
    (figure,) = survey_bars(burger)
    assert isinstance(figure, StudyFigure)
    axes = figure.draw(width).axes[0]
    texts = [text.get_text().replace("\n", " ") for text in axes.texts]
    assert not any("reversed)" in text for text in texts), "no bar is turned round"
    against = [item.id for item in burger.design.survey.items if item.reversed]
    assert [text.split()[0] for text in texts if "less is better" in text] == against
    place = burger.measures.items.index("insisting")
    given = burger.measures.survey[:, :, place].mean(axis=0)
    bars = [bar.get_x() + bar.get_width() for bar in axes.patches[2 * place : 2 * place + 2]]
    assert bars == pytest.approx(given), "as it was answered"
