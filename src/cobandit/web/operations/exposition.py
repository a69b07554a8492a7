"""Metrics in the text format of Prometheus, at an address of their own.

They are not a page of the server: the address must be local, or requests must have a bearer token. The supervisor
answers, so the numbers cover all worker processes.
"""

from __future__ import annotations

import hmac
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from cobandit.base.errors import InvalidInput
from cobandit.web.meter import BOUNDS, KINDS, Totals

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
PATIENCE_SECONDS = 10

Sample = tuple[Mapping[str, str], float]
Gauges = Callable[[], Iterable[tuple[str, str, Sequence[Sample]]]]
"""Returns the values that are read for each request: name, help and samples."""


def exposition(totals: Totals, gauges: Iterable[tuple[str, str, Sequence[Sample]]] = ()) -> str:
    """Return all metrics as text."""
    lines: list[str] = []

    def family(name: str, kind: str, help_text: str, samples: Iterable[tuple[str, Mapping[str, str], float]]) -> None:
        lines.extend((f"# HELP {name} {help_text}", f"# TYPE {name} {kind}"))
        lines.extend(f"{name}{suffix}{_labels(labels)} {_number(value)}" for suffix, labels, value in samples)

    def single(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> None:
        family(name, kind, help_text, (("", labels, value) for labels, value in samples))

    single("cobandit_rounds_total", "counter", "Rounds that are stored.", [({}, totals.rounds)])
    requests = [({"kind": kind, "status": status}, count) for (kind, status), count in totals.requests().items()]
    single("cobandit_requests_total", "counter", "Answered requests.", requests)
    refusals = [({"reason": reason}, count) for reason, count in totals.refusals().items()]
    single("cobandit_refused_connections_total", "counter", "Connections refused or closed by a limit.", refusals)
    family("cobandit_request_seconds", "histogram", "Time to answer a request, without streams.", _histograms(totals))
    single("cobandit_open_connections", "gauge", "Open connections.", [({}, totals.connections)])
    single("cobandit_writer_queue", "gauge", "Jobs that wait for the database's writer.", [({}, totals.queue)])
    for name, help_text, samples in gauges:
        single(name, "gauge", help_text, samples)
    return "\n".join([*lines, ""])


def _histograms(totals: Totals) -> Iterable[tuple[str, Mapping[str, str], float]]:
    for kind in KINDS:
        counts, seconds = totals.latencies(kind)
        below = 0
        for bound, count in zip([*map(str, BOUNDS), "+Inf"], counts, strict=True):
            below += count
            yield "_bucket", {"kind": kind, "le": bound}, below
        yield "_sum", {"kind": kind}, seconds
        yield "_count", {"kind": kind}, below


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    escaped = (
        (name, value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")) for name, value in labels.items()
    )
    return "{" + ",".join(f'{name}="{value}"' for name, value in escaped) + "}"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))


class MetricsServer:
    """Answers ``GET /metrics`` in threads of its own, as long as it is open."""

    def __init__(self, address: tuple[str, int], token: str | None, cells: Any, gauges: Gauges) -> None:
        self._cells, self._gauges = cells, gauges
        self._lock = threading.Lock()
        wanted = None if token is None else f"Bearer {token}".encode()
        read = self._read

        class Handler(BaseHTTPRequestHandler):
            timeout = PATIENCE_SECONDS
            server_version, sys_version = "cobandit", ""

            def do_GET(self) -> None:
                given = self.headers.get("Authorization", "").encode("utf-8", "surrogateescape")
                if self.path.partition("?")[0] != "/metrics":
                    self._answer(404, "Only /metrics is here.\n")
                elif wanted is not None and not hmac.compare_digest(given, wanted):
                    self._answer(401, "A bearer token is needed.\n", {"WWW-Authenticate": "Bearer"})
                else:
                    self._answer(200, read())

            def _answer(self, status: int, text: str, more: Mapping[str, str] | None = None) -> None:
                body = text.encode()
                self.send_response(status)
                for name, value in {"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store", **(more or {})}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Log nothing: the address of the client would be in it."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: Any) -> None:
                """Say nothing: the client has gone away."""

        try:
            self._server = Server(address, Handler)
        except OSError as error:
            host, port = address
            raise InvalidInput(f"Metrics cannot be served at {host} port {port}: {error.strerror or error}.") from error
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    @property
    def port(self) -> int:
        """The port, which the system has chosen if 0 was asked for."""
        return int(self._server.server_address[1])

    def _read(self) -> str:
        with self._lock:  # one question to the database at a time, however many clients ask
            return exposition(Totals(self._cells), self._gauges())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
