"""Parquet files: where one may go, and the library that writes it, loaded when it is wanted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cobandit.base.errors import InvalidInput, MissingExtra
from cobandit.base.extras import require_extras

PURPOSE = "Keeping runs in a Parquet file"


def checked_output(path: str | os.PathLike[str]) -> Path:
    """Where a Parquet file will go; refused early if it cannot be written or pyarrow is missing."""
    require_extras(PURPOSE, parquet=True)
    target = Path(path).expanduser()
    if target.suffix != ".parquet":
        raise InvalidInput(f"The output file is {str(target)!r}; a name that ends in .parquet is needed.")
    if not target.parent.is_dir() or not os.access(target.parent, os.W_OK):
        raise InvalidInput(f"The folder {str(target.parent)!r} is not there or cannot be written to.")
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
