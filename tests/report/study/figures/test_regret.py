"""Regret over time: the curves of the participants."""

from __future__ import annotations

import numpy as np

from cobandit.analysis import Analysis
from cobandit.base.numbers import APA
from cobandit.report.kit.figure import WIDE
from cobandit.report.study.figures.base import StudyFigure
from cobandit.report.study.figures.regret import regret_drawing, regret_over_time


def test_regret_over_time_is_that_of_the_participants(burger: Analysis) -> None:
    drawing = regret_drawing(burger)
    assert drawing is not None
    line = drawing.lines[1]
    curves = burger.measures.mean_curves[:, 1]
    assert np.allclose(line.mean, curves.mean(axis=0))
    assert np.allclose(line.se, curves.std(axis=0, ddof=1) / np.sqrt(12))
    assert line.label == "Partner-Aware UCB (n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}12)"
    (figure,) = regret_over_time(burger)
    assert isinstance(figure, StudyFigure)
    assert figure.rows[-1][0] == "20"
    assert figure.rows[-1][1] == APA.format(float(burger.measures.mean_curves[:, 0, -1].mean()))
    lines = {line.get_gid(): line.get_ydata() for line in figure.draw(WIDE).axes[0].get_lines()}
    assert np.allclose(lines["naive-ucb"][1:], burger.measures.mean_curves[:, 0].mean(axis=0))
