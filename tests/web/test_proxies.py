"""The server behind real proxies, with the configuration that the documentation gives."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from cobandit.web import WebConfig
from cobandit.web.storage.database import Database
from tests.clients import PATIENCE, http_client, statuses
from tests.web.conftest import PASSWORD, SHORT, Person
from tests.web.proxies import ASKED, HOST, LAST, PROXIES, Proxy, started
from tests.web.servers import ForkedServer

SMUGGLED = b"GET /api/health HTTP/1.1\r\nhost: study.example.org\r\n\r\n"


@pytest.fixture(scope="module")
def server(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkedServer]:
    """A real server with two workers."""
    database = shutil.copy(template, tmp_path_factory.mktemp("server") / "studies.sqlite")
    server = ForkedServer(WebConfig(f"sqlite:///{database}"), 2).start()
    yield server
    server.stop()


@pytest.fixture(scope="module", params=PROXIES)
def proxy(
    request: pytest.FixtureRequest, server: ForkedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    """The server behind this proxy."""
    with started(request.param, server, tmp_path_factory.mktemp(request.param)) as running:
        yield running


def post(path: bytes, body: bytes, *headers: bytes, kind: bytes = b"application/json") -> bytes:
    lines = [b"POST %s HTTP/1.1" % path, b"host: " + HOST, b"connection: close", b"content-type: " + kind, *headers]
    return b"\r\n".join([*lines, b"content-length: %d" % len(body), b"", body])


def test_the_address_of_the_visitor(proxy: Proxy) -> None:
    """The server believes the proxy, and the proxy does not believe the visitor."""
    forged = (b"x-forwarded-for: 203.0.113.9", b"forwarded: for=203.0.113.9", b"x-real-ip: 203.0.113.9")
    sent = post(b"/api/admin/login", b'{"password": "a wrong one"}', *forged)
    source = f"127.0.1.{10 + list(PROXIES).index(proxy.name)}"
    assert statuses(proxy.exchange(sent, source=source)) == [403]
    database = Database(proxy.server.config.database)
    with database.reading.connect() as connection:
        seen = set(connection.execute(text("SELECT address FROM failed_logins")).scalars())
    database.close()
    assert source in seen
    assert "203.0.113.9" not in seen


def test_the_cookie_is_for_https_only(proxy: Proxy) -> None:
    form = b"password=" + PASSWORD.replace(" ", "+").encode()
    answer = proxy.exchange(post(b"/admin/login", form, kind=b"application/x-www-form-urlencoded"))
    assert statuses(answer) == [303]
    cookies = re.findall(rb"(?im)^set-cookie: (.*)\r$", answer)
    assert len(cookies) == 2  # the login, and the mark of a known browser
    for cookie in cookies:
        assert {b"secure", b"httponly"} <= {part.strip().lower() for part in cookie.split(b";")}
    assert re.search(rb"(?im)^location: /admin\r$", answer)


def test_redirects_stay_relative(proxy: Proxy) -> None:
    answer = proxy.exchange(LAST.replace(b"/api/messages/en", b"/admin/"))
    assert re.search(rb"(?im)^location: /admin\r$", answer)


@pytest.mark.parametrize(("size", "expected"), [(120_000, 422), (200_000, 413), (2_000_000, 413)])
def test_size_of_a_body(proxy: Proxy, size: int, expected: int) -> None:
    """A client that waits with a large body for a sign of the server, as curl does, reads what is wrong.

    Caddy asks for the body before the server has refused it, and closes the connection after the refusal: the client
    cannot send all of it, and reads the answer all the same. The server stops reading at 1 MB, and Caddy, when it
    notices this before it has read the refusal, would answer 502; so it refuses larger bodies by itself.
    """
    sent = post(b"/api/admin/login", b'{"password": "' + b"a" * size + b'"}', b"expect: 100-continue")
    head = sent.index(b"\r\n\r\n") + 4
    with proxy.connect() as connection:
        connection.sendall(sent[:head])
        answer = connection.recv(65536)
        if statuses(answer) == [100]:
            with contextlib.suppress(OSError):
                connection.sendall(sent[head:])
        while set(statuses(answer)) == {100} and (piece := connection.recv(65536)):
            answer += piece
    assert [number for number in statuses(answer) if number != 100] == [expected]


def test_size_of_a_head(proxy: Proxy) -> None:
    sent = LAST.replace(b"\r\n\r\n", b"\r\nx-long: " + b"a" * 60_000 + b"\r\n\r\n")
    assert all(400 <= number < 500 for number in statuses(proxy.exchange(sent)))
    assert proxy.answers()


def test_the_event_stream_is_not_held_back(proxy: Proxy) -> None:
    """The second tick comes while the first answer is still open."""
    address = f"https://127.0.0.1:{proxy.port}"
    headers: dict[str, str] = {"host": HOST.decode()}
    known = {"sni_hostname": HOST.decode()}
    with httpx.Client(verify=False, trust_env=False, timeout=PATIENCE, headers=headers) as client:

        def ask(method: str, path: str, **more: Any) -> httpx.Response:
            return client.send(client.build_request(method, address + path, extensions=known, **more))

        token = ask("POST", "/api/admin/login", json={"password": PASSWORD}).json()["token"]
        bearer = {"authorization": f"Bearer {token}"}
        asked = client.build_request("GET", f"{address}/api/admin/studies/1/stream", headers=bearer, extensions=known)
        stream = client.send(asked, stream=True)
        lines = (line for line in stream.iter_lines() if line.startswith("id: "))
        first = next(lines)
        arrived = ask(
            "POST", "/api/studies/short/participants", json={"key": os.urandom(8).hex(), "consent_version": "1"}
        )
        assert arrived.status_code == 201
        assert next(lines) != first
        stream.close()


def head(method: bytes, path: bytes, *headers: bytes) -> bytes:
    return b"\r\n".join([b"%s %s HTTP/1.1" % (method, path), b"host: " + HOST, *headers, b"", b""])


LOGIN = b"POST", b"/api/admin/login"
PAGE = b"GET", b"/api/messages/en"
LENGTH = b"content-length: %d" % len(SMUGGLED)
LONGER = b"content-length: %d" % (5 + len(SMUGGLED))
H2C = (b"connection: Upgrade, HTTP2-Settings", b"upgrade: h2c", b"http2-settings: AAMAAABkAAQAAP__")
WEBSOCKET = (b"connection: upgrade", b"upgrade: websocket", b"sec-websocket-version: 13", b"sec-websocket-key: AAAA")
ATTACKS = {
    "upgrade-h2c": (head(*LOGIN, *H2C, LENGTH), SMUGGLED),
    "upgrade-websocket": (head(*PAGE, *WEBSOCKET), SMUGGLED),
    "upgrade-with-body": (head(*LOGIN, *WEBSOCKET, LENGTH), SMUGGLED),
    "length-and-chunks": (head(*LOGIN, LONGER, b"transfer-encoding: chunked"), b"0\r\n\r\n" + SMUGGLED),
    "hidden-chunks": (head(*LOGIN, LONGER, b"transfer-encoding: xchunked"), b"0\r\n\r\n" + SMUGGLED),
    "two-lengths": (head(*LOGIN, b"content-length: 0", LENGTH), SMUGGLED),
    "chunk-extension": (
        head(*LOGIN, b"transfer-encoding: chunked"),
        b"2;\nxx\r\n{}\r\n0\r\n\r\n" + SMUGGLED,
    ),
    "two-hosts": (head(*PAGE, b"host: evil.example"),),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_smuggled_requests(proxy: Proxy, attack: str) -> None:
    """No attack leaves an answer behind on a connection between proxy and server that others use."""
    expected = body_of(proxy.exchange(LAST))
    for _ in range(3):
        with proxy.connect() as connection, contextlib.suppress(OSError):
            for segment in ATTACKS[attack]:
                connection.sendall(segment)
            assert connection.recv(65536)[:9] in (b"HTTP/1.1 ", b"HTTP/1.0 ", b"")
    for _ in range(5):  # more often than there are connections
        answer = proxy.exchange(ASKED + LAST)
        assert statuses(answer) == [200, 200]
        assert answer.count(expected) == 2


def body_of(answer: bytes) -> bytes:
    """Return the longest line of a JSON body, whether or not it is chunked."""
    return max(answer.partition(b"\r\n\r\n")[2].split(b"\r\n"), key=len)


@pytest.mark.parametrize("name", PROXIES)
def test_below_a_path(name: str, template: Path, tmp_path: Path) -> None:
    """nginx and HAProxy keep the path of the requests, Caddy removes it; links, cookies and redirects have it."""
    database = shutil.copy(template, tmp_path / "studies.sqlite")
    server = ForkedServer(WebConfig(f"sqlite:///{database}", root_path="/lab", consent_elsewhere=True)).start()
    try:
        with started(name, server, tmp_path, "/lab") as proxy:
            form = b"password=" + PASSWORD.replace(" ", "+").encode()
            answer = proxy.exchange(post(b"/lab/admin/login", form, kind=b"application/x-www-form-urlencoded"))
            assert re.search(rb"(?im)^location: /lab/admin\r$", answer)
            paths = re.findall(rb"(?im)^set-cookie: .*; path=([^;\r]*)", answer)
            assert sorted(paths) == [b"/lab", b"/lab/admin/login"]
            assert b'href="/lab/s/short"' in proxy.exchange(LAST.replace(b"/api/messages/en", b"/lab/"))
            if name != "haproxy":  # which passes on everything
                assert statuses(proxy.exchange(LAST.replace(b"/api/messages/en", b"/admin"))) != [303]
            options: Any = {
                "verify": False,
                "headers": {"host": HOST.decode()},
                "event_hooks": {"request": [_name_host]},
            }
            with http_client(f"https://127.0.0.1:{proxy.port}/lab", **options) as client:
                body = {"key": os.urandom(8).hex(), "consent_version": "1"}
                arrived = client.post("/api/studies/short/participants", json=body).json()
                assert Person(client, arrived["token"]).go_on(SHORT)["step"]["kind"] == "thanks"
    finally:
        server.stop()


def _name_host(request: httpx.Request) -> None:
    request.extensions["sni_hostname"] = HOST.decode()
