"""Grids of small panels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cobandit.analysis import Analysis
from cobandit.report.kit.figure import NARROW, WIDE
from cobandit.report.study.figures.base import NotDrawn, StudyFigure
from cobandit.report.study.figures.grids import curve_grid


def drawn(figure: StudyFigure | NotDrawn) -> StudyFigure:
    assert isinstance(figure, StudyFigure)
    return figure


def test_grids_have_a_panel_for_each_with_its_mark(casinos: Analysis) -> None:
    grid = casinos.grids[0]
    figure = drawn(curve_grid(casinos, grid))
    panels = [axes for axes in figure.draw(WIDE).axes if axes.get_visible()]
    assert len(panels) == len(grid.rows) == 5
    for axes, row in zip(panels, grid.rows, strict=True):
        title = axes.get_title(loc="left")
        assert title.startswith(row.label)
        assert title.count("*") == len(row.mark)
    assert f"for {grid.lower} of 5: {grid.significant} with p < .05, {grid.strong} of them" in figure.caption
    ends = [line.get_ydata()[-1] for line in panels[2].get_lines()]
    i = 2
    pair = [casinos.measures.column(name) for name in grid.compares]
    assert ends == pytest.approx([casinos.measures.task_regret[i, c].mean() for c in pair])
    over = drawn(curve_grid(casinos, casinos.grids[1]))
    ends = [line.get_ydata()[-1] for line in over.draw(NARROW).axes[1].get_lines()]
    assert ends == pytest.approx([casinos.measures.task_regret[:, c, 1].mean() for c in pair])


def test_a_significant_difference_the_other_way_is_called_higher(casinos: Analysis) -> None:
    grid = casinos.grids[0]
    worse = replace(grid.rows[0].finding, estimate=2.0, p=0.001)
    rows = (replace(grid.rows[0], finding=worse, mark="**"), *grid.rows[1:])
    figure = drawn(curve_grid(casinos, replace(grid, rows=rows))).draw(WIDE)
    assert figure.axes[0].get_title(loc="left").endswith("** higher")
