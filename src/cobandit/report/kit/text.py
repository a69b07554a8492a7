"""Texts as people read them: small indices, spaces that do not break, statistics in the style of the APA."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cobandit.base.numbers import MINUS

if TYPE_CHECKING:
    from markupsafe import Markup

SPACE = "\N{NO-BREAK SPACE}"

_SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
_SYMBOL = re.compile(r"(?<![\w.])\$?([A-Za-z])_([0-9aehijklmnoprstuvx])\$?(?!\w)")


def with_subscripts(text: str) -> str:
    """Return a text for people, with ``p_1`` (or ``$p_1$``) as p with a small 1; needs no mathematics to be typeset."""
    return _SYMBOL.sub(lambda match: match[1] + match[2].translate(_SUBSCRIPTS), " ".join(text.split()))


def words(text: object) -> str:
    """Return any text for a page: escaped, without line breaks around equals signs."""
    return with_subscripts(str(text)).replace(" = ", f"{SPACE}={SPACE}")


def true_minus(text: str) -> str:
    """Return a number with a minus in place of the hyphen."""
    return text.replace("-", MINUS)


def capital(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


_STATISTICS = re.compile(r"(?<![\w.])(d_z|g_z|r_rb|SD|M|t|F|W|p|g|z|b)(?=\(| = | &lt; | &gt; )")


def apa(text: str) -> Markup:
    """Return numbers in APA style as markup: symbols in italics, small indices, real minus signs."""
    from markupsafe import Markup, escape

    def symbol(match: re.Match[str]) -> str:
        letter, _, index = match[1].partition("_")
        return f"<i>{letter}</i><sub>{index}</sub>" if index else f"<i>{letter}</i>"

    markup = _STATISTICS.sub(symbol, str(escape(text)))
    markup = re.sub(r"(?<=[= \[])-(?=[\d.])", MINUS, markup)
    return Markup(re.sub(r" (=|&lt;|&gt;) ", rf"{SPACE}\1{SPACE}", markup))


def italic_symbols(text: str) -> Markup:
    """Return a text with the symbols of statistics in italics; screen readers read the text itself, unchanged."""
    from markupsafe import Markup, escape

    return Markup(_STATISTICS.sub(r"<i>\1</i>", str(escape(text))))
