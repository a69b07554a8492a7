"""Parquet files: where one may go, and the library that writes it, loaded when it is wanted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cobandit.base.errors import InvalidInput, MissingExtra
from cobandit.base.extras import require_extras
from cobandit.base.files import checked_path, make_folder

PURPOSE = "Keeping runs in a Parquet file"


def checked_output(path: str | os.PathLike[str]) -> Path:
    """Return where a Parquet file will go; its folder is made, and a place that cannot be written to refused early."""
    require_extras(PURPOSE, parquet=True)
    target = checked_path("path", path)
    if target.suffix != ".parquet":
        raise InvalidInput(f"The output file must be a name that ends in .parquet, got {str(target)!r}.")
    make_folder(target.parent)
    if not os.access(target.parent, os.W_OK):
        raise InvalidInput(f"The folder {str(target.parent)!r} cannot be written to.")
    if target.is_dir():
        raise InvalidInput(f"The output file {str(target)!r} is a folder.")
    pyarrow_modules()  # installed is not yet usable
    return target


def pyarrow_modules() -> tuple[Any, Any]:
    """pyarrow and pyarrow.parquet, or one plain sentence."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingExtra("parquet", PURPOSE) from None
    return pyarrow, pyarrow.parquet
