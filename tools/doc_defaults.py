"""Show the default of an option on API pages instead of the call that declares it: a griffe extension (see mkdocs.yml).

``window: int = option(1, "W: ...", whole(1))`` is documented as ``window: int = 1``, with the help text as docstring.
A default that is the name of a constant is documented by its value: ``people: int = PEOPLE`` as ``people: int = 200``.
"""

from __future__ import annotations

import ast
import importlib
from typing import Any

import griffe

DEFAULT_PLACE = {"option": 0, "entry": 1}
"""Position of the default among the arguments of each function that declares a field."""


LONGEST_VALUE = 40
"""Characters of a constant that is shown in place of its name."""


class DeclaredDefaults(griffe.Extension):
    """Replace the values of declared fields before griffe builds the signatures of dataclasses."""

    def on_attribute_instance(self, *, attr: griffe.Attribute, **_: Any) -> None:
        """Rewrite one attribute."""
        attr.value = _constant(attr.value, attr.module.path)
        call = attr.value
        if not isinstance(call, griffe.ExprCall) or call.function.canonical_name not in DEFAULT_PLACE:
            return
        place = DEFAULT_PLACE[call.function.canonical_name]
        attr.value = call.arguments[place] if len(call.arguments) > place else None
        if place == 0 and attr.docstring is None:
            text = _literal(str(call.arguments[1]))
            if text:
                attr.docstring = griffe.Docstring(text, parent=attr)

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        """Rewrite the defaults of one function."""
        for parameter in func.parameters:
            parameter.default = _constant(parameter.default, func.module.path)


def _constant(default: Any, module: str) -> Any:
    """Return the value of a constant, as code, where a default names one of the module; else the default itself."""
    if not isinstance(default, griffe.ExprName) or not default.name.isupper():
        return default
    try:
        value = getattr(importlib.import_module(module), default.name, None)
    except ImportError:  # the module needs an extra that is not installed
        return default
    simple = isinstance(value, (int, float, str, tuple)) and len(repr(value)) <= LONGEST_VALUE
    return repr(value) if simple else default


def _literal(code: str) -> str:
    """Return the text of a string literal, or nothing where the help is computed."""
    try:
        return str(ast.literal_eval(code))
    except ValueError:
        return ""
