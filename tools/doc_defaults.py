"""Show the default of an option on API pages instead of the call that declares it: a griffe extension (see mkdocs.yml).

``window: int = option(1, "W: ...", whole(1))`` is documented as ``window: int = 1``, with the help text as docstring.
"""

from __future__ import annotations

import ast
from typing import Any

import griffe

DEFAULT_PLACE = {"option": 0, "entry": 1}
"""Position of the default among the arguments of each function that declares a field."""


class DeclaredDefaults(griffe.Extension):
    """Replace the values of declared fields before griffe builds the signatures of dataclasses."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Rewrite one attribute."""
        call = attr.value
        if not isinstance(call, griffe.ExprCall) or call.function.canonical_name not in DEFAULT_PLACE:
            return
        place = DEFAULT_PLACE[call.function.canonical_name]
        attr.value = call.arguments[place] if len(call.arguments) > place else None
        if place == 0 and attr.docstring is None:
            text = _literal(str(call.arguments[1]))
            if text:
                attr.docstring = griffe.Docstring(text, parent=attr)


def _literal(code: str) -> str:
    """Return the text of a string literal, or nothing where the help is computed."""
    try:
        return str(ast.literal_eval(code))
    except ValueError:
        return ""
