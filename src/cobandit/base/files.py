"""Reading texts, and writing files so that they appear whole or not at all: bytes, texts, CSV, strict JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from cobandit.base.errors import InvalidInput, short_repr

PARTIAL = ".partial-"
"""How the name of a file starts that is still being written; nothing ever reads one."""


def read_text(path: Path, what: str, longest: int) -> str:
    """Return the text of a file of at most ``longest`` bytes in UTF-8, with or without a byte order mark.

    ``what`` names the file in errors, such as "sweep file".
    """
    try:
        if path.stat().st_size > longest:
            raise InvalidInput(f"{str(path)!r} is larger than a {what} can be ({longest:,} bytes).")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"The {what} {str(path)!r} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The {what} {str(path)!r} is not UTF-8 text.") from error


@contextmanager
def whole_file(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Open a binary file for writing, which replaces ``path`` only when its contents are completely on disk.

    The process's umask decides who may read it; a ``private`` file, with personal data, is readable only by its owner
    (0600).
    """
    partial = path.parent / f"{PARTIAL}{secrets.token_hex(8)}"
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    handle = os.open(partial, flags, 0o600 if private else 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException as error:
        os.unlink(partial)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, partial):
            # the error of a full disk has no file name, and users do not know the temporary file
            error.filename = str(path)
        raise


def checked_path(name: str, value: object) -> Path:
    """Return a path that a file or a folder can have, the home folder (``~``) filled in."""
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text or "\0" in text:
        raise InvalidInput(f"{name} must be the path of a file or folder, got {short_repr(value)}.")
    try:
        return Path(text).expanduser()
    except RuntimeError:  # no such user
        return Path(text)


def checked_folder(folder: Path) -> Path:
    """Return a folder that is there, or may be made: refused where a file is in its way. Nothing is made."""
    for place in (folder, *folder.parents):
        if place.is_dir():
            break
        if os.path.lexists(place) and not place.is_dir():  # another process may have created it in the meantime
            raise InvalidInput(f"The folder {str(folder)!r} cannot be made: {str(place)!r} is a file.")
    return folder


def make_folder(folder: Path) -> Path:
    """Return the folder, made with all above it; a plain refusal where that cannot be."""
    checked_folder(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput(f"The folder {str(folder)!r} cannot be made: {error.strerror}.") from None
    return folder


def save_text(path: Path, text: str, *, private: bool = False) -> Path:
    """Return a whole text file in UTF-8, in a folder that is there; ``private`` as for `whole_file`."""
    if not path.parent.is_dir():
        raise InvalidInput(f"The folder {str(path.parent)!r} for the file {path.name!r} is not there.")
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a folder; the name of a file is needed.")
    with whole_file(path, private=private) as file:
        file.write(text.encode("utf-8"))
    return path


def save_new_text(path: Path, text: str) -> Path:
    """Save a text as a new file. An existing file may have been edited, so it is never overwritten."""
    if path.exists() and not path.is_dir():
        raise InvalidInput(f"The file {str(path)!r} is there already; it is not overwritten.")
    return save_text(path, text)


def save_json(path: Path, data: object) -> Path:
    """Save one object as strict JSON, indented so that people can read it, too."""
    return save_text(path, json.dumps(strict(data), indent=1, allow_nan=False) + "\n")


def save_csv(path: Path, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> Path:
    """Return a header and rows; what is unknown stays empty."""
    text = io.StringIO()
    write_csv(text, heads, rows)
    return save_text(path, text.getvalue())


def write_csv(file: IO[str], heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write heads and rows as CSV to an open text file."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([strict(cell) for cell in row] for row in rows)


def strict(data: object) -> Any:
    """Return plain data for JSON and CSV: numbers that are not finite become None."""
    if isinstance(data, dict):
        return {key: strict(entry) for key, entry in data.items()}
    if isinstance(data, (list, tuple)):
        return [strict(entry) for entry in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data
