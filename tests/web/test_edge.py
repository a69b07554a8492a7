"""Hostile clients at the edge of the server: what is refused, and that everybody else is still answered."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from cobandit.web import WebConfig
from cobandit.web.edge import RESERVED_FILES, Limits
from cobandit.web.security import HEADERS, network_of
from tests.clients import PATIENCE, statuses
from tests.web.servers import ForkedServer, until

ASKED = b"GET /api/messages/en HTTP/1.1\r\nhost: x\r\n\r\n"
LAST = b"GET /api/messages/en HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
SCRIPT = (
    "import json, os, sys\n"
    "from cobandit.web.config import WebConfig\n"
    "from cobandit.web.edge import Limits\n"
    "from cobandit.web.serving import bound_socket, serve\n"
    "limits = Limits(**json.loads(os.environ['EDGE_LIMITS']))\n"
    "listening = bound_socket('127.0.0.1', int(sys.argv[1]))\n"
    "serve(WebConfig.from_environment(), listening, int(sys.argv[2]), limits=limits)\n"
)
HASTY = {"head_seconds": 0.1, "body_seconds": 0.1, "idle_seconds": 0.1, "stalled_seconds": 0.1, "log_seconds": 0.01}
CROWDED = {"connections": 12, "hurried_seconds": 0.1, "log_seconds": 3600}

Start = Callable[..., ForkedServer]


@pytest.fixture(
    scope="module", params=[pytest.param(1, id="1-worker"), pytest.param(2, id="2-workers", marks=pytest.mark.long)]
)
def start(request: pytest.FixtureRequest, template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """A real server within these limits; tests with the same limits share it."""
    folder = tmp_path_factory.mktemp("edge")
    started: dict[str, ForkedServer] = {}

    def get(**limits: object) -> ForkedServer:
        key = json.dumps(limits or {"connections": 40, "trusted": [], "log_seconds": 0.01})
        if key not in started:
            database = shutil.copy(template, folder / f"{len(started)}.sqlite")
            server = started[key] = ForkedServer(WebConfig(f"sqlite:///{database}"), request.param)
            server.script, server.log = SCRIPT, folder / f"{len(started)}.log"
            server.environment["EDGE_LIMITS"] = key
            server.start()
        return started[key]

    yield get
    for server in started.values():
        server.stop()


def printed(server: ForkedServer) -> str:
    assert server.log is not None
    return server.log.read_text()


def connect(server: ForkedServer) -> socket.socket:
    parts = urlsplit(server.url)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def rest(connection: socket.socket) -> bytes:
    """Return everything until the server closes the connection, in whichever way it does."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def exchange(server: ForkedServer, *segments: bytes) -> bytes:
    """Send segments, each after the server has read the one before, and return all answers."""
    with connect(server) as connection:
        for number, segment in enumerate(segments):
            if number:
                healthy(server)  # the event loop has read the earlier segment before it answers this
            connection.sendall(segment)
        return rest(connection)


def send(connection: socket.socket, data: bytes, times: int) -> int:
    """Return how often the data could be sent before the server closed the connection."""
    for count in range(times):
        try:
            connection.sendall(data)
        except OSError:
            return count
    return times


def status(answer: bytes) -> int:
    return int(answer.split()[1])


def healthy(server: ForkedServer) -> bool:
    return httpx.get(f"{server.url}/api/health", trust_env=False, timeout=PATIENCE).json() == {"status": "ok"}


