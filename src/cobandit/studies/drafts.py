"""Your own design starts as a copy of a shipped one."""

from __future__ import annotations

import os
from pathlib import Path

from cobandit.base.errors import InvalidInput
from cobandit.base.files import save_new_text
from cobandit.base.records import slug
from cobandit.studies.design import design_text, parse_design


def new_design(name: str, template: str = "burger", path: str | os.PathLike[str] | None = None) -> Path:
    """Copy a shipped design under a new name to a TOML file (``NAME.toml``, where none is given), to be edited.

    It begins with version 1, whatever the version of the shipped one. A file that is there already is not overwritten.
    """
    called = slug("The name of the study", name)
    text = design_text(template)
    shipped = parse_design(text)
    begins = f'\nname = "{shipped.name}"\nversion = {shipped.version}\n'
    if begins not in text:
        raise InvalidInput(f"The design {template!r} does not say name and version on two lines, one after the other.")
    text = text.replace(begins, f'\nname = "{called}"\nversion = 1\n', 1)
    parse_design(text)
    return save_new_text(Path(f"{called}.toml") if path is None else Path(path), text)
