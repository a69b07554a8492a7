"""Pictures and short videos of a design: their names, their types by content, and their contents from its folder.

A design stores the SHA-256 of each file, so the digest of a design covers what its pictures show. The contents travel
with the `MediaFile` that was read from a folder; a server stores them by their hash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cobandit.base.checks import short_repr, with_schema
from cobandit.base.errors import InvalidInput
from cobandit.base.json_types import JsonObject
from cobandit.base.records import Record, entry

TYPES = {
    "avif": "image/avif",
    "gif": "image/gif",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "png": "image/png",
    "webp": "image/webp",
    "mp4": "video/mp4",
    "webm": "video/webm",
}
"""The type of a file, by the ending of its name; SVG is none of them, because it may have scripts."""

LARGEST_IMAGE = 2 * 2**20
LARGEST_VIDEO = 16 * 2**20
MOST_FILES = 50

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,79}}\.(?:{'|'.join(TYPES)})")
_HASH = re.compile(r"[0-9a-f]{64}")
_SHOWN = re.compile(r"!\[[^\]]*\]\(\s*<?([^\s)>]+)")
_BRANDS = {b"avif": "image/avif", b"avis": "image/avif"}


def file_name(name: str, value: object) -> str:
    """Check the name of a picture or video in the folder of a design."""
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise InvalidInput(
            f"{name} must be the name of a file ({', '.join(TYPES)}) of letters, digits, dashes and underscores, "
            f"without a folder, got {short_repr(value)}."
        )
    return value


def content_hash(name: str, value: object) -> str:
    """Check a SHA-256 in hexadecimal."""
    if not isinstance(value, str) or not _HASH.fullmatch(value):
        raise InvalidInput(f"{name} must be a SHA-256 of 64 hexadecimal digits, got {short_repr(value)}.")
    return value


with_schema(file_name, {"type": "string", "pattern": f"^{_NAME.pattern}$"})
with_schema(content_hash, {"type": "string", "pattern": f"^{_HASH.pattern}$"})


@dataclass(frozen=True)
class MediaFile(Record):
    """A picture or a video that texts and arms may show."""

    content: ClassVar[bytes | None] = None
    """The content, where the file was read from the folder of the design."""

    file: str = entry(file_name)
    sha256: str = entry(content_hash)

    @property
    def address(self) -> str:
        """The address on a server, below ``/media/``."""
        return f"{self.sha256}/{self.file}"


def is_video(file: str) -> bool:
    """Return whether the name is that of a video."""
    return media_type(file).startswith("video/")


def media_type(file: str) -> str:
    """Return the type of a file with a checked name."""
    return TYPES[file.rpartition(".")[2]]


def media_file(file: str, content: bytes) -> MediaFile:
    """Return a file with its content, whose type and size are checked."""
    wanted, kind = media_type(file_name("file", file)), sniffed_type(content)
    if kind != wanted:
        raise InvalidInput(f"{file!r} must be {wanted} by its content, got {kind or 'something else'}.")
    largest = LARGEST_VIDEO if is_video(file) else LARGEST_IMAGE
    if len(content) > largest:
        raise InvalidInput(f"{file!r} must have at most {largest // 2**20} MiB, got {len(content):,} bytes.")
    read = MediaFile(file=file, sha256=hashlib.sha256(content).hexdigest())
    object.__setattr__(read, "content", content)
    return read


def sniffed_type(content: bytes) -> str | None:
    """Return the type that the first bytes of a file show."""
    starts = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif"}
    starts |= {b"GIF89a": "image/gif", b"\x1aE\xdf\xa3": "video/webm"}
    for start, kind in starts.items():
        if content.startswith(start):
            return kind if kind != "video/webm" or b"webm" in content[:64] else None
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content[4:8] == b"ftyp":
        return _BRANDS.get(content[8:12], "video/mp4")
    return None


def read_media(data: Mapping[str, Any], folder: Path) -> JsonObject:
    """Return the data of a design with the files of its folder that its texts and icons show.

    A hash that the design states must be that of the file. A file that is not in the folder stays as the design states
    it, or is left out, and the design refuses the text that shows it.
    """
    stated = data.get("media", [])
    if not isinstance(stated, list) or not all(isinstance(part, dict) for part in stated):
        return dict(data)
    known = {part.get("file"): part for part in stated}
    names = list(dict.fromkeys([*known, *(file for file in _shown_files(data) if file not in known)]))
    files: list[Any] = []
    for name in names:
        given = known.get(name)
        path = folder / name if isinstance(name, str) and _NAME.fullmatch(name) else None
        if path is None or not path.is_file():
            files += [] if given is None else [given]
            continue
        read = media_file(path.name, _content(path))
        if given is not None and given.get("sha256", read.sha256) != read.sha256:
            raise InvalidInput(
                f"The file {name!r} must have the SHA-256 that media states, got {read.sha256}. If the new file is "
                "meant, change or remove the line."
            )
        files.append(read)
    return dict(data) | ({"media": files} if files else {})


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_VIDEO + 1)
    except OSError as error:
        raise InvalidInput(f"The file {str(path)!r} cannot be read: {error.strerror}.") from error


def _shown_files(value: object, *, icon: bool = False) -> Iterator[str]:
    """Yield the names of files that texts show as pictures, and those among icons."""
    if isinstance(value, str):
        yield from [value] if icon and _NAME.fullmatch(value) else _SHOWN.findall(value)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from _shown_files(part, icon=key == "icons")
    elif isinstance(value, list):
        for part in value:
            yield from _shown_files(part, icon=icon)