def head_of(size: int, headers: int = 10) -> bytes:
    """Return a head of exactly so many bytes, with so many headers."""
    start = b"GET /api/messages/en HTTP/1.1\r\nhost: x\r\nconnection: close\r\n"
    lines = b"".join(b"x-%02d: %s\r\n" % (i, b"a" * ((size - 1000) // headers - 8)) for i in range(headers - 3))
    lines += b"x-fill: "
    return start + lines + b"a" * (size - len(start) - len(lines) - 4) + b"\r\n\r\n"


class TestHeads:
    @pytest.mark.parametrize(
        "piece",
        [
            pytest.param(b"".join(b"x-%06d: %s\r\n" % (i, b"a" * 1000) for i in range(1000)), id="headers"),
            pytest.param(b"a" * 1_000_000, id="header"),
        ],
    )
    def test_endless_head(self, start: Start, piece: bytes) -> None:
        server = start()
        with connect(server) as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nx-long: ")
            assert send(connection, piece, 100) < 100
        assert healthy(server)
        until(lambda: "Refused: a head too large" in printed(server))

    def test_endless_address(self, start: Start) -> None:
        with connect(start()) as connection:
            connection.sendall(b"GET /")
            assert send(connection, b"a" * 1_000_000, 100) < 100

    @pytest.mark.parametrize("headers", [10, 100])
    @pytest.mark.parametrize("cuts", [(), (20_000,), (32_767,), (32_768,), (10, 32_765)], ids=str)
    def test_exactly_32_kb(self, start: Start, cuts: tuple[int, ...], headers: int) -> None:
        for size, expected in ((32_768, 200), (32_769, 431), (65_000, 431)):
            head = head_of(size, headers)
            assert len(head) == size
            pieces = [head[a:b] for a, b in zip((0, *cuts), (*cuts, size), strict=True) if head[a:b]]
            answer = exchange(start(), *pieces)
            assert statuses(answer) == [expected], size

    def test_refusal_is_a_complete_answer(self, start: Start) -> None:
        answer = exchange(start(), head_of(32_769))
        assert b'"error": "too-large"' in answer
        for name, value in HEADERS:
            assert name + b": " + value in answer

    @pytest.mark.parametrize(("count", "expected"), [(100, 200), (101, 431)])
    def test_number_of_headers(self, start: Start, count: int, expected: int) -> None:
        more = b"".join(b"x-%d: 1\r\n" % i for i in range(count - 2))
        assert statuses(exchange(start(), LAST[:-2] + more + b"\r\n")) == [expected]

    @pytest.mark.parametrize(
        ("lines", "expected"),
        [
            (b"GET /api/messages/en HTTP/1.1\r\n", 400),
            (b"GET /api/messages/en HTTP/1.1\r\nhost: a\r\nhost: a\r\n", 400),
            (b"GET /api/messages/en HTTP/1.1\r\nhost: a\r\nx: y\r\nHOST: b\r\n", 400),
            (b"GET /api/messages/en HTTP/1.1\r\nhost: a/b\r\n", 400),
            (b"GET /api/messages/en HTTP/1.1\r\nhost: a@b\r\n", 400),
            (b"GET /api/messages/en HTTP/1.1\r\nhost: a b\r\n", 400),
            (b"GET /api/messages/en HTTP/1.0\r\nhost: a\r\nhost: b\r\n", 400),
            (b"GET /api/messages/en HTTP/1.0\r\n", 200),
            (b"GET /api/messages/en HTTP/1.1\r\nhost:\r\n", 200),
            (b"GET /api/messages/en HTTP/1.1\r\nHost:Study.example.org:8000 \r\n", 200),
            (b"GET /api/messages/en HTTP/1.1\r\nHost: [2001:DB8::1]:80\r\n", 200),
        ],
    )
    def test_one_valid_host(self, start: Start, lines: bytes, expected: int) -> None:
        assert statuses(exchange(start(), lines + b"connection: close\r\n\r\n")) == [expected]

    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param(b"\x16\x03\x01\x02\x00", id="TLS"),
            pytest.param(b"\x16\x03\x01 nonsense\r\n\r\n", id="nonsense"),
            pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="HTTP/2"),
            pytest.param(b"CONNECT x:80 HTTP/1.1\r\nhost: x:80\r\n\r\n" + ASKED, id="CONNECT"),
            pytest.param(b"GET / HTTP/1.1\r\nhost: x\r\nx: 1\r\n folded\r\n\r\n", id="folded"),
            pytest.param(b"GET / HTTP/1.1\r\nhost : x\r\nhost: x\r\n\r\n", id="space-before-colon"),
            pytest.param(b"GET / HTTP/1.1\r\nhost: x\nx: y\r\n\r\n", id="bare-newline"),
        ],
    )
    def test_invalid_requests(self, start: Start, sent: bytes) -> None:
        answer = exchange(start(), sent)
        assert (statuses(answer), b'"error": "invalid"' in answer) == ([400], True)

    def test_empty_lines_before_a_request(self, start: Start) -> None:
        assert statuses(exchange(start(), b"\r\n", b"\r\n" + ASKED + b"\r\n\r\n" + LAST)) == [200, 200]


