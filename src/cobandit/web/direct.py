"""Connections on which the common move goes straight from the parser to the writer, and its answer straight back.

A task, a scope, middlewares and messages for each request cost more than playing and storing its round. Everything
that is not such a move, and every refusal, goes the common way of ASGI.
"""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from cobandit.web.edge import GuardedProtocol
from cobandit.web.security import HEADERS
from cobandit.web.services.direct import STATE, DirectRounds

LARGEST_DIRECT = 512

_ADDRESS = re.compile(rb"/api/participants/([A-Za-z0-9_-]{16,64})/rounds")
_SEALED = b"".join(b"%s: %s\r\n" % header for header in (*HEADERS, (b"cache-control", b"no-store")))


class _NoEvent:
    """Nobody waits for anything of a direct answer."""

    def set(self) -> None:
        """Nothing to wake."""


class _DirectCycle:
    """What uvicorn's connection wants to know of a request under way, as of its own `RequestResponseCycle`."""

    __slots__ = ("disconnected", "keep_alive", "response_complete", "response_started")

    message_event = _NoEvent()

    def __init__(self) -> None:
        self.keep_alive = True
        self.disconnected = self.response_started = self.response_complete = False


class DirectProtocol(GuardedProtocol):
    """One connection, within limits, with a short way for moves."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._rounds: DirectRounds | None = self.app_state.get(STATE)
        self._token: str | None = None
        self._body = b""

    def on_headers_complete(self) -> None:
        """A head that may be that of a move waits for its body; any other begins a request as ever."""
        self._token = self._direct_token()
        if self._token is None:
            super().on_headers_complete()
        else:
            self._body = b""
            self._part, self._since = "body", time.monotonic()

    def on_body(self, body: bytes) -> None:
        """A part of the body, or the whole of it."""
        if self._token is None:
            super().on_body(body)
        else:
            self._body += body

    def on_message_complete(self) -> None:
        """The whole request is here."""
        token, self._token = self._token, None
        if token is None:
            super().on_message_complete()
            return
        self._part = None
        assert self._rounds is not None
        cycle, scope, url, body = _DirectCycle(), self.scope, self.url, self._body
        self.cycle = cycle  # type: ignore[assignment]

        def answer(answered: bytes | None) -> None:
            if answered is None:
                self._common_way(cycle, scope, url, body)
            else:
                self._send(cycle, answered)

        if not self._rounds.take(token, body, answer):
            self._common_way(cycle, scope, url, body)

    def _direct_token(self) -> str | None:
        """Whose move this may be, by its head alone."""
        if self._rounds is None or self.pipeline or (self.cycle is not None and not self.cycle.response_complete):
            return None
        match = _ADDRESS.fullmatch(self.url)
        parser = self.parser
        if match is None or parser.get_method() != b"POST" or self.root_path or self.expect_100_continue:
            return None
        length = kind = b""
        for name, value in self.headers:
            if name == b"content-length":
                length = value
            elif name == b"content-type":
                kind = value
        if kind != b"application/json" or not length.isdigit() or int(length) > LARGEST_DIRECT:
            return None
        plain = parser.get_http_version() == "1.1" and parser.should_keep_alive() and not parser.should_upgrade()
        return match[1].decode("ascii") if plain else None

    def _common_way(self, direct: _DirectCycle, scope: Any, url: bytes, body: bytes) -> None:
        """Let the request, which is here as a whole, be answered as any other; another may wait behind it already."""
        path = url.decode("ascii")
        cycle = RequestResponseCycle(
            scope=scope | {"method": "POST", "path": path, "raw_path": url, "query_string": b""},
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=direct.keep_alive,
            on_response=self.on_response_complete,
        )
        cycle.body += body
        cycle.more_body, cycle.disconnected = False, direct.disconnected
        cycle.message_event.set()
        if self.cycle is direct:  # type: ignore[comparison-overlap]
            self.cycle = cycle
        self._start_asgi_task(cycle, self.app)

    def _send(self, cycle: _DirectCycle, body: bytes) -> None:
        cycle.response_started = cycle.response_complete = True
        if self.transport.is_closing():
            return
        head = b"".join(b"%s: %s\r\n" % header for header in self.server_state.default_headers)
        ending = b"" if cycle.keep_alive else b"connection: close\r\n"
        about = b"content-length: %d\r\ncontent-type: application/json\r\n" % len(body)
        self.transport.write(b"".join((b"HTTP/1.1 200 OK\r\n", head, about, _SEALED, ending, b"\r\n", body)))
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()
