"""One POST of JSON with a deadline. Redirects are refused: they would carry keys and signatures to another host."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any

LARGEST = 4_000_000
"""The most bytes of a reply; a longer one is an error."""
CHUNK = 65_536


class Failed(Exception):
    """A request without a usable reply; ``kind`` is time-out, unreachable, cut or malformed."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


@dataclass(frozen=True)
class HttpReply:
    """Status, headers, text and duration of a reply."""

    status: int
    headers: Message
    text: str
    milliseconds: int

    @property
    def retry_after(self) -> float | None:
        """Seconds to wait by the header Retry-After, as a number or as a date; None without one."""
        value = (self.headers.get("Retry-After") or "").strip()
        if value.isascii() and value.isdigit():
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except (TypeError, ValueError, OverflowError):
            return None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


_OPENER = urllib.request.build_opener(_NoRedirects)


def post(url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> HttpReply:
    """Return the reply to a POST of JSON, whatever its status; `Failed` where none arrives within ``timeout``."""
    start = time.monotonic()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **headers}, method="POST")
    try:
        try:
            response = _OPENER.open(request, timeout=max(timeout, 0.001))
        except urllib.error.HTTPError as error:
            response = error  # a reply like any other, with a status of 300 or more
        with response:
            text = _read(response, start + timeout)
            taken = round(1000 * (time.monotonic() - start))
            return HttpReply(response.status or 0, response.headers, text, taken)
    except TimeoutError:
        raise Failed("time-out", f"no reply within {timeout:.3g} s") from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, TimeoutError):
            raise Failed("time-out", f"no reply within {timeout:.3g} s") from None
        reason = getattr(error.reason, "strerror", None) or type(error.reason).__name__
        raise Failed("unreachable", str(reason)) from None
    except (http.client.HTTPException, OSError) as error:
        raise Failed("cut", f"the connection ended early ({type(error).__name__})") from None


def _read(response: Any, end: float) -> str:
    """Return the body; the socket's own time-out restarts with every chunk, so the clock is asked as well."""
    parts, size = [], 0
    while chunk := response.read1(CHUNK) if hasattr(response, "read1") else response.read(CHUNK):
        size += len(chunk)
        if size > LARGEST:
            raise Failed("malformed", f"the reply has more than {LARGEST:,} bytes")
        if time.monotonic() > end:
            raise TimeoutError
        parts.append(chunk)
    expected = response.headers.get("Content-Length")
    if expected is not None and expected.isdigit() and size < int(expected):
        raise Failed("cut", "the connection ended early")
    return b"".join(parts).decode("utf-8", "replace")