SMUGGLED = b"GET /api/health HTTP/1.1\r\nhost: x\r\n\r\n"
UPGRADES = {
    "websocket": b"connection: Upgrade\r\nupgrade: websocket\r\n",
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    "twice": b"upgrade: a\r\nconnection: keep-alive, upgrade\r\nUPGRADE: b\r\n",
    "none": b"",
}


def post(headers: bytes, body: bytes) -> bytes:
    start = b"POST /api/admin/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    return start + headers + b"content-length: %d\r\n\r\n" % len(body) + body


def pieces(sent: bytes, lengths: list[int], cut: str) -> list[bytes]:
    """Return the requests in segments, each cut in one way."""
    if cut == "together":
        return [sent]
    if cut == "bytes":
        return [bytes([byte]) for byte in sent]
    cuts, begin = [0], 0
    for length in lengths:
        head = begin + sent[begin : begin + length].index(b"\r\n\r\n") + 4
        cuts.append({"after-head": head, "in-head": head - 9, "in-body": min(head + 9, begin + length)}[cut])
        begin += length
    return [sent[a:b] for a, b in zip(cuts, [*cuts[1:], None], strict=True)]


def messages(answers: bytes) -> list[bytes]:
    """Return the bodies of answers, each of which announces its length."""
    bodies = []
    while answers:
        head, _, answers = answers.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        bodies.append(answers[:length])
        answers = answers[length:]
    return bodies


class TestSmuggling:
    """A body is never read as a request, however the bytes are cut into segments."""

    @pytest.mark.parametrize("upgrade", UPGRADES)
    @pytest.mark.parametrize("where", ["together", "after-head", "in-head", "in-body", "after-body", "bytes"])
    def test_upgrade_with_a_body(self, start: Start, upgrade: str, where: str) -> None:
        first = post(UPGRADES[upgrade], SMUGGLED)
        head = first.index(b"\r\n\r\n") + 4
        cut = {"after-head": head, "in-head": head - 30, "in-body": head + 16, "after-body": len(first)}.get(where, 0)
        sent = first + LAST
        if where == "bytes":
            with connect(start()) as connection:
                for byte in sent:
                    connection.sendall(bytes([byte]))
                answers = rest(connection)
        else:
            answers = exchange(start(), *filter(None, (sent[:cut], sent[cut:])))
        assert statuses(answers) == [422, 200]

    def test_upgrade_without_a_body(self, start: Start) -> None:
        for upgrade in UPGRADES.values():
            asked = ASKED.replace(b"host: x\r\n", b"host: x\r\n" + upgrade)
            assert statuses(exchange(start(), asked, asked + LAST)) == [200, 200, 200]

    @pytest.mark.parametrize(
        "headers",
        [
            b"content-length: 6\r\ntransfer-encoding: chunked\r\n",
            b"transfer-encoding: chunked\r\ncontent-length: 6\r\n",
            b"content-length: 6\r\ncontent-length: 5\r\n",
            b"content-length: 6, 6\r\n",
            b"content-length: +6\r\n",
            b"transfer-encoding: xchunked\r\n",
            b"transfer-encoding: gzip, chunked\r\n",
            b"transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
            b"transfer-encoding : chunked\r\n",
            b"transfer-encoding:\x0bchunked\r\n",
            b"x: y\r\n transfer-encoding: chunked\r\n",
        ],
    )
    @pytest.mark.parametrize("apart", [False, True])
    def test_ambiguous_length(self, start: Start, headers: bytes, apart: bool) -> None:
        head = b"POST /api/admin/login HTTP/1.1\r\nhost: x\r\n" + headers + b"\r\n"
        body = b"0\r\n\r\nX" + LAST
        assert statuses(exchange(start(), *((head, body) if apart else (head + body,)))) == [400]

    @pytest.mark.parametrize("cut", ["together", "after-head", "in-head", "in-body", "bytes"])
    def test_repeated_heads(self, start: Start, cut: str) -> None:
        """A head that comes again is not parsed again: each body has its own answer, whatever comes in between."""
        path = b"POST /api/participants/somebody-who-is-not-there/rounds?language="
        sorts = [
            post(b"", b'{"episode": 0, "moves": [0]}'),
            post(b"", b'{"episode": "", "moves": []}'),
            post(b"x-other: 1\r\n", b'{"episode": 0, "moves": [0]}'),
            ASKED,
            post(b"", b'{"moves": 7, "episode": 123}'),
            SMUGGLED,
            post(b"", SMUGGLED[:28]),
        ]
        requests = [request.replace(b"POST /api/admin/login", path + b"en") for request in sorts]
        order = [0, 0, 1, 4, 3, 1, 1, 2, 2, 0, 5, 4, 6, 0]
        alone = [messages(exchange(start(), request, LAST))[0] for request in requests]
        assert len(set(alone)) == 6, "only the two sorts of heads with one body are answered alike"
        sent = b"".join(requests[place] for place in order)
        with connect(start()) as connection:
            for piece in pieces(sent, [len(requests[place]) for place in order], cut):
                connection.sendall(piece)
            connection.sendall(LAST)
            assert messages(rest(connection))[:-1] == [alone[place] for place in order]

    def test_chunks_under_http_1_0(self, start: Start) -> None:
        head = b"POST /api/admin/login HTTP/1.0\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n"
        assert statuses(exchange(start(), head + b"0\r\n\r\n" + LAST)) == [400]

    @pytest.mark.parametrize("apart", [False, True])
    def test_a_chunked_body_is_the_last_of_its_connection(self, start: Start, apart: bool) -> None:
        """Only the parser knows where it ends, so whatever follows is not read."""
        head = b"POST /api/admin/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
        body = b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nhost: evil\r\n\r\n"
        pieces = (head + body, SMUGGLED) if apart else (head + body + SMUGGLED,)
        with connect(start()) as connection:
            for piece in pieces:
                send(connection, piece, 1)
            answer = rest(connection)
        assert (statuses(answer), b"connection: close" in answer) == ([422], True)

    def test_nothing_follows_a_body_that_waits_for_100_continue(self, start: Start) -> None:
        """A proxy may leave out the body after a final answer: what it sends next is no request of this connection."""
        head = b"POST /nowhere HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: %d\r\n\r\n" % len(ASKED)
        answer = exchange(start(), head, ASKED, LAST)
        assert statuses(answer) == [404]
        assert b"connection: close" in answer


