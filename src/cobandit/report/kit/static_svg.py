"""Figures of Matplotlib as part of a page: they need no script and take the colours of the page's style sheet.

One drawing serves light and dark pages, because each colour of the palette becomes a property such as ``--c0``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cobandit.report.kit.palette import COLOURS, EASY, FAINT, GREY, HARD, css_colour

if TYPE_CHECKING:
    from markupsafe import Markup

_THEMED = {colour.lower(): css_colour(place) for place, colour in enumerate(COLOURS)} | {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    GREY.lower(): "var(--soft)",
    "#888888": "var(--soft)",
    FAINT.lower(): "var(--grid)",
    EASY.lower(): "var(--good-back)",
    HARD.lower(): "var(--bad-back)",
}
"""Colours of the figures as properties of the page's style sheet."""


def inline_figure(svg: str, name: str, label: str, *, kind: str = "", head: float = 0.0) -> Markup:
    """Return a figure as an element of a page, with the page's colours and font, unique ids and no heading.

    ``kind`` is ``wide`` or ``narrow`` where there is a figure for each kind of screen; ``head`` is the height of the
    heading that is cut off, in inches.
    """
    from markupsafe import Markup

    match = re.search(r'<svg[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)"[^>]*>(.*)</svg>', svg, re.DOTALL)
    assert match is not None
    width, height, inner = float(match[1]), float(match[2]), match[3]
    inner = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", inner, flags=re.DOTALL)
    inner = re.sub(r'<g id="heading">.*?</g>', "", inner, flags=re.DOTALL)
    wanted = set(re.findall(r'(?:href="#|url\(#)([^")]+)', inner))
    inner = re.sub(r' id="([^"]+)"', lambda id: id[0] if id[1] in wanted else "", inner)
    prefix = f"{name}-{kind}-" if kind else f"{name}-"
    inner = re.sub(r'( id="|href="#|url\(#)', lambda reference: reference[0] + prefix, inner)
    inner = re.sub(r' fill="(#[0-9a-f]{6})"', r' style="fill: \1"', inner)  # an attribute takes no property
    inner = re.sub(r"#[0-9a-f]{6}\b", lambda colour: _THEMED.get(colour[0], colour[0]), inner)
    inner = inner.replace("; font-family: 'DejaVu Sans'", "").replace("font-family: 'DejaVu Sans'; ", "")
    inner = re.sub(r' transform="rotate\(-0 [^"]*\)"', "", inner)
    inner = re.sub(r"(\d\.\d\d)\d+", r"\1", inner)
    inner = re.sub(r' d="([^"]*)"', lambda path: f' d="{_short_path(path[1])}"', inner)
    inner = re.sub(r"\s*\n\s*", " ", inner)
    inner = re.sub(r"> +<", "><", inner.strip())
    inner = re.sub(r"; stroke-(?:dashoffset: 0|linecap: square|linejoin: miter)\b", "", inner)  # the style sheet's
    top = 72 * head
    return Markup('<svg class="{}" viewBox="0 {:g} {:g} {:g}" role="img" aria-label="{}">{}</svg>').format(
        f"drawn {kind}".strip(), top, width, height - top, label, Markup(inner)
    )


def _short_path(path: str) -> str:
    """Return a path to a tenth of a point, without the blanks that it does not need."""
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", re.sub(r"(\.\d)\d+", r"\1", path)).strip()
