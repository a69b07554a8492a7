"""The figures of a study: they show the numbers of the analysis, or say why there is nothing to show."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cobandit.analysis import Analysis, analyse_data
from cobandit.analysis.words import number
from cobandit.report.comparison import COLOURS
from cobandit.report.study_figures import (
    NARROW,
    SMALL,
    WIDE,
    NotDrawn,
    Plate,
    curve_grid,
    drawn_svg,
    inline_svg,
    paired_slopes,
    population_split,
    regret_drawing,
    regret_over_time,
    study_figures,
    survey_bars,
)
from cobandit.studies import StudyData, StudyDesign, load_design, rehearsed_data

AGAINST = ("insisting", "annoying", "alone")


def people(design: StudyDesign, count: int, answers: Any = "drawn") -> StudyData:
    orders = len(design.orders)
    return rehearsed_data(design, [("epsilon-greedy", i, i % orders) for i in range(count)], answers=answers)


def opinion(rng: np.random.Generator, plan: Any, place: int, item: str) -> int:
    """The partner-aware robot is liked better; everybody says 3 to one of the items."""
    if item == "easy":
        return 3
    aware = plan.design.orders[plan.order][place].startswith("partner")
    return int(np.clip(round((4.0 if aware != (item in AGAINST) else 2.0) + rng.normal()), 1, 5))


def casino(episodes: int = 3, rounds: int = 15) -> StudyDesign:
    return replace(load_design("casino"), rounds=rounds, episodes=episodes, practice=None)


@pytest.fixture(scope="module")
def burger() -> Analysis:
    return analyse_data(people(load_design("burger"), 12, opinion))


@pytest.fixture(scope="module")
def casinos() -> Analysis:
    return analyse_data(people(casino(), 5))


def plate(made: Plate | NotDrawn) -> Plate:
    assert isinstance(made, Plate)
    return made


def test_every_figure_of_both_designs_is_there(burger: Analysis, casinos: Analysis) -> None:
    assert [made.name for made in study_figures(burger)] == ["regret", "slopes", "grids", "survey", "population"]
    made = study_figures(casinos)
    assert [one.name for one in made] == ["regret", "slopes", "participants", "casinos", "survey", "population"]
    assert all(isinstance(one, Plate) for one in made)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_each_is_drawn_as_told_with_the_number_of_participants(casinos: Analysis, width: float) -> None:
    for made in study_figures(casinos):
        svg = drawn_svg(plate(made), width)
        assert "5 simulated participants" in plate(made).caption
        if width == WIDE:
            assert "5 simulated participants" in svg, "a figure may travel without its page"
        sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)]
        assert min(sizes) >= SMALL
        assert {len(row) for row in plate(made).rows} == {len(plate(made).columns)}


def test_equal_numbers_give_equal_drawings(burger: Analysis) -> None:
    for make in (paired_slopes, survey_bars, population_split, regret_over_time):
        assert drawn_svg(plate(make(burger)), NARROW) == drawn_svg(plate(make(burger)), NARROW)


def test_regret_over_time_is_that_of_the_participants(burger: Analysis) -> None:
    drawing = regret_drawing(burger)
    assert drawing is not None
    line = drawing.lines[1]
    curves = burger.measures.mean_curves[:, 1]
    assert np.allclose(line.mean, curves.mean(axis=0))
    assert np.allclose(line.se, curves.std(axis=0, ddof=1) / np.sqrt(12))
    assert line.label == "Partner-Aware UCB (n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}12)"
    made = plate(regret_over_time(burger))
    assert made.rows[-1][0] == "20"
    assert made.rows[-1][1] == number(float(burger.measures.mean_curves[:, 0, -1].mean()))
    figure = made.draw(WIDE)
    lines = {one.get_gid(): one.get_ydata() for one in figure.axes[0].get_lines() if one.get_gid() in ("naive-ucb",)}
    assert np.allclose(lines["naive-ucb"][1:], burger.measures.mean_curves[:, 0].mean(axis=0))


def test_slopes_have_a_line_for_everybody_and_the_test_above(burger: Analysis) -> None:
    made = plate(paired_slopes(burger))
    values = burger.measures.totals("task_regret")
    axes = made.draw(WIDE).axes[0]
    lines = [tuple(one.get_ydata()) for one in axes.get_lines() if len(one.get_ydata()) == 2 and one.get_alpha()]
    assert lines == [tuple(row) for row in values]
    difference = values[:, 1] - values[:, 0]
    counts = [int((difference < 0).sum()), int((difference > 0).sum()), int((difference == 0).sum())]
    assert f"for {counts[0]} of 12, higher for {counts[1]}, equal for {counts[2]}" in made.caption
    p = burger.result("H1-regret").p
    assert p is not None
    assert any(f"{p:.3f}"[1:] in text.get_text() or "p >" in text.get_text() for text in axes.texts)
    assert made.rows[3] == (
        burger.measures.participants[3],
        *(number(x) for x in values[3]),
        *(number(x) for x in burger.measures.totals("good")[3]),
    )


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_large_numbers_find_room_beside_the_marks(burger: Analysis, width: float) -> None:
    large = replace(burger.described[0].description, mean=18136.04, low=18000.0, high=18300.0)
    told = replace(burger, described=tuple(replace(one, description=large) for one in burger.described))
    figure = plate(paired_slopes(told)).draw(width)
    for axes in figure.axes:
        labels = [text for text in axes.texts if text.get_text() == "18,136.0"]
        assert len(labels) == 2
        box = axes.get_window_extent()
        for label in labels:
            extent = label.get_window_extent(figure.canvas.get_renderer())
            assert box.x0 < extent.x0
            assert extent.x1 < box.x1


def test_survey_bars_carry_the_asterisks_of_the_tests(burger: Analysis) -> None:
    made = plate(survey_bars(burger))
    axes = made.draw(WIDE).axes[0]
    ends = [bar.get_x() + bar.get_width() for bar in axes.patches]
    means = [one.description.mean for one in burger.described if one.measure.startswith("survey:")]
    assert ends[: len(means)] == pytest.approx(means)
    marks = [text.get_text() for text in axes.texts if set(text.get_text()) == {"*"}]
    tests = [burger.result(f"H2-{item}") for item in burger.measures.items] + [burger.result("survey-score")]
    assert marks == [row.mark for row in tests if row.mark]
    assert "**" in marks, "the made-up opinions should differ"
    assert "not\ntested" in [text.get_text() for text in axes.texts]
    assert "Everybody gave one and the same answer: easy." in made.caption
    assert "after Holm's correction" in made.caption


def test_grids_have_a_panel_for_each_with_its_mark(casinos: Analysis) -> None:
    grid = casinos.grids[0]
    made = plate(curve_grid(casinos, grid))
    panels = [axes for axes in made.draw(WIDE).axes if axes.get_visible()]
    assert len(panels) == len(grid.rows) == 5
    for axes, row in zip(panels, grid.rows, strict=True):
        title = axes.get_title(loc="left")
        assert title.startswith(row.label)
        assert title.count("*") == len(row.mark)
    assert f"for {grid.lower} of 5: {grid.significant} with p < .05, {grid.strong} of them" in made.caption
    ends = [line.get_ydata()[-1] for line in panels[2].get_lines()]
    i = 2
    pair = [casinos.measures.column(name) for name in grid.compares]
    assert ends == pytest.approx([casinos.measures.task_regret[i, c].mean() for c in pair])
    over = plate(curve_grid(casinos, casinos.grids[1]))
    ends = [line.get_ydata()[-1] for line in over.draw(NARROW).axes[1].get_lines()]
    assert ends == pytest.approx([casinos.measures.task_regret[:, c, 1].mean() for c in pair])


def test_a_significant_difference_the_other_way_is_called_higher(casinos: Analysis) -> None:
    grid = casinos.grids[0]
    worse = replace(grid.rows[0].finding, estimate=2.0, p=0.001)
    rows = (replace(grid.rows[0], finding=worse, mark="**"), *grid.rows[1:])
    figure = plate(curve_grid(casinos, replace(grid, rows=rows))).draw(WIDE)
    assert figure.axes[0].get_title(loc="left").endswith("** higher")


def test_populations_are_split_by_their_answer(burger: Analysis) -> None:
    made = plate(population_split(burger))
    given = burger.measures.group("ai_researcher")
    assert [row[2] for row in made.rows] == [str(given.count("Yes")), str(given.count("No"))] * 2
    axes = made.draw(WIDE).axes
    shown = axes[1].get_lines()[0].get_ydata()
    mine = burger.measures.totals("task_regret")[[answer == "Yes" for answer in given], 1]
    assert list(shown) == pytest.approx(sorted(mine))


def test_on_a_page_a_figure_takes_the_pages_colours_and_ids_of_its_own(burger: Analysis) -> None:
    made = plate(survey_bars(burger))
    inline = inline_svg(drawn_svg(made, NARROW), "survey", 'a "label"', "narrow")
    assert inline.startswith('<svg class="drawn narrow" viewBox="0 30.24 252 ')
    assert 'aria-label="a &quot;label&quot;"' in inline
    assert not any(colour.lower() in inline.lower() for colour in COLOURS)
    assert "var(--c0)" in inline
    ids = re.findall(r' id="([^"]+)"', inline)
    assert ids
    assert all(one.startswith("survey-narrow-") for one in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", inline)) <= set(ids)
    assert "<style" not in inline
    assert made.title not in inline, "the page has a heading of its own"
    assert "DejaVu" not in inline


Odd = Callable[[], StudyData]
ODD: dict[str, Odd] = {
    "nobody": lambda: people(load_design("burger"), 0),
    "one": lambda: people(load_design("burger"), 1),
    "neutral": lambda: people(load_design("burger"), 2, "neutral"),
    "silent": lambda: people(load_design("burger"), 3, "none"),
    "one condition": lambda: people(_first(load_design("burger")), 3),
    "no casino": lambda: people(casino(), 0),
    "one in the casino": lambda: people(casino(), 1),
    "one condition in the casino": lambda: people(_first(casino()), 2),
    "three conditions": lambda: people(_third(casino(2, 6)), 4),
}


def _first(design: StudyDesign) -> StudyDesign:
    return replace(design, conditions=design.conditions[:1])


def _third(design: StudyDesign) -> StudyDesign:
    more = replace(design.conditions[0], name="another-one-with-quite-a-long-name")
    return replace(design, conditions=(*design.conditions, more))


@pytest.mark.parametrize("name", ODD)
def test_odd_data_are_drawn_or_spoken_of(name: str) -> None:
    analysis = analyse_data(ODD[name]())
    undrawn = []
    for made in study_figures(analysis):
        if isinstance(made, NotDrawn):
            undrawn.append(made.name)
            assert made.reason.endswith(".")
            continue
        text = " ".join([made.caption, *made.columns, *(cell for row in made.rows for cell in row)])
        text += re.sub(r"<[^>]*>", " ", drawn_svg(made, NARROW).split("</defs>", 1)[1])
        assert re.search(r"\b(nan|none|inf|undefined)\b", text, re.IGNORECASE) is None
    expected = {
        "nobody": ["regret", "slopes", "grids", "survey", "population"],
        "one": ["grids"],
        "neutral": ["grids"],
        "silent": ["grids", "survey", "population"],
        "one condition": ["slopes", "grids"],
        "no casino": ["regret", "slopes", "participants", "casinos", "survey", "population"],
        "one in the casino": [],
        "one condition in the casino": ["slopes", "grids"],
        "three conditions": [],
    }
    assert undrawn == expected[name]


def test_reasons_are_plain() -> None:
    nobody = study_figures(analyse_data(ODD["no casino"]()))
    assert {made.reason for made in nobody if isinstance(made, NotDrawn)} == {"Nobody is left to analyse."}
    silent = study_figures(analyse_data(ODD["silent"]()))
    assert "Nobody has answered the survey." in [made.reason for made in silent if isinstance(made, NotDrawn)]


def test_somebody_without_one_condition_is_left_out_of_the_lines_alone() -> None:
    from cobandit.analysis import AnalysisPlan, Exclusions

    data = people(load_design("burger"), 4)
    last = data.participants[3]
    broken = replace(last, status="dropped", episodes={0: last.episodes[0]})
    study = replace(data, participants=(*data.participants[:3], broken))
    plan = AnalysisPlan(study="burger", exclusions=Exclusions(unfinished=False))
    analysis = analyse_data(study, plan=plan)
    assert len(analysis.measures) == 4
    made = plate(paired_slopes(analysis))
    assert "of 3, higher" in made.caption
    assert "\N{EN DASH}" in made.rows[3]
    drawing = regret_drawing(analysis)
    assert drawing is not None
    assert sorted(line.label[-2] for line in drawing.lines) == ["3", "4"]