class TestBodies:
    def test_endless_trailers_and_chunk_extensions(self, start: Start) -> None:
        server = start()
        head = b"POST /api/admin/login HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
        for piece in (b"x-more: 1\r\n" * 1000, b"a" * 100_000):
            with connect(server) as connection:
                connection.sendall(head + (b"0\r\n" if b"x-" in piece else b"1;"))
                assert send(connection, piece, 1000) < 1000
        assert healthy(server)

    def test_endless_chunks(self, start: Start) -> None:
        server = start()
        with connect(server) as connection:
            connection.sendall(b"POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
            assert send(connection, b"10000\r\n" + b"a" * 65536 + b"\r\n", 1000) < 1000
        assert healthy(server)

    @pytest.mark.parametrize("count", [20, 300])
    def test_requests_sent_ahead_are_all_answered(self, start: Start, count: int) -> None:
        server = start()
        before = len(printed(server))
        answers = exchange(server, ASKED * (count - 1) + LAST)
        assert statuses(answers) == [200] * count
        # The server counts refusals and prints them now and then, so those of earlier tests may be printed here.
        assert [line for line in printed(server)[before:].splitlines() if not line.startswith("Refused: ")] == []

    def test_requests_sent_ahead_of_a_bad_one_are_answered(self, start: Start) -> None:
        assert statuses(exchange(start(), ASKED * 20 + b"nonsense\r\n\r\n" + ASKED)) == [200] * 20 + [400]

    def test_an_answer_before_the_end_of_the_body(self, start: Start) -> None:
        """The server answers 404 without reading the body, and then takes the next request behind the body."""
        first = b"POST /no/such/page HTTP/1.1\r\nhost: x\r\ncontent-length: 90000\r\n\r\n"
        answers = exchange(start(), first, b"a" * 40_000, b"a" * 50_000 + LAST)
        assert statuses(answers) == [404, 200]

    @pytest.mark.parametrize("size", [128 * 1024, 128 * 1024 + 1, 900_000])
    def test_a_large_body_is_answered_also_while_it_is_being_sent(self, start: Start, size: int) -> None:
        answers = exchange(start(), post(b"", b"a" * size) + LAST)
        assert statuses(answers) == [422 if size == 128 * 1024 else 413, 200]

    def test_an_even_larger_body_ends_the_connection(self, start: Start) -> None:
        with connect(start()) as connection:
            connection.sendall(post(b"", b"a" * 100)[:-100].replace(b"length: 100", b"length: 100000000"))
            assert status(connection.recv(65536)) == 413
            assert send(connection, b"a" * 100_000, 1000) < 1000


class TestTime:
    @pytest.mark.parametrize(
        ("sent", "expected"),
        [
            (b"", []),  # a browser that connects ahead of need would take an answer for that to its next request
            (b"GET / HT", [408]),
            (b"\r\n", [408]),
            (ASKED, [200]),
            (ASKED + b"GET", [200, 408]),
            (post(b"", b"123456789")[:-3], [408]),
        ],
    )
    def test_unfinished_requests(self, start: Start, sent: bytes, expected: list[int]) -> None:
        assert statuses(exchange(start(**HASTY), sent)) == expected

    def test_an_answer_that_the_client_does_not_read(self, start: Start) -> None:
        server = start(**HASTY)
        with connect(server) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for _ in range(1000):  # far more than the buffers of both sides hold
                if send(connection, ASKED, 1) == 0:
                    break
            until(lambda: "an answer that the client does not read" in printed(server))
        assert healthy(server)


class TestConnections:
    def test_of_one_address(self, start: Start) -> None:
        server = start()
        with ExitStack() as stack:
            answers = []
            for _ in range(10 * server.workers + 1):
                connection = stack.enter_context(connect(server))
                connection.sendall(ASKED)
                answers.append(connection.recv(65536))
                if status(answers[-1]) != 200:
                    break
        assert status(answers[-1]) == 503
        assert b"retry-after: 5" in answers[-1]
        until(lambda: "too many connections from 127.0.0.1" in printed(server))

    def test_of_a_proxy(self, start: Start) -> None:
        server = start(**CROWDED)
        with ExitStack() as stack:
            for _ in range(8):
                connection = stack.enter_context(connect(server))
                connection.sendall(ASKED)
                assert status(connection.recv(65536)) == 200

    def test_all_taken(self, start: Start) -> None:
        """Clients without a request get little time then, so that the server is soon reachable again."""
        server = start(**CROWDED)
        seen: set[int] = set()
        for _ in range(50):
            with ExitStack() as stack:
                half_open = [stack.enter_context(connect(server)) for _ in range(12 * server.workers + 1)]
                for connection in half_open:
                    send(connection, b"GET /", 1)
                seen |= {status(rest(connection)) for connection in half_open}
            if 503 in seen:
                break
        assert seen == {408, 503}
        until(lambda: httpx.get(f"{server.url}/api/health", trust_env=False, timeout=PATIENCE).status_code == 200)


def test_a_flood_of_refusals_is_one_line(start: Start) -> None:
    server = start(**CROWDED)
    for _ in range(50):
        assert statuses(exchange(server, b"nonsense\r\n\r\n")) == [400]
    lines = printed(server).splitlines()
    assert 1 <= len(lines) <= server.workers
    assert all(line.startswith("Refused: ") and len(line) < 120 for line in lines)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("/run/study.sock", "/run/study.sock"),
    ],
)
def test_network_of(address: str, network: str) -> None:
    assert network_of(address) == network


def test_trusted_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.0.0.0/8, 192.0.2.7,/run/study.sock")
    limits = Limits()
    trusted = ("10.1.2.3", "192.0.2.7", "::1", "", "/run/study.sock")
    assert all(limits.trusts(address) for address in trusted)
    assert not any(limits.trusts(address) for address in ("11.0.0.1", "192.0.2.8", "2001:db8::1"))
    assert Limits(trusted=("*",)).trusts("11.0.0.1")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_the_file_limit_is_raised_and_connections_stay_below_it() -> None:
    script = (
        "import resource\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))\n"
        "from cobandit.web.edge import Limits, open_files, raise_file_limit\n"
        "print(Limits().most_connections)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (512, 2000 if hard == -1 else min(hard, 2000)))\n"
        "raise_file_limit()\n"
        "print(open_files())\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, env=os.environ)
    assert ran.stdout.split() == [str(512 - RESERVED_FILES), "2000"]
