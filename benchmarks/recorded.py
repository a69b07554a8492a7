"""The request that the study page sends for a move, as recorded from Chromium, for clients that measure a server.

``tests/browser/test_sent_moves.py`` records it again from the real page and fails where the file is out of date.
"""

from __future__ import annotations

import re
from pathlib import Path

RECORDING = Path(__file__).parents[1] / "tests" / "fixtures" / "page-move.http"

_ADDRESS = re.compile(rb"/api/participants/[A-Za-z0-9_-]+/rounds")
_LENGTH = re.compile(rb"(\r\nContent-Length: )\d+")
_HOST = re.compile(rb"127\.0\.0\.1:\d+")


class PageMoves:
    """Requests of one participant's page: the recorded one with another token, host and body."""

    def __init__(self, host: str, token: str) -> None:
        """``host`` is the server's name and port, as in the ``Host`` header."""
        head = RECORDING.read_bytes().partition(b"\n\n")[0].replace(b"\n", b"\r\n")
        head = _ADDRESS.sub(b"/api/participants/%s/rounds" % token.encode(), head)
        head = _HOST.sub(host.encode(), head)  # in Host and in Origin
        before, name, after = _LENGTH.split(head)
        self._before, self._after = before + name, after + b"\r\n\r\n"

    def request(self, body: bytes) -> bytes:
        """Return a whole request with this body."""
        return b"%s%d%s%s" % (self._before, len(body), self._after, body)

    @staticmethod
    def body(episode: int, t: int, arm: int, key: str, ms: int = 400) -> bytes:
        """Return the body for one move, byte for byte as the page writes it."""
        move = b'{"episode":%d,"moves":[{"t":%d,"arm":%d,"key":"%s","ms":%d}]}'
        return move % (episode, t, arm, key.encode(), ms)


def page_stream(host: str, token: str) -> bytes:
    """Return the request with which the page opens its stream: the recorded headers that belong to it."""
    lines = RECORDING.read_text().partition("\n\n")[0].splitlines()[1:]
    skipped = ("Content-", "Origin", "Accept:", "Host")
    kept = [line for line in lines if not line.startswith(skipped)]
    head = [f"GET /api/participants/{token}/stream?language=en HTTP/1.1", f"Host: {host}", "Accept: text/event-stream"]
    return "\r\n".join([*head, *kept, "", ""]).encode()
