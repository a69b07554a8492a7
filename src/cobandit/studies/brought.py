"""Designs that other packages bring (entry points of the group ``cobandit.designs``)."""

from __future__ import annotations

import re

from cobandit.base.checks import short_repr
from cobandit.base.plugins import DESIGNS, find_plugin

_NAME = re.compile(r"[a-z0-9][a-z0-9-]*")


def plugin_design_text(name: object) -> str | None:
    """Return the TOML text of a design that another installed package provides; None if no package does.

    The entry point refers to the text, to a path or resource with ``read_text``, or to a function that returns either.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):  # a path, or no name at all
        return None
    plugin = find_plugin(DESIGNS, name)
    if plugin is None:
        return None
    source = plugin.load()
    try:
        content = source() if callable(source) else source
        text = content.read_text(encoding="utf-8") if hasattr(content, "read_text") else content
    except Exception as error:
        raise plugin.error(f"cannot be read: {type(error).__name__}: {error}") from error
    if not isinstance(text, str):
        raise plugin.error(f"is {short_repr(text)}; the text of a TOML file is needed")
    return text
