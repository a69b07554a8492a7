"""No-break spaces where a language asks for them, so that no line of a page begins with a punctuation mark.

Texts are stored as people type them, with ordinary spaces, and typeset when a page reads them: the digest of a design,
on which the luck of its participants depends, does not change.
"""

from __future__ import annotations

import re
from functools import lru_cache

NO_BREAK, NARROW = "\N{NO-BREAK SPACE}", "\N{NARROW NO-BREAK SPACE}"

_UNIT = (re.compile(r"(?<=\d) (?=[%€])"), NO_BREAK)
_DOTS = (re.compile(r" (?=…)"), NO_BREAK)
_RULES: dict[str, tuple[tuple[re.Pattern[str], str], ...]] = {
    "de": (_UNIT, _DOTS),
    "es": (_UNIT, _DOTS),
    "fr": (
        _UNIT,
        _DOTS,
        (re.compile(r" (?=[;!?](?:[\s.)»]|$))"), NARROW),
        (re.compile(r" (?=:(?:\s|$))"), NO_BREAK),
        (re.compile(r"(?<=«) | (?=»)"), NO_BREAK),
    ),
}

_THOUSANDS = {"en": ",", "de": ".", "fr": NARROW, "es": NO_BREAK}
_GROUPED_FROM = {"es": 10_000}
"""Spanish groups digits from five on, as browsers do (CLDR)."""


def grouped(language: str, number: int) -> str:
    """Return a whole number with the thousands separator of a language, as the scripts of the pages write it."""
    if number < _GROUPED_FROM.get(language, 1000):
        return str(number)
    return f"{number:,}".replace(",", _THOUSANDS.get(language, ","))


@lru_cache(maxsize=8192)
def typeset(language: str, text: str) -> str:
    """Return the text with no-break spaces instead of the ordinary ones next to punctuation.

    French has a narrow one before ``;``, ``!`` and ``?``, a full one before ``:`` and inside guillemets; German, French
    and Spanish have a full one between a number and its unit. Missing spaces are not added.
    """
    for pattern, space in _RULES.get(language.partition("-")[0], ()):
        text = pattern.sub(space, text)
    return text
