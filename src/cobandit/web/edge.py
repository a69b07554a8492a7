"""Connection-level limits: the number of connections, the size and shape of heads, and the time a request may take.

They apply before any route and do not need a proxy. Each process counts separately, so a flood from many machines still
needs protection in front of the server.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import os
import re
import time
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from cobandit.web.meter import current_meter
from cobandit.web.security import ANSWER, HEADERS, LARGEST_BODY, network_of

log = logging.getLogger("cobandit.web")

FILES_WANTED = 65_536
RESERVED_FILES = 200
"""Open files that are not connections: the database, static files being sent, the system's own."""

SWEEP_SECONDS = 1.0


@dataclass(frozen=True)
class Limits:
    """Limits of one process; ``connections`` None means as many as its open files allow, at most 10,000.

    One address (for IPv6, one /64) may hold a quarter of the connections. The proxies in ``trusted`` are exempt, since
    they forward for many people. Once four fifths of the connections are taken, a client that has not sent a request
    yet has only ``hurried_seconds`` to do so. Refusals are logged together, every ``log_seconds``.
    """

    connections: int | None = None
    head_bytes: int = 32 * 1024
    headers: int = 100
    message_bytes: int = 8 * LARGEST_BODY  # on the wire, where a chunk of one byte takes six
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    stalled_seconds: float = 60.0
    idle_seconds: float = 75.0  # longer than the proxies in the documentation keep a connection, so that they close it
    hurried_seconds: float = 2.0
    log_seconds: float = 10.0
    trusted: tuple[str, ...] | None = None

    @property
    def most_connections(self) -> int:
        """Return how many connections may be open at the same time."""
        if self.connections is not None:
            return self.connections
        return max(64, min(10_000, open_files() - RESERVED_FILES))

    def trusts(self, address: str) -> bool:
        """Return whether an address is this machine or a proxy whose forwarded addresses uvicorn accepts."""
        listed = self.trusted
        if listed is None:
            listed = ("::1", *os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1").split(","))
        return not address or any(_within(address, network.strip()) for network in listed)


def open_files() -> int:
    """Return how many files this process may open."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return FILES_WANTED
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return FILES_WANTED if soft == resource.RLIM_INFINITY else soft


def raise_file_limit() -> None:
    """Let this process, and those it starts, open as many files as the system permits."""
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


class Refusal(NamedTuple):
    """An answer of the edge itself, and the reason for it in the log."""

    status: int
    code: str
    message: str
    reason: str

    def answer(self) -> bytes:
        """Return the response as it is sent; the connection ends with it."""
        body = json.dumps({"error": self.code, "message": self.message}).encode()
        lines = [b"HTTP/1.1 %d %s" % (self.status, _PHRASES[self.status]), b"content-type: application/json"]
        lines += [b"content-length: %d" % len(body), b"connection: close", b"cache-control: no-store"]
        lines += [b"retry-after: 5"] if self.status == 503 else []
        lines += [name + b": " + value for name, value in HEADERS]
        return b"\r\n".join([*lines, b"", body])


_PHRASES = {
    400: b"Bad Request",
    408: b"Request Timeout",
    413: b"Content Too Large",
    431: b"Request Header Fields Too Large",
    503: b"Service Unavailable",
}
_NOT_HTTP = Refusal(400, "invalid", "This is not a valid HTTP request.", "an invalid request")
_BAD_HOST = Refusal(400, "invalid", "A request needs exactly one valid Host header.", "a bad Host header")
_BAD_CODING = Refusal(400, "invalid", "The only transfer coding that is understood is chunked.", "a transfer coding")
_LARGE_HEAD = Refusal(431, "too-large", "The head of the request is too large.", "a head too large")
_MANY_HEADERS = Refusal(431, "too-large", "The request has too many headers.", "too many headers")
_LARGE_MESSAGE = Refusal(413, "too-large", "The request is too large.", "a request too large")
_SLOW_HEAD = Refusal(408, "too-slow", "The request did not arrive in time.", "a head that took too long")
_SLOW_BODY = _SLOW_HEAD._replace(reason="a body that took too long")
_BUSY = Refusal(503, "busy", "There are too many connections at the moment. Try again soon.", "too many connections")

_END = b"\r\n\r\n"
_HOST = re.compile(rb"\r\nhost:[ \t]*(?:[a-z0-9._-]*|\[[0-9a-f:.]+\])(?::[0-9]{0,5})?[ \t]*\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)[ \t]*\r\n")
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n")
_UPGRADE = re.compile(rb"\r\nupgrade:[^\r\n]*", re.IGNORECASE)


def check_head(lowered: bytes, limits: Limits) -> Refusal | None:
    """Return why a complete head, in lower case, is refused, or None; its syntax is checked by the parser."""
    if lowered.count(b"\r\n") - 2 > limits.headers:
        return _MANY_HEADERS
    # Two Host or Transfer-Encoding headers are refused, because a proxy in front may obey the other one: both would
    # then see different requests in the same bytes (request smuggling).
    old = lowered.partition(b"\r\n")[0].endswith(b" http/1.0")
    hosts = lowered.count(b"\r\nhost:")
    if hosts > 1 or (hosts == 0 and not old) or (hosts and _HOST.search(lowered) is None):
        return _BAD_HOST
    codings = lowered.count(b"\r\ntransfer-encoding:")
    if codings and (codings > 1 or old or _CHUNKED.search(lowered) is None):
        return _BAD_CODING
    # CONNECT asks for a tunnel: what follows it would not be HTTP any more.
    return _NOT_HTTP if lowered.startswith(b"connect ") else None


def body_length(lowered: bytes) -> int | None:
    """Return the length of the body that a checked head announces; None for a chunked body."""
    if b"\r\ntransfer-encoding:" in lowered:
        return None
    length = _LENGTH.search(lowered)
    return 0 if length is None else int(length[1])


class Guard:
    """Count the connections of one server, and look through them every second for those that take too long."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.most = limits.most_connections
        self.most_per_network = max(1, self.most // 4)
        self._connections: set[GuardedProtocol] = set()
        self._by_network: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()
        self._meter = current_meter()
        self._logged = -limits.log_seconds
        self._sweeping = False

    def admit(self, connection: GuardedProtocol) -> str | None:
        """Count a new connection; return the reason if it is refused."""
        network, client = connection.network, connection.client
        if len(self._connections) >= self.most:
            return "too many connections"
        # One network gets a quarter of all places, so that one machine cannot lock out the others. A trusted proxy has
        # no such limit: all visitors behind it share its address.
        crowded = self._by_network[network] >= self.most_per_network
        if crowded and not self.limits.trusts(client[0] if client else ""):
            return f"too many connections from {network}"
        self._connections.add(connection)
        self._meter.set_connections(len(self._connections))
        self._by_network[network] += 1
        if not self._sweeping:
            self._sweeping = True
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)
        return None

    def forget(self, connection: GuardedProtocol) -> None:
        """Stop counting a connection that is closed."""
        if connection in self._connections:
            self._connections.remove(connection)
            self._meter.set_connections(len(self._connections))
            self._by_network[connection.network] -= 1
            if not self._by_network[connection.network]:
                del self._by_network[connection.network]

    def count_refusal(self, reason: str) -> None:
        """Count a refusal; however many there are, the log gets one line every ten seconds."""
        self._refusals[reason] += 1
        self._meter.add_refusal(reason)
        self._log(time.monotonic())

    def _log(self, now: float) -> None:
        if self._refusals and now - self._logged >= self.limits.log_seconds:
            self._logged = now
            counted = ", ".join(f"{reason} ({count})" for reason, count in self._refusals.most_common(5))
            log.warning("Refused: %s; %d of %d connections are open.", counted, len(self._connections), self.most)
            self._refusals.clear()

    def _sweep(self) -> None:
        now = time.monotonic()
        # One sweep over all connections is cheaper than a timer for each request. When places get scarce, idle
        # connections are closed earlier.
        hurried = len(self._connections) >= 0.8 * self.most
        for connection in list(self._connections):
            connection.check(now, hurried)
        self._log(now)
        self._sweeping = bool(self._connections or self._refusals)
        if self._sweeping:
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)


