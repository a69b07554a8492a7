"""Animated PNG files, which every browser plays and which need no encoder: few colours, and only what has changed."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from cobandit.base.files import whole_file

Image = NDArray[np.uint8]

COLOURS = 256
"""As many as a palette can have."""
BITS = 5
"""Of each of red, green and blue, when colours are counted."""


def palette_of(frames: Iterable[Image]) -> tuple[Image, Image]:
    """Return the most frequent colours of the frames, and for each coarse colour the number of the nearest of them."""
    counts = np.zeros(1 << (3 * BITS), dtype=np.int64)
    for frame in frames:
        counts += np.bincount(_coarse(frame).ravel(), minlength=len(counts))
    chosen = np.argsort(-counts, kind="stable")[:COLOURS]
    numbers = np.arange(len(counts))
    # The middle of each coarse colour, channel by channel.
    spread = np.stack([numbers >> (2 * BITS), (numbers >> BITS) & 31, numbers & 31], axis=1)
    shades = (spread * 255 + 15) // 31
    nearest = np.empty(len(counts), dtype=np.uint8)
    for start in range(0, len(counts), 4096):
        part = slice(start, start + 4096)
        distances = ((shades[part, None, :] - shades[None, chosen, :]) ** 2).sum(axis=2)
        nearest[part] = distances.argmin(axis=1)
    return shades[chosen].astype(np.uint8), nearest


def write_animated_png(path: Path, frames: Iterable[Image], sample: Iterable[Image], fps: int) -> None:
    """Write frames of one size as an animation that is played over and over.

    The palette is that of ``sample``. Of every frame but the first only the rectangle is stored in which it differs
    from the one before.
    """
    palette, nearest = palette_of(sample)
    stored: list[tuple[int, int, Image, int]] = []
    before: Image | None = None
    for frame in frames:
        image = nearest[_coarse(frame)]
        if before is not None and (image == before).all():
            x, y, part, shown = stored[-1]
            stored[-1] = x, y, part, shown + 1
            continue
        x, y, part = (0, 0, image) if before is None else _changed(before, image)
        stored.append((x, y, part, 1))
        before = image
    assert before is not None
    height, width = before.shape
    with whole_file(path) as file:
        file.write(b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)))
        file.write(_chunk(b"acTL", struct.pack(">II", len(stored), 0)) + _chunk(b"PLTE", palette.tobytes()))
        _write_frames(file, stored, fps)
        file.write(_chunk(b"IEND", b""))


def _write_frames(file: IO[bytes], stored: list[tuple[int, int, Image, int]], fps: int) -> None:
    sequence = 0
    for number, (x, y, part, shown) in enumerate(stored):
        rows, columns = part.shape
        # It is left in place (dispose 0) and replaces what it covers (blend 0).
        file.write(_chunk(b"fcTL", struct.pack(">IIIIIHHBB", sequence, columns, rows, x, y, shown, fps, 0, 0)))
        lines = np.concatenate([np.zeros((rows, 1), np.uint8), part], axis=1)
        packed = zlib.compress(lines.tobytes(), 9)
        if number == 0:
            file.write(_chunk(b"IDAT", packed))
            sequence += 1
        else:
            file.write(_chunk(b"fdAT", struct.pack(">I", sequence + 1) + packed))
            sequence += 2


def _coarse(frame: Image) -> NDArray[np.int64]:
    """Return one number for the colour of each pixel."""
    shades = frame.astype(np.int64) >> (8 - BITS)
    return (shades[..., 0] << (2 * BITS)) | (shades[..., 1] << BITS) | shades[..., 2]


def _changed(before: Image, image: Image) -> tuple[int, int, Image]:
    """Return where the rectangle begins in which two images differ, and what it holds."""
    different = before != image
    rows, columns = np.flatnonzero(different.any(axis=1)), np.flatnonzero(different.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    return left, top, image[top : rows[-1] + 1, left : columns[-1] + 1]


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
