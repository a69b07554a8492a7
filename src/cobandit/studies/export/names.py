"""Names of columns that R, SPSS and Stata take as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cobandit.studies.design import StudyDesign

LONGEST_NAME = 32
"""Characters of a name in Stata; SPSS and R take more."""

LONGEST_TAG = 12
"""Characters of a condition's name within the name of a column; a longer one is cut to its initials."""

_SPSS_WORDS = ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")
_STATA_WORDS = ("byte", "double", "float", "if", "in", "int", "long", "using", "str", "strl")
_R_WORDS = ("else", "repeat", "while", "function", "for", "next", "break", "true", "false", "null", "inf", "nan", "na")
RESERVED = frozenset((*_SPSS_WORDS, *_STATA_WORDS, *_R_WORDS))
"""Words that one of the programs keeps for itself, in any case of their letters."""


def portable_name(name: str) -> str:
    """Return a name that R, SPSS and Stata accept: a letter, then letters, digits and underscores, at most 32."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    if not plain[:1].isalpha():
        plain = f"v_{plain}"
    return f"{plain}_" if plain.lower() in RESERVED else plain[:LONGEST_NAME]


def condition_tags(design: StudyDesign) -> dict[str, str]:
    """Return the tag of each condition in names: its own name, or the initials of its parts and the last part
    (pa_ucb).
    """
    tags: dict[str, str] = {}
    for condition in design.conditions:
        tag = re.sub(r"[^a-z0-9]", "_", condition.name)
        if len(tag) > LONGEST_TAG:
            *first, last = tag.split("_")
            tag = "_".join(part for part in ("".join(part[:1] for part in first), last) if part)[:LONGEST_TAG]
        tags[condition.name] = unused_name(tag, tags.values(), LONGEST_TAG)
    return tags


def unused_name(name: str, taken: Iterable[str], longest: int = LONGEST_NAME) -> str:
    """Return the name, with a number if it is taken; upper and lower case count as the same."""
    known = {other.lower() for other in taken}
    free, number = name, 1
    while free.lower() in known:
        number += 1
        free = f"{name[: longest - len(str(number)) - 1]}_{number}"
    return free
