"""Figures on a page take the page's colours, have unique ids and are short."""

from __future__ import annotations

from cobandit.report.kit.palette import COLOURS
from cobandit.report.kit.static_svg import inline_figure


def test_a_figure_on_a_page_has_the_pages_colours_and_ids_of_its_own() -> None:
    svg = (
        '<svg viewBox="0 0 100 200"><style>*{}</style><!-- a --><g id="heading"><text>title</text></g>'
        '<g id="axes_1"><defs><path id="m1" d="M 0.123456 1 L 2 3.45678 "/></defs>'
        f'<use href="#m1" style="fill: {COLOURS[1].lower()}; stroke: #000000"/></g></svg>'
    )
    inline = inline_figure(svg, "survey", 'a "label"', kind="narrow", head=0.5)
    assert inline == (
        '<svg class="drawn narrow" viewBox="0 36 100 164" role="img" aria-label="a &#34;label&#34;"><g><defs>'
        '<path id="survey-narrow-m1" d="M0.1 1L2 3.4"/></defs>'
        '<use href="#survey-narrow-m1" style="fill: var(--c1); stroke: var(--ink)"/></g></svg>'
    )
