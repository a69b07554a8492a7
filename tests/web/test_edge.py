"""Strangers at the edge of the server: what is cut off, and that everybody else goes on."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from cobandit.web import WebConfig
from cobandit.web.edge import FILES_KEPT_BACK, Limits
from cobandit.web.security import HEADERS, network_of
from cobandit.web.serving import running

ASKED = b"GET /api/messages/en HTTP/1.1\r\nhost: x\r\n\r\n"
PATIENCE = 60

Start = Callable[..., str]


@pytest.fixture
def start(short_sqlite: str) -> Iterator[Start]:
    """A server within these limits."""
    with ExitStack() as stack:
        yield lambda **limits: stack.enter_context(running(WebConfig(short_sqlite), Limits(**limits)))


def connect(url: str) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server hangs up, however it does so."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def send(connection: socket.socket, data: bytes, times: int) -> int:
    """How often it could be sent before the server hung up."""
    for count in range(times):
        try:
            connection.sendall(data)
        except OSError:
            return count
    return times


def status(answer: bytes) -> int:
    return int(answer.split()[1])


def well(url: str) -> bool:
    return httpx.get(f"{url}/api/health", trust_env=False, timeout=PATIENCE).json() == {"status": "ok"}


@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(b"".join(b"x-%06d: %s\r\n" % (i, b"a" * 1000) for i in range(1000)), id="headers"),
        pytest.param(b"a" * 1_000_000, id="header"),
    ],
)
def test_a_head_without_end_is_cut_off(start: Start, caplog: pytest.LogCaptureFixture, piece: bytes) -> None:
    url = start()
    with caplog.at_level(logging.WARNING), connect(url) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nx-long: ")
        assert send(connection, piece, 100) < 100
        assert well(url)
    assert "Refused: a head too large (1)" in caplog.text


def test_an_address_without_end_is_cut_off(start: Start) -> None:
    with connect(start()) as connection:
        connection.sendall(b"GET /")
        assert send(connection, b"a" * 1_000_000, 100) < 100


def test_a_head_too_large_is_told_so(start: Start) -> None:
    with connect(start()) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nhost: x\r\nx-long: " + b"a" * 33_000)
        answer = rest(connection)
    assert status(answer) == 431
    assert b'"error": "too-large"' in answer
    for name, value in HEADERS:
        assert name + b": " + value in answer


@pytest.mark.parametrize("count", [99, 100])
def test_so_many_headers_and_no_more(start: Start, count: int) -> None:
    with connect(start()) as connection:
        head = b"".join(b"x-%d: 1\r\n" % i for i in range(count - 2))
        connection.sendall(
            b"GET /api/messages/en HTTP/1.1\r\nhost: x\r\nconnection: close\r\n" + head + b"y: 1\r\n\r\n"
        )
        assert status(rest(connection)) == (200 if count < 100 else 431)


def test_what_follows_a_body_has_an_end(start: Start) -> None:
    """Headers may come after a body in chunks, and text beside the length of each chunk; neither is read for ever."""
    url = start()
    head = b"POST /api/admin/login HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
    for piece in (b"x-more: 1\r\n" * 1000, b"a" * 100_000):
        with connect(url) as connection:
            connection.sendall(head + (b"0\r\n" if b"x-" in piece else b"1;"))
            assert send(connection, piece, 1000) < 1000
    assert well(url)


def test_a_body_in_chunks_has_an_end(start: Start) -> None:
    url = start()
    with connect(url) as connection:
        connection.sendall(b"POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        assert send(connection, b"10000\r\n" + b"a" * 65536 + b"\r\n", 1000) < 1000
    assert well(url)


def test_requests_one_behind_the_other(start: Start) -> None:
    url = start()
    with connect(url) as connection:
        connection.sendall(ASKED * 9 + ASKED.replace(b"host: x", b"host: x\r\nconnection: close"))
        assert rest(connection).count(b"HTTP/1.1 200") == 10
    with connect(url) as connection:
        assert send(connection, ASKED * 1000, 1000) < 1000
    assert well(url)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", b"\r\n", ASKED + b"GET", b"POST /api/admin/login HTTP/1.1\r\ncontent-length: 9\r\n\r\n"],
)
def test_whoever_does_not_finish_is_hung_up_on(start: Start, sent: bytes) -> None:
    with connect(start(head_seconds=0.1, body_seconds=0.1)) as connection:
        connection.sendall(sent)
        answer = rest(connection)
    answers = answer.count(b"HTTP/1.1 ")
    # A browser that has connected ahead of need is told nothing: it would take it for the answer to what it asks next.
    assert answers == {b"": 0, ASKED + b"GET": 2}.get(sent, 1)
    assert (b"HTTP/1.1 408" in answer) == bool(sent)


def test_waiting_for_the_server_is_no_fault(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an answer takes its time, what was sent behind its request is not read, and not late."""
    import asyncio

    from cobandit.web.services.participants import Participants

    async def slowly(service: Any) -> list[Any]:
        await asyncio.sleep(2.5)
        return []

    monkeypatch.setattr(Participants, "studies", slowly)
    with connect(start(head_seconds=0.1)) as connection:
        slow = ASKED.replace(b"/api/messages/en", b"/api/health")
        connection.sendall(slow + slow)
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_connections_of_one_address(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    url = start(connections=12, trusted=())
    with ExitStack() as stack, caplog.at_level(logging.WARNING):
        opened = [stack.enter_context(connect(url)) for _ in range(3)]
        for connection in opened:
            connection.sendall(ASKED)
            assert status(connection.recv(65536)) == 200
        more = rest(stack.enter_context(connect(url)))
        assert (status(more), b"retry-after: 5" in more) == (503, True)
    assert "too many connections from 127.0.0.1 (1)" in caplog.text


def test_a_proxy_speaks_for_many(start: Start) -> None:
    url = start(connections=12)
    with ExitStack() as stack:
        for _ in range(8):
            connection = stack.enter_context(connect(url))
            connection.sendall(ASKED)
            assert status(connection.recv(65536)) == 200


def test_all_connections_taken(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    url = start(connections=8, hurried_seconds=0.1)
    with ExitStack() as stack, caplog.at_level(logging.WARNING):
        half_open = [stack.enter_context(connect(url)) for _ in range(8)]
        for connection in half_open:
            connection.sendall(b"GET /")
        assert status(rest(stack.enter_context(connect(url)))) == 503
        assert [status(rest(connection)) for connection in half_open] == [408] * 8
        assert well(url)
    assert "too many connections (1)" in caplog.text


def test_an_answer_that_nobody_takes(start: Start, caplog: pytest.LogCaptureFixture) -> None:
    url = start(stalled_seconds=0.1, pipelined=10_000)
    with caplog.at_level(logging.WARNING), connect(url) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        for _ in range(1000):  # far more than the buffers of both sides hold
            if send(connection, ASKED, 1) == 0:
                break
        while "an answer that nobody takes" not in caplog.text:
            assert well(url)


def test_nonsense_is_told_so(start: Start) -> None:
    with connect(start()) as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        answer = rest(connection)
    assert (status(answer), b'"error": "invalid"' in answer) == (400, True)


def test_an_upgrade_is_not_needed(start: Start) -> None:
    with connect(start()) as connection:
        connection.sendall(ASKED.replace(b"host: x", b"host: x\r\nconnection: upgrade\r\nupgrade: websocket"))
        assert status(connection.recv(65536)) == 200


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
def test_who_counts_as_one(address: str, network: str) -> None:
    assert network_of(address) == network


def test_whom_the_limits_trust(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert ran.stdout.split() == [str(512 - FILES_KEPT_BACK), "2000"]
