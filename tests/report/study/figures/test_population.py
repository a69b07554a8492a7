"""Two populations."""

from __future__ import annotations

import pytest

from cobandit.analysis import Analysis
from cobandit.report.kit.figure import WIDE
from cobandit.report.study.figures.base import StudyFigure
from cobandit.report.study.figures.population import population_split


def test_populations_are_split_by_their_answer(burger: Analysis) -> None:
    (figure,) = population_split(burger)
    assert isinstance(figure, StudyFigure)
    given = burger.measures.group("ai_researcher")
    assert [row[2] for row in figure.rows] == [str(given.count("Yes")), str(given.count("No"))] * 2
    axes = figure.draw(WIDE).axes
    shown = axes[1].get_lines()[0].get_ydata()
    mine = burger.measures.totals("task_regret")[[answer == "Yes" for answer in given], 1]
    assert list(shown) == pytest.approx(sorted(mine))
