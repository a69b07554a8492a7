"""Grids of small panels."""

from __future__ import annotations

from dataclasses import replace

import pytest
from matplotlib.colors import to_hex

from cobandit.analysis import Analysis
from cobandit.report.kit.figure import NARROW, WIDE
from cobandit.report.kit.palette import EASY, HARD
from cobandit.report.study.figures.base import NotDrawn, StudyFigure
from cobandit.report.study.figures.grids import curve_grid


def drawn(figure: StudyFigure | NotDrawn) -> StudyFigure:
    assert isinstance(figure, StudyFigure)
    return figure


def test_grids_have_a_panel_for_each_with_its_mark(casinos: Analysis) -> None:
    grid = casinos.grids[0]
    figure = drawn(curve_grid(casinos, grid))
    panels = [axes for axes in figure.draw(WIDE).axes if axes.get_visible()]
    assert len(panels) == len(grid.rows) + 1 == 6
    for axes, row in zip(panels[:-1], grid.rows, strict=True):
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


def test_the_last_panel_of_the_participants_is_the_mean_of_all(casinos: Analysis) -> None:
    grid = casinos.grids[0]
    figure = drawn(curve_grid(casinos, grid))
    last = [axes for axes in figure.draw(WIDE).axes if axes.get_visible()][-1]
    assert last.get_title(loc="left") == "mean of all"
    pair = [casinos.measures.column(name) for name in grid.compares]
    means = [casinos.measures.task_regret[:, c].mean() for c in pair]
    assert [line.get_ydata()[-1] for line in last.get_lines()] == pytest.approx(means)
    assert "The last panel is the mean over all of them." in figure.caption
    episodes = drawn(curve_grid(casinos, casinos.grids[1]))
    titles = [axes.get_title(loc="left") for axes in episodes.draw(WIDE).axes if axes.get_visible()]
    assert [title.split(",")[0] for title in titles] == ["casino 1", "casino 2", "casino 3"]


def test_very_easy_and_very_hard_casinos_are_shaded_and_the_caption_has_the_rule(casinos: Analysis) -> None:
    grid = casinos.grids[1]
    rows = tuple(
        replace(row, mark="", shade=shade) for row, shade in zip(grid.rows, ("very easy", "", "very hard"), strict=True)
    )
    figure = drawn(curve_grid(casinos, replace(grid, rows=rows)))
    panels = [axes for axes in figure.draw(WIDE).axes if axes.get_visible()]
    colours = [to_hex(axes.get_facecolor()).upper() for axes in panels]
    assert colours == [EASY, "#FFFFFF", HARD]
    assert [axes.get_title(loc="left") for axes in panels] == ["casino 1, very easy", "casino 2", "casino 3, very hard"]
    assert "green, very easy, where both means lie at or below the lower quartile" in figure.caption
    assert "(very easy: casino 1; very hard: casino 3)" in figure.caption


def test_a_grid_of_team_regret_is_drawn_as_team_regret(casinos: Analysis) -> None:
    plan = replace(casinos.plan, regret="team")
    grid = replace(casinos.grids[1], measure=plan.regret_measure)
    figure = drawn(curve_grid(casinos, grid))
    assert figure.caption.startswith("Cumulative team regret")
    pair = [casinos.measures.column(name) for name in grid.compares]
    ends = [line.get_ydata()[-1] for line in figure.draw(WIDE).axes[1].get_lines()]
    assert ends == pytest.approx([0.7 * casinos.measures.task_regret[:, c, 1].mean() for c in pair])