_EXTENSIONS: dict[str, dict[object, object]] = {ANSWER: {}}


class _Cycle(RequestResponseCycle):
    """One request of uvicorn, which can also be answered by one message with a head that is encoded already.

    uvicorn checks and encodes every header of every answer, which takes longer than to check and store a move. Parts
    of a stream take a shorter way, too.
    """

    async def send(self, message: Any) -> None:
        """Send a part of the answer, or the whole answer."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if message["type"] == ANSWER and not self.response_started:
            self._answer(message["status"], message["head"], message["body"])
        elif self.chunked_encoding and message.get("more_body") and (body := message["body"]):
            self.transport.write(b"%x\r\n%b\r\n" % (len(body), body))
        else:
            await super().send(message)

    def _answer(self, status: int, head: bytes, body: bytes) -> None:
        self.response_started, self.waiting_for_100_continue = True, False
        lines = [STATUS_LINE[status], b"content-length: %d\r\n" % len(body), head]
        lines += [b"%s: %s\r\n" % header for header in self.default_headers]
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        self.transport.write(b"".join([*lines, b"\r\n", body]))
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


class _Known(NamedTuple):
    """A head that was checked and parsed: all moves of a page begin with the same bytes."""

    head: bytes
    length: int  # of the body
    url: bytes
    headers: tuple[tuple[bytes, bytes], ...]


class GuardedProtocol(HttpToolsProtocol):
    """One connection within limits: uvicorn's protocol, which is given one checked request at a time.

    Received bytes wait in a buffer. A head goes to the parser once it is complete and checked, followed by exactly the
    body that it announces; the next head waits until the answer is complete. How a client cuts its bytes into segments
    can therefore never change their meaning, and requests that are sent ahead take a bounded amount of memory. A timer
    for each request would be slow, so this class only notes times, and the guard's sweep checks them.
    """

    guard: Guard

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.limits = self.guard.limits
        self.network = ""
        self._buffer = bytearray()
        self._scanned = 0  # bytes of the buffer that are known not to complete the head
        self._part: str | None = "first"  # of the request that is being received; None between requests
        self._answering = False
        self._last = False  # no further request is read
        self._body_left: int | None = 0  # None: the body is chunked
        self._body_bytes = 0
        self._known: _Known | None = None
        self._repeated = False  # the parser does not get the current request
        self._since = time.monotonic()
        self._unsent: tuple[float, int] | None = None  # since when, and how much, the client has not taken

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection, or answer that there are too many."""
        super().connection_made(transport)
        self.network = network_of(self.client[0]) if self.client else ""
        if (reason := self.guard.admit(self)) is not None:
            self._refuse(_BUSY._replace(reason=reason))

    def connection_lost(self, exc: Exception | None) -> None:
        """Free the connection's place."""
        self.guard.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Keep the received bytes until the parser may have them."""
        if not (self._last and self._part is None):
            self._buffer += data
            self._advance()

    def _advance(self) -> None:
        """Give the parser what belongs to the current request, and begin the next one if it is its turn."""
        while self._buffer and not self.transport.is_closing():
            if self._part == "body":
                self._pass_body()
            elif self._answering:
                if len(self._buffer) > self.limits.head_bytes:
                    self.flow.pause_reading()  # uvicorn resumes it after the answer
                return
            elif not self._pass_head():
                return

    def _pass_head(self) -> bool:
        """Give the parser the next head; return False while it is incomplete or if it is refused."""
        if self._part is None:
            self._since = time.monotonic()
        self._part, buffer = "head", self._buffer
        if buffer[0] in b"\r\n":  # HTTP permits empty lines before a request
            del buffer[: len(buffer) - len(buffer.lstrip(b"\r\n"))]
            return bool(buffer)
        # The search continues where the last one ended: from the start it would take quadratic time for a client that
        # sends single bytes.
        end = buffer.find(_END, max(0, self._scanned + 1 - len(_END)))
        self._scanned = len(buffer)
        size = len(buffer) + 1 if end < 0 else end + len(_END)  # an incomplete head has at least one more byte
        if size > self.limits.head_bytes:
            return self._refuse(_LARGE_HEAD)
        if end < 0:
            return False if buffer[:1].isalpha() else self._refuse(_NOT_HTTP)
        head = bytes(buffer[:size])
        del buffer[:size]
        self._scanned = 0
        if self._known is not None and head == self._known.head:
            self._begin_again(self._known)
            return True
        self._known, self._repeated, lowered = None, False, head.lower()
        if (refusal := check_head(lowered, self.limits)) is not None:
            return self._refuse(refusal)
        if b"\r\nupgrade:" in lowered:  # the server speaks HTTP/1.1 only, and may ignore the wish for something else
            head = _UPGRADE.sub(b"", head)
        length = body_length(lowered)
        self._body_left, self._body_bytes = length, 0
        if not (self._feed(head) and (self._part != "head" or self._refuse(_NOT_HTTP))):
            return False
        if length and self._part == "body" and self.cycle.keep_alive and b"\r\nexpect:" not in lowered:
            self._known = _Known(head, length, self.url, tuple(self.cycle.scope["headers"]))
        return True

    def _begin_again(self, known: _Known) -> None:
        """Begin a request with the head of the one before, which was checked and parsed then."""
        self._body_left, self._body_bytes, self._repeated = known.length, 0, True
        self.on_message_begin()
        self.url = known.url
        self.headers += known.headers
        self.on_headers_complete()

    def _pass_body(self) -> None:
        """Give the parser what has arrived of the body."""
        size = len(self._buffer) if self._body_left is None else min(self._body_left, len(self._buffer))
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._body_bytes += size
        if self._body_left is not None:
            self._body_left -= size
        if self._body_bytes > self.limits.message_bytes:
            self._refuse(_LARGE_MESSAGE)
        elif self._repeated:
            self.on_body(data)
            if not self._body_left:
                self.on_message_complete()
        elif self._feed(data) and self._body_left == 0 and self._part is not None:
            self._refuse(_NOT_HTTP)

    def _feed(self, data: bytes) -> bool:
        """Parse bytes of the current request; return False if they are refused."""
        try:
            self.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            # Bytes after a chunked body are dropped: the connection ends with the answer.
            return (self._last and self._part is None) or self._refuse(_NOT_HTTP)
        return True

    def on_message_begin(self) -> None:
        """Begin a request, unless the parser sees one where none may be."""
        if self._part != "head":
            raise ValueError("a request within or behind another one")
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Start answering."""
        super().on_headers_complete()
        # uvicorn has made the request, whose task has not run yet; nothing lets us choose its class before.
        self.cycle.__class__ = _Cycle
        self.cycle.scope["extensions"] = _EXTENSIONS
        self._part, self._since, self._answering = "body", time.monotonic(), True
        self.headers = []  # trailers of a chunked body are parsed into a list that is not used
        if self._body_left is None:  # where a chunked body ends only the parser knows, so no request may follow it
            self._last, self.cycle.keep_alive = True, False

    def on_message_complete(self) -> None:
        """Note that the request is complete."""
        super().on_message_complete()
        self._part = None

    def on_response_complete(self) -> None:
        """Turn to the next request.

        uvicorn's own method would also look for requests sent ahead, which wait in the buffer here, and start a timer
        for idle connections, which the guard's sweep closes.
        """
        self.server_state.total_requests += 1
        self._answering = False
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self._part is None:
            self._since = time.monotonic()
        self._advance()

    def check(self, now: float, hurried: bool) -> None:
        """End the connection if it takes longer than the limits permit."""
        limits, waited = self.limits, now - self._since
        if self.transport.is_closing():
            pass
        elif self.flow.read_paused:  # the client waits for the server
            self._since = now
        elif self._part == "body":
            if waited > limits.body_seconds:
                self._refuse(_SLOW_BODY)
        elif self._part is not None:
            if waited > (limits.hurried_seconds if hurried else limits.head_seconds):
                self._end_waiting(hurried)
        elif not self._answering and (hurried or waited > limits.idle_seconds):
            self.transport.close()
        self._check_sending(now)

    def _end_waiting(self, hurried: bool) -> None:
        if self._part == "head":
            self._refuse(_SLOW_HEAD)
            return
        # Browsers connect ahead of need, and would take an answer to nothing for the answer to their next request.
        if hurried:
            self.guard.count_refusal("a connection without a request")
        self.transport.close()

    def _check_sending(self, now: float) -> None:
        waiting = self.transport.get_write_buffer_size()
        if not waiting:
            self._unsent = None
        elif self._unsent is None or self._unsent[1] != waiting:
            self._unsent = now, waiting
        elif now - self._unsent[0] > self.limits.stalled_seconds:
            self.guard.count_refusal("an answer that the client does not read")
            self.transport.abort()

    def _refuse(self, refusal: Refusal) -> Literal[False]:
        """Close the connection, with the refusal as the answer unless the request has another one already."""
        self.guard.count_refusal(refusal.reason)
        if self._part != "body" or (self._answering and not self.cycle.response_started):
            self.transport.write(refusal.answer())
        self._buffer.clear()
        self.transport.close()
        return False


def guarded(limits: Limits | None = None) -> type[GuardedProtocol]:
    """Return the protocol class for one server, with a guard of its own."""
    return type("GuardedProtocol", (GuardedProtocol,), {"guard": Guard(limits or Limits())})
