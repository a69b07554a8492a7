"""Icons of arms: an emoji, a symbol that the pages draw, such as ``"cup"`` or ``"cup brown"``, or a picture's file."""

from __future__ import annotations

import unicodedata

from cobandit.base.checks import short_repr, with_schema
from cobandit.base.errors import InvalidInput, UnknownName
from cobandit.studies.media import TYPES, file_name

SYMBOLS = (
    *("circle", "square", "triangle", "diamond", "star", "heart", "drop", "leaf"),
    *("flame", "fruit", "berries", "nut", "scoop", "wafer", "cup"),
)
"""The shapes that ``web/static/participant/symbols.js`` draws."""

COLOURS = ("blue", "red", "orange", "yellow", "green", "violet", "brown", "grey", "white")
"""What a symbol may be filled with; the first is the default."""

FILES = (".svg", *(f".{ending}" for ending in TYPES))
LONGEST_EMOJI = 10
_JOINER = "\u200d"


def arm_icon(name: str, value: object) -> str:
    """Return an icon of an arm if it is an emoji, ``"SYMBOL"``, ``"SYMBOL COLOUR"``, or the name of a file."""
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{name} must be an emoji or the name of a symbol, got {short_repr(value)}.")
    if value.lower().endswith(FILES):
        return file_name(name, value)
    if value[0].isascii():
        symbol, *colours = value.split(" ")
        if symbol not in SYMBOLS:
            raise UnknownName("symbol", symbol, SYMBOLS)
        if len(colours) > 1:
            raise InvalidInput(f"{name} must be a symbol and at most one colour, got {short_repr(value)}.")
        for colour in colours:
            if colour not in COLOURS:
                raise UnknownName("colour of a symbol", colour, COLOURS)
    elif len(value) > LONGEST_EMOJI or not all(map(_emoji_part, value)):
        raise InvalidInput(f"{name} must be one emoji or the name of a symbol, got {short_repr(value)}.")
    return value


with_schema(arm_icon, {"type": "string", "minLength": 1, "examples": [*SYMBOLS]})


def _emoji_part(character: str) -> bool:
    """Return whether a character can be part of an emoji: symbols, variation selectors and joiners, but no letters."""
    return (
        character == _JOINER or "\U000e0020" <= character <= "\U000e007f" or unicodedata.category(character)[0] in "SM"
    )
