"""What is let in before a request is one: limits on connections, heads and time, so that strangers cannot use them up.

It stands in front of every route and works without a proxy. Everything is counted in this process: a flood from many
machines at once still needs help from outside.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import os
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cobandit.web.security import HEADERS, LARGEST_BODY, network_of

log = logging.getLogger("cobandit.web")

FILES_WANTED = 65_536
FILES_KEPT_BACK = 200
"""Open files that are not connections: the database, static files on their way, the system's own."""

SWEEP_SECONDS = 1.0
REFUSALS_LOGGED_EVERY = 10.0


@dataclass(frozen=True)
class Limits:
    """What one process grants; ``connections`` None: as many as its open files allow, 10,000 at most.

    A quarter of the connections is for one address (of IPv6, for one /64), save for the proxies in ``trusted``, which
    speak for many. Once four fifths are taken, whoever has not asked for anything is let wait ``hurried_seconds`` only.
    """

    connections: int | None = None
    head_bytes: int = 32 * 1024
    headers: int = 100
    message_bytes: int = 8 * LARGEST_BODY  # on the wire, where a chunk of one byte has six
    pipelined: int = 16
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    stalled_seconds: float = 60.0
    hurried_seconds: float = 2.0
    trusted: tuple[str, ...] | None = None

    @property
    def most_connections(self) -> int:
        """How many connections there may be at once."""
        if self.connections is not None:
            return self.connections
        return max(64, min(10_000, open_files() - FILES_KEPT_BACK))

    def trusts(self, address: str) -> bool:
        """Whether an address speaks for many: this machine, and the proxies whose word uvicorn takes, too."""
        listed = self.trusted
        if listed is None:
            listed = ("::1", *os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1").split(","))
        return not address or any(_within(address, network.strip()) for network in listed)


def open_files() -> int:
    """How many files this process may open."""
    try:
        import resource
    except ImportError:  # Windows, which counts otherwise
        return FILES_WANTED
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft


def raise_file_limit() -> None:
    """Let this process, and those it starts, open as many files as the system allows it."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_WANTED if hard == resource.RLIM_INFINITY else min(FILES_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _within(address: str, network: str) -> bool:
    try:
        return network == "*" or ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False)
    except ValueError:  # the path of a socket
        return address == network


class Guard:
    """The connections of one server, counted, and looked through every second for those that take too long."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.most = limits.most_connections
        self.most_per_network = max(1, self.most // 4)
        self._connections: set[GuardedProtocol] = set()
        self._by_network: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()
        self._logged = -REFUSALS_LOGGED_EVERY
        self._sweeping = False

    def admits(self, connection: GuardedProtocol) -> str | None:
        """Count a connection; why it is refused, where it is."""
        network, client = connection.network, connection.client
        if len(self._connections) >= self.most:
            return "too many connections"
        crowded = self._by_network[network] >= self.most_per_network
        if crowded and not self.limits.trusts(client[0] if client else ""):
            return f"too many connections from {network}"
        self._connections.add(connection)
        self._by_network[network] += 1
        if not self._sweeping:
            self._sweeping = True
            connection.loop.call_later(SWEEP_SECONDS, self._sweep, connection.loop)
        return None

    def forget(self, connection: GuardedProtocol) -> None:
        """A connection is gone."""
        if connection in self._connections:
            self._connections.remove(connection)
            self._by_network[connection.network] -= 1
            if not self._by_network[connection.network]:
                del self._by_network[connection.network]

    def refused(self, reason: str) -> None:
        """Say in the log what was refused; a flood of refusals is one line every ten seconds."""
        self._refusals[reason] += 1
        now = time.monotonic()
        if now - self._logged >= REFUSALS_LOGGED_EVERY:
            self._logged = now
            self._say()

    def _say(self) -> None:
        counted = ", ".join(f"{reason} ({count})" for reason, count in self._refusals.most_common(5))
        log.warning("Refused: %s; %d connections are open, %d may be.", counted, len(self._connections), self.most)
        self._refusals.clear()

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = time.monotonic()
        hurried = len(self._connections) >= 0.8 * self.most
        for connection in list(self._connections):
            connection.check(now, hurried)
        if self._refusals and now - self._logged >= REFUSALS_LOGGED_EVERY:
            self._logged = now
            self._say()
        self._sweeping = bool(self._connections or self._refusals)
        if self._sweeping:
            loop.call_later(SWEEP_SECONDS, self._sweep, loop)


_GUARDS: WeakKeyDictionary[Any, Guard] = WeakKeyDictionary()
"""The guard of each server of this process, by the state that uvicorn shares between its connections."""

_PHRASES = {400: "Bad Request", 408: "Request Timeout", 413: "Content Too Large", 503: "Service Unavailable"}
_PHRASES[431] = "Request Header Fields Too Large"


class _TooMuch(Exception):
    """Ends the reading of a request from within the parser."""


class GuardedProtocol(HttpToolsProtocol):
    """One connection, within limits.

    A timer for every request would cost more than the request's own head, so times are only noted here, and looked at
    by the guard's sweep.
    """

    limits = Limits()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        guard = _GUARDS.get(self.server_state)
        self.guard = _GUARDS.setdefault(self.server_state, Guard(self.limits)) if guard is None else guard
        self.network = ""
        self._part: str | None = "head"  # what is being read; None between requests
        self._since = time.monotonic()
        self._bytes = 0
        self._excess: tuple[int, str, str] | None = None
        self._unsent: tuple[float, int] | None = None  # since when how much is waiting to be taken by the client

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let it in, or say that it cannot be."""
        super().connection_made(transport)
        self.network = network_of(self.client[0]) if self.client else ""
        self._since = time.monotonic()
        if (reason := self.guard.admits(self)) is not None:
            self.connections.discard(self)
            self._refuse(503, "busy", "There are too many connections at the moment. Try again soon.", reason)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another."""
        self.guard.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hand it on to be parsed, in pieces that cannot hold more of a head than is allowed."""
        size = self.limits.head_bytes
        for start in range(0, len(data), size):
            if self.transport.is_closing():
                return
            self._read(data if len(data) <= size else data[start : start + size])

    def _read(self, data: bytes) -> None:
        if self._part is None:
            self._begin()
        self._bytes += len(data)
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # answered without the upgrade
        except httptools.HttpParserError:
            self._close_with(*(self._excess or (400, "invalid", "This is no HTTP request.")))
            return
        if self._part == "head" and self._bytes > self.limits.head_bytes:
            self._refuse(431, "too-large", "The head of the request is too large.", "a head too large")
        elif self._part is not None and self._bytes > self.limits.message_bytes:
            self._refuse(413, "too-large", "The request is too large.", "a request too large")

    def _begin(self) -> None:
        self._part, self._since, self._bytes = "head", time.monotonic(), 0

    def on_message_begin(self) -> None:
        """The first byte of a request: of one behind another, too."""
        if len(self.pipeline) >= self.limits.pipelined:
            self._stop(400, "refused", "Too many requests were sent at once.", "too many requests at once")
        if self._part is None:
            self._begin()
        self._bytes = max(1, self._bytes)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One more header; what follows a body in chunks comes here, too."""
        if len(self.headers) >= self.limits.headers:
            self._stop(431, "too-large", "The request has too many headers.", "too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Now the request is one."""
        super().on_headers_complete()
        self._part, self._since = "body", time.monotonic()

    def on_message_complete(self) -> None:
        """The whole request is here."""
        super().on_message_complete()
        self._part = None

    def check(self, now: float, hurried: bool) -> None:
        """End the connection where it takes longer than is granted."""
        limits = self.limits
        if self.flow.read_paused:  # it is the server who lets the client wait
            self._since = now
        elif self._part == "head" and not self.transport.is_closing():
            if now - self._since > (limits.hurried_seconds if hurried else limits.head_seconds):
                self._end_waiting(hurried)
        elif self._part == "body" and now - self._since > limits.body_seconds and not self.transport.is_closing():
            self._refuse(408, "too-slow", "The request did not come in time.", "a body that took too long")
        elif hurried and self._part is None and self.timeout_keep_alive_task is not None:
            self.transport.close()  # it waits for nothing, and somebody else may need the place
        self._check_sending(now)

    def _end_waiting(self, hurried: bool) -> None:
        if self._bytes:
            self._refuse(408, "too-slow", "The request did not come in time.", "a head that took too long")
            return
        # Browsers connect ahead of need; an answer to nothing would be shown in place of the page they want later.
        if hurried:
            self.guard.refused("a connection that asks for nothing")
        self.transport.close()

    def _check_sending(self, now: float) -> None:
        waiting = self.transport.get_write_buffer_size()
        if not waiting:
            self._unsent = None
        elif self._unsent is None or self._unsent[1] != waiting:
            self._unsent = now, waiting
        elif now - self._unsent[0] > self.limits.stalled_seconds:
            self.guard.refused("an answer that nobody takes")
            self.transport.abort()

    def _stop(self, status: int, code: str, message: str, reason: str) -> None:
        self.guard.refused(reason)
        self._excess = status, code, message
        raise _TooMuch

    def _refuse(self, status: int, code: str, message: str, reason: str) -> None:
        self.guard.refused(reason)
        self._close_with(status, code, message)

    def _close_with(self, status: int, code: str, message: str) -> None:
        cycle = self.cycle
        under_way = self.pipeline or (cycle is not None and cycle.response_started and not cycle.response_complete)
        if not under_way and not self.transport.is_closing():
            self.transport.write(_answer(status, code, message))
        self.transport.close()


def _answer(status: int, code: str, message: str) -> bytes:
    body = json.dumps({"error": code, "message": message}).encode()
    lines = [b"HTTP/1.1 %d %s" % (status, _PHRASES[status].encode()), b"content-type: application/json"]
    lines += [b"content-length: %d" % len(body), b"connection: close", b"cache-control: no-store"]
    lines += [b"retry-after: 5"] if status == 503 else []
    lines += [name + b": " + value for name, value in HEADERS]
    return b"\r\n".join([*lines, b"", body])
