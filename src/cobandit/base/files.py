"""Writing files so that they appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from cobandit.base.errors import InvalidInput

PARTIAL = ".partial-"
"""How the name of a file starts that is still being written; nothing ever reads one."""


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file to write to, which takes the place of ``path`` only when all of it is on disk."""
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=PARTIAL)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o644)
        os.replace(partial, path)
    except BaseException:
        os.unlink(partial)
        raise


def make_folder(folder: Path) -> Path:
    """The folder, made with all above it; a plain refusal where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(folder)!r} cannot be made: {error.strerror}.") from None
    return folder
