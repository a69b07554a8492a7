"""Write docs/reference/api.md: every public name with its signature, as the code has it.

``python tools/api_page.py`` writes the page; a test fails if the page is out of date.
"""

from __future__ import annotations

import dataclasses
import enum
import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "api.md"
MODULES = (
    "cobandit",
    "cobandit.analysis",
    "cobandit.compiled",
    "cobandit.experiments",
    "cobandit.interop",
    "cobandit.mdp",
    "cobandit.report",
    "cobandit.robot",
    "cobandit.studies",
    "cobandit.testing",
    "cobandit.theory",
)
SHARED = ("Player", "_InStates", "CountingAgent")
"""Base classes that are not public themselves: the page lists their members with the classes that have them."""
HEAD = """\
# Signatures

Written from the code by `tools/api_page.py`, and compared with it by the tests. What each name is for is in
[the Python interface](python.md). The classes of registered agents take the options that
[the agents](agents.md) and [Markov decision processes](markov.md) list for them.
"""


def page() -> str:
    """Return the whole page."""
    return HEAD + "".join(_section(name) for name in MODULES)


def _section(module_name: str) -> str:
    module = importlib.import_module(module_name)
    registered = {kind.__name__ for kind in getattr(module, "AGENTS", {}).values()}
    names = sorted((name for name in module.__all__ if name not in registered), key=str.lower)
    blocks = [_block(name, getattr(module, name)) for name in names]
    return f"\n## {module_name}\n\n```text\n" + "\n".join(block for block in blocks if block) + "\n```\n"


def _block(name: str, thing: Any) -> str:
    """Return a name with its signature. For a class of this package, add its public methods and properties."""
    if inspect.ismodule(thing):
        return f"{name}: the module {thing.__name__}"
    if inspect.isclass(thing):
        return "\n".join([_class_line(name, thing), *_members(thing)])
    if callable(thing):
        return name + _signature(thing)
    return f"{name}: {type(thing).__name__}"


def _class_line(name: str, kind: type) -> str:
    bases = [_shown_base(base) for base in kind.__bases__ if base is not object and base.__module__ != "typing"]
    parents = f"  # kind of {', '.join(bases)}" if bases else ""
    made_by = "" if issubclass(kind, (BaseException, enum.Enum)) or inspect.isabstract(kind) else _signature(kind)
    return f"class {name}{made_by}{parents}"


def _shown_base(base: type) -> str:
    """Return the name of a base class, or of the public one that a shared base class is a kind of."""
    return next((parent.__name__ for parent in base.__mro__[:-1] if parent.__name__ not in SHARED), base.__name__)


def _members(kind: type) -> list[str]:
    lines = []
    owners = [base for base in kind.__bases__ if base.__name__ in SHARED]
    members = {name: member for owner in (*owners, kind) for name, member in vars(owner).items()}
    for name, member in sorted(members.items()):
        if name.startswith("_"):
            continue
        plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if inspect.isfunction(plain):
            lines.append(f"    .{name}{_signature(getattr(kind, name))}")
        elif isinstance(member, property) or type(member).__name__ == "cached_property":
            lines.append(f"    .{name}")
    return lines


def _signature(thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):  # a compiled function has none
        return "(...)"
    parts, marked = [], False
    factories = _factories(thing)
    for parameter in signature.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            marked = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not marked:
            parts.append("*")
            marked = True
        if parameter.name in factories:
            parameter = parameter.replace(default=factories[parameter.name]())
        parts.append(_parameter(parameter))
    given = signature.return_annotation
    shown = inspect.isclass(thing) or given is signature.empty
    return f"({', '.join(parts)})" + ("" if shown else f" -> {_annotation(given)}")


def _factories(thing: Any) -> dict[str, Callable[[], Any]]:
    """Return what makes the default of each field of a dataclass that has no plain one."""
    if not (inspect.isclass(thing) and dataclasses.is_dataclass(thing)):
        return {}
    fields = dataclasses.fields(thing)
    return {field.name: field.default_factory for field in fields if field.default_factory is not dataclasses.MISSING}


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    text = f"{stars}{parameter.name}"
    if parameter.annotation is not parameter.empty:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {_default(parameter.default)}"
    return text


def _annotation(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation.replace('"', "'")
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _default(default: Any) -> str:
    text = repr(default)
    return "..." if re.search(r" at 0x|<factory>", text) or len(text) > 60 else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
