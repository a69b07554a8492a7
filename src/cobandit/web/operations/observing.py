"""Counts and logs every request of an ASGI app, whichever it is."""

from __future__ import annotations

import sys
import time
from typing import Any

from cobandit.web.meter import Meter
from cobandit.web.operations.logs import request_line
from cobandit.web.security import App, Message, Receive, Scope, Send

ROUND_PATHS = ("/rounds", "/choose", "/observe")
"""How the addresses of requests that play rounds end."""


class Observed:
    """An app, and around it what counts and logs. Attributes of the app can be reached through it."""

    def __init__(self, app: App, meter: Meter | None, log: bool) -> None:
        """Count in ``meter`` (None: do not), and write one line of JSON for each request if ``log``."""
        self._app, self._meter, self._log = app, meter, log

    def __getattr__(self, name: str) -> Any:
        return getattr(self._app, name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, stream = time.perf_counter(), 0, False
        root = scope.get("root_path", "")  # a mounted app changes it
        plays = scope["method"] == "POST" and scope["path"].endswith(ROUND_PATHS)

        async def observed(message: Message) -> None:
            nonlocal status, stream
            if not status and "status" in message:
                status = message["status"]
                stream = not plays and _is_stream(message)
            await send(message)

        try:
            await self._app(scope, receive, observed)
        finally:
            seconds = time.perf_counter() - began
            # A client that goes away before the answer has got none; the number is that of proxies for it.
            status = status or 499
            if self._meter is not None:
                self._meter.add_request(0 if plays else 1, status, None if stream else seconds)
            if self._log:
                sys.stderr.write(request_line(scope["method"], _route(scope, root), status, seconds) + "\n")


def _is_stream(message: Message) -> bool:
    headers = message.get("headers", ())  # a whole answer has none: it is no stream
    return any(name == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers)


def _route(scope: Scope, root: str) -> str | None:
    """Return the pattern of the address, without what was filled in; None where no route fits."""
    route = scope.get("route")
    if route is not None:
        return str(getattr(route, "path", "")) or None
    path: str = scope["path"].removeprefix(root)
    if path.startswith("/static/"):
        return "/static/{file}"
    return "/api/participants/{token}/rounds" if path.endswith("/rounds") else None
