"""Small pictures for tests, and a design that shows them from its folder."""

import struct
import zlib
from pathlib import Path

from cobandit.studies import design_text

WEBM = b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm" + bytes(40)
MP4 = b"\0\0\0\x18ftypisom" + bytes(40)


def png(red: int = 200, green: int = 80, blue: int = 40, side: int = 48) -> bytes:
    """Return a square of one colour as PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((red, green, blue)) * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PAGE = """
[[pages]]
id = "ward"
when = "consented"
title = "Your ward"
text = '''
![A ward with six beds](ward.png)

![A nurse presses a button](button.webm)
'''
"""


def illustrated(folder: Path, text: str = PAGE, name: str = "ward") -> Path:
    """Write a design with pictures into a folder; return the path of its TOML file."""
    (folder / "ward.png").write_bytes(png(side=200))
    (folder / "button.webm").write_bytes(WEBM)
    (folder / "bean.png").write_bytes(png(90, 50, 20))
    source = design_text("three-by-three").replace('name = "three-by-three"', f'name = "{name}"', 1)
    path = folder / f"{name}.toml"
    path.write_text(source + text, encoding="utf-8")
    return path
