"""A result in somebody's own axes, and in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import cobandit as cb

PROBLEM = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], [1.0, 0.5])


@pytest.fixture(scope="module")
def result() -> cb.Result:
    return cb.simulate(PROBLEM, cb.Team.of("naive-ucb"), 100, 30, 0, checkpoints=4)


def test_the_mean_within_its_standard_error(result: cb.Result) -> None:
    axes = Figure().subplots()
    assert result.plot(axes) is axes
    line: Any = axes.lines[0]
    assert len(axes.lines) == 1
    task = result.summary().task_regret
    assert line.get_xdata().tolist() == [0, 25, 50, 75, 100]
    assert line.get_ydata().tolist() == [0.0, *task.mean.tolist()]
    assert (line.get_label(), axes.get_xlabel(), axes.get_ylabel()) == ("naive-ucb", "round", "cumulative task regret")
    (band,) = axes.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert heights.max() == pytest.approx((task.mean + task.se).max())


def test_the_median_within_its_quantiles(result: cb.Result) -> None:
    axes = Figure().subplots()
    axes.set_ylabel("what is lost")
    result.plot(axes, regret="team", band="quantiles", label="ours", color="#123456", linewidth=3)
    line: Any = axes.lines[0]
    assert len(axes.lines) == 1
    assert line.get_ydata()[1:].tolist() == result.summary().team_regret.median.tolist()
    assert (line.get_label(), line.get_color(), line.get_linewidth()) == ("ours", "#123456", 3)
    assert axes.get_ylabel() == "what is lost"


def test_a_single_run_has_no_band() -> None:
    axes = Figure().subplots()
    cb.simulate(PROBLEM, cb.Team.of("optimal"), 10, 1, 0).plot(axes)
    assert len(axes.collections) == 0


def test_axes_are_made_where_none_are_given(result: cb.Result) -> None:
    import matplotlib.pyplot as plt

    axes = result.plot(band="none")
    assert len(axes.lines) == 1
    assert len(axes.collections) == 0
    plt.close(axes.figure)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"ax": 3}, "must be the Axes of matplotlib"),
        ({"band": "sd"}, "Known: se, quantiles, none"),
        ({"regret": "tasks"}, "Did you mean 'task'"),
    ],
)
def test_what_cannot_be_drawn_is_told(result: cb.Result, options: dict[str, object], said: str) -> None:
    with pytest.raises(cb.InvalidInput, match=said):
        result.plot(**options)


class Cells(HTMLParser):
    """The texts of a page's table."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())


def test_a_notebook_shows_problem_team_curve_and_table(result: cb.Result) -> None:
    html = result._repr_html_()
    assert html is not None
    reader = Cells()
    reader.feed(html)
    assert any(text.startswith("naive-ucb (") for text in reader.texts)
    assert any("means [[0.8, 0.4], [0.2, 0.6]]" in text for text in reader.texts)
    assert "<polyline" in html
    assert {"25", "50", "75", "100", "se", "median"} <= set(reader.texts)
    assert "<script" not in html


def test_names_in_a_notebook_are_escaped() -> None:
    class Odd(cb.NaiveUCB):
        name = "<b>odd</b>"

    html = cb.simulate(PROBLEM, cb.Team.of(Odd()), 10, 3, 0)._repr_html_()
    assert html is not None
    assert "<b>odd" not in html
    assert "&lt;b&gt;odd" in html


def test_a_summary_alone_is_shown_as_such() -> None:
    result = cb.simulate(PROBLEM, cb.Team.of("optimal"), 10, 50, 0, keep="summary")
    assert "Only the summary" in (result._repr_html_() or "")
    assert np.isfinite(result.plot(Figure().subplots()).lines[0].get_ydata()).all()
