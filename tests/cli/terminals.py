"""What commands write on a pseudo-terminal."""

from __future__ import annotations

import os


def read_screen(screen: int) -> bytes:
    """Return all that is written until the other side is closed."""
    shown = b""
    while True:
        try:
            part = os.read(screen, 65536)
        except OSError:  # how Linux says that the other side is closed
            part = b""
        if not part:
            os.close(screen)
            return shown
        shown += part
