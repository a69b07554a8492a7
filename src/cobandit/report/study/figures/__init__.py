"""The figures of an analysed human-AI study, for print and for the report page; one file per figure.

Each maker takes an analysis and returns figures that are ready to be drawn (`StudyFigure`), with captions and their
numbers, or a `NotDrawn` with the reason. Unusual data (no participant, one participant, one condition, constant
answers) give one or the other, never an error. Paper: Figs. "burger" and "casino" and those of the appendix.
"""

from __future__ import annotations

from collections.abc import Callable

from cobandit.analysis import Analysis
from cobandit.report.study.figures.base import NotDrawn, StudyFigure
from cobandit.report.study.figures.grids import curve_grids
from cobandit.report.study.figures.population import population_split
from cobandit.report.study.figures.regret import regret_over_time
from cobandit.report.study.figures.slopes import paired_slopes
from cobandit.report.study.figures.survey import survey_bars

Maker = Callable[[Analysis], list[StudyFigure | NotDrawn]]

FIGURES: dict[str, Maker] = {
    "regret": regret_over_time,
    "slopes": paired_slopes,
    "grids": curve_grids,
    "survey": survey_bars,
    "population": population_split,
}
"""Every figure of a study, in the order of the report."""


def study_figures(analysis: Analysis) -> list[StudyFigure | NotDrawn]:
    """Return every figure of a study, drawn or not, in the order of the report."""
    return [figure for make in FIGURES.values() for figure in make(analysis)]
