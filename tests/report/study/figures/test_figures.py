"""The figures of a study: they show the numbers of the analysis, or say why there is nothing to show."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from cobandit.analysis import Analysis, analyse_data
from cobandit.base.records import Table
from cobandit.report.kit.figure import NARROW, WIDE, figure_svg
from cobandit.report.kit.palette import COLOURS
from cobandit.report.kit.static_svg import inline_figure
from cobandit.report.study.figures import FIGURES, study_figures
from cobandit.report.study.figures.base import NotDrawn, StudyFigure
from cobandit.report.study.figures.sheet import HEAD, SMALL
from cobandit.studies import StudyData, StudyDesign, load_design


def svg_of(figure: StudyFigure | NotDrawn, width: float) -> str:
    assert isinstance(figure, StudyFigure)
    return figure_svg(lambda: figure.draw(width))


def casino(episodes: int = 3, rounds: int = 15) -> StudyDesign:
    return replace(load_design("casino"), rounds=rounds, episodes=episodes, practice=None)


def test_every_figure_of_both_designs_is_there(burger: Analysis, casinos: Analysis) -> None:
    assert [figure.name for figure in study_figures(burger)] == ["regret", "slopes", "grids", "survey", "population"]
    figures = study_figures(casinos)
    names = ["regret", "slopes", "participants", "casinos", "survey", "population"]
    assert [figure.name for figure in figures] == names
    assert all(isinstance(figure, StudyFigure) for figure in figures)


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_each_is_drawn_as_told_with_the_number_of_participants(casinos: Analysis, width: float) -> None:
    for figure in study_figures(casinos):
        svg = svg_of(figure, width)
        assert isinstance(figure, StudyFigure)
        assert "5 simulated participants" in figure.caption
        if width == WIDE:
            assert "5 simulated participants" in svg, "a figure may travel without its page"
        sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)]
        assert min(sizes) >= SMALL
        assert {len(row) for row in figure.rows} == {len(figure.columns)}


def test_equal_numbers_give_equal_drawings(burger: Analysis) -> None:
    for name in ("slopes", "survey", "population", "regret"):
        first, second = (FIGURES[name](burger)[0] for _ in range(2))
        assert svg_of(first, NARROW) == svg_of(second, NARROW)


def test_on_a_page_a_figure_takes_the_pages_colours_and_ids_of_its_own(burger: Analysis) -> None:
    (figure,) = FIGURES["survey"](burger)
    inline = inline_figure(svg_of(figure, NARROW), "survey", 'a "label"', kind="narrow", head=HEAD)
    assert inline.startswith('<svg class="drawn narrow" viewBox="0 36 252 ')
    assert not any(colour.lower() in inline.lower() for colour in COLOURS)
    assert "var(--c0)" in inline
    ids = re.findall(r' id="([^"]+)"', inline)
    assert ids
    assert all(id.startswith("survey-narrow-") for id in ids)
    assert set(re.findall(r"url\(#([^)]+)\)", inline)) <= set(ids)
    assert "<style" not in inline
    assert figure.title not in inline, "the page has a heading of its own"
    assert "DejaVu" not in inline


People = Callable[..., StudyData]
ODD: dict[str, Callable[[People], StudyData]] = {
    "nobody": lambda people: people(load_design("burger"), 0),
    "one": lambda people: people(load_design("burger"), 1),
    "neutral": lambda people: people(load_design("burger"), 2, "neutral"),
    "silent": lambda people: people(load_design("burger"), 3, "none"),
    "one condition": lambda people: people(_first(load_design("burger")), 3),
    "no casino": lambda people: people(casino(), 0),
    "one in the casino": lambda people: people(casino(), 1),
    "one condition in the casino": lambda people: people(_first(casino()), 2),
    "three conditions": lambda people: people(_third(casino(2, 6)), 4),
}


def _plain(design: StudyDesign) -> StudyDesign:
    """For any number of sets: partners and attention checks go by them, and translations name them."""
    return replace(design, partners=(), attention=(), languages=design.languages[:1], translations=Table())


def _first(design: StudyDesign) -> StudyDesign:
    return replace(_plain(design), conditions=design.conditions[:1])


def _third(design: StudyDesign) -> StudyDesign:
    more = replace(design.conditions[0], name="another-one-with-quite-a-long-name")
    return replace(_plain(design), conditions=(*design.conditions, more))


@pytest.mark.parametrize("name", ODD)
def test_odd_data_are_drawn_or_spoken_of(people: People, name: str) -> None:
    analysis = analyse_data(ODD[name](people))
    undrawn = []
    for figure in study_figures(analysis):
        if isinstance(figure, NotDrawn):
            undrawn.append(figure.name)
            assert figure.reason.endswith(".")
            continue
        text = " ".join([figure.caption, *figure.columns, *(cell for row in figure.rows for cell in row)])
        text += re.sub(r"<[^>]*>", " ", svg_of(figure, NARROW).split("</defs>", 1)[1])
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


def test_reasons_are_plain(people: People) -> None:
    nobody = study_figures(analyse_data(ODD["no casino"](people)))
    assert {figure.reason for figure in nobody if isinstance(figure, NotDrawn)} == {
        "No participant remains for the analysis."
    }
    silent = study_figures(analyse_data(ODD["silent"](people)))
    assert "No participant has answered the survey." in [
        figure.reason for figure in silent if isinstance(figure, NotDrawn)
    ]
