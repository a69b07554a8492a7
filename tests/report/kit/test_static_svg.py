"""Static SVG: elements that nothing breaks out of, lines with few points, figures that take the page's colours."""

from __future__ import annotations

import math

import pytest
from markupsafe import Markup

from cobandit.report.kit.palette import COLOURS
from cobandit.report.kit.static_svg import coordinate, element, inline_figure, simplified, steps, text_at


def test_attributes_and_texts_are_escaped_and_markup_is_not() -> None:
    nasty = "<b>\"'&"
    drawn = element("g", {"class": nasty}, nasty, Markup("<path/>"))
    assert drawn == '<g class="&lt;b&gt;&#34;&#39;&amp;">&lt;b&gt;&#34;&#39;&amp;<path/></g>'
    assert element("path", {"d": "M0 0"}) == '<path d="M0 0"/>'


def test_places_have_one_decimal_at_most() -> None:
    assert [coordinate(value) for value in (13.0, 13.04, 13.06, -0.5)] == ["13", "13", "13.1", "-0.5"]
    assert text_at(1, 2, "a") == '<text x="1" y="2">a</text>'
    assert text_at(1, 2, "a", "end") == '<text x="1" y="2" text-anchor="end">a</text>'


def test_a_figure_on_a_page_has_the_pages_colours_and_ids_of_its_own() -> None:
    svg = (
        '<svg viewBox="0 0 100 200"><style>*{}</style><!-- a --><g id="heading"><text>title</text></g>'
        '<g id="axes_1"><defs><path id="m1" d="M0.123456 1"/></defs>'
        f'<use href="#m1" style="fill: {COLOURS[1].lower()}; stroke: #000000"/></g></svg>'
    )
    inline = inline_figure(svg, "survey", 'a "label"', "narrow", 0.5)
    assert inline == (
        '<svg class="drawn narrow" viewBox="0 36 100 164" role="img" aria-label="a &#34;label&#34;"><g><defs>'
        '<path id="survey-narrow-m1" d="M0.1 1"/></defs>'
        '<use href="#survey-narrow-m1" style="fill: var(--c1); stroke: var(--ink)"/></g></svg>'
    )


def test_a_line_is_simplified_within_its_tolerance() -> None:
    points = [(float(x), math.sqrt(x) * 20) for x in range(101)]
    corners = simplified(points, 0.5)
    assert corners[0] == points[0]
    assert corners[-1] == points[-1]
    assert len(corners) < 20
    for x, y in points:
        left = max(point for point in corners if point[0] <= x)
        right = min((point for point in corners if point[0] >= x), key=lambda point: point[0])
        share = 0.0 if right == left else (x - left[0]) / (right[0] - left[0])
        assert abs(left[1] + share * (right[1] - left[1]) - y) <= 1.0
    assert simplified(points[:1], 0.5) == points[:1]


@pytest.mark.parametrize("top", [0.013, 0.9, 1.0, 4.7, 52.5, 999.0, 1_000.0, 2_000.0, 10_000.0])
def test_axes_have_a_handful_of_round_ticks(top: float) -> None:
    ticks = steps(top)
    assert 4 <= len(ticks) <= 8
    assert ticks[0] == 0.0
    assert ticks[-1] <= top * (1 + 1e-9)
