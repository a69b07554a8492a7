"""A design of one's own starts as a copy of a shipped one."""

from __future__ import annotations

import os
from pathlib import Path

from cobandit.base.errors import InvalidInput
from cobandit.base.files import save_new_text
from cobandit.base.records import slug
from cobandit.studies.design import design_text, parse_design


def new_design(name: str, template: str = "burger", path: str | os.PathLike[str] | None = None) -> Path:
    """Copy a shipped design under a new name to a TOML file (``NAME.toml``, where none is given), to be edited.

    A file that is there already is not overwritten.
    """
    called = slug("The name of the study", name)
    text = design_text(template)
    named = f'\nname = "{parse_design(text).name}"\n'
    if named not in text:
        raise InvalidInput(f"The design {template!r} does not say its name on a line of its own.")
    text = text.replace(named, f'\nname = "{called}"\n', 1)
    parse_design(text)
    return save_new_text(Path(f"{called}.toml") if path is None else Path(path), text)
