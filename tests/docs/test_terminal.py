"""The server at a terminal, which other tests start and stop."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.terminal import ServeCommand


def test_a_server_that_is_stopped_at_once_ends(tmp_path: Path) -> None:
    """In the background job of a shell SIGINT is ignored, so one that comes before the server handles it is lost."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        server = ServeCommand("cobandit study serve burger", tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    server.stop()
    assert "Stopped; everything is stored." in server.printed
