"""The server behind real proxies, with the configuration that the documentation gives."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from cobandit.web import WebConfig
from cobandit.web.storage.database import Database
from tests.clients import PATIENCE
from tests.web.conftest import PASSWORD
from tests.web.servers import KeptPort, StudyServer, until

DOCS = Path(__file__).parents[2] / "docs/how-to/run-a-study.md"
HOST = b"study.example.org"
ASKED = b"GET /api/messages/en HTTP/1.1\r\nhost: study.example.org\r\n\r\n"
LAST = ASKED.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
SMUGGLED = b"GET /api/health HTTP/1.1\r\nhost: study.example.org\r\n\r\n"


def documented(file: str) -> str:
    """Return the block of the documentation that begins with the name of a file."""
    blocks = re.findall(r"^```\w+\n# (\S+)\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    return dict(blocks)[file]


def replaced(configuration: str, *changes: tuple[str, str]) -> str:
    """Replace addresses and files of the documentation, each of which must be there."""
    for old, new in changes:
        assert old in configuration, old
        configuration = configuration.replace(old, new)
    return configuration


def nginx(folder: Path, port: int, server: int) -> list[str]:
    changes = (
        ("127.0.0.1:8000", f"127.0.0.1:{server}"),
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/letsencrypt/live/study.example.org/fullchain.pem", f"{folder}/certificate.pem"),
        ("/etc/letsencrypt/live/study.example.org/privkey.pem", f"{folder}/key.pem"),
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in kinds)
    user = "user root;" if os.geteuid() == 0 else ""
    site = replaced(documented("/etc/nginx/conf.d/study.conf"), *changes)
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; pid {folder}/pid; events {{}} http {{ {paths}\n{site}\n}}\n"
    )
    return ["nginx", "-p", str(folder), "-e", "stderr", "-c", f"{folder}/nginx.conf"]


def caddy(folder: Path, port: int, server: int) -> list[str]:
    keys = f"tls {folder}/certificate.pem {folder}/key.pem"
    changes = (
        ("{\n    servers {", "{\n    admin off\n    auto_https disable_redirects\n    servers {"),
        ("study.example.org {", f"https://study.example.org:{port} {{\n    bind 127.0.0.1\n    {keys}"),
        ("127.0.0.1:8000", f"127.0.0.1:{server}"),
    )
    (folder / "Caddyfile").write_text(replaced(documented("/etc/caddy/Caddyfile"), *changes))
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


def haproxy(folder: Path, port: int, server: int) -> list[str]:
    changes = (
        ("bind :443", f"bind 127.0.0.1:{port}"),
        ("/etc/haproxy/study.example.org.pem", f"{folder}/both.pem"),
        ("127.0.0.1:8000", f"127.0.0.1:{server}"),
    )
    (folder / "both.pem").write_text((folder / "certificate.pem").read_text() + (folder / "key.pem").read_text())
    (folder / "haproxy.cfg").write_text(replaced(documented("/etc/haproxy/haproxy.cfg"), *changes))
    return ["haproxy", "-db", "-f", f"{folder}/haproxy.cfg"]


PROXIES: dict[str, Callable[[Path, int, int], list[str]]] = {"nginx": nginx, "caddy": caddy, "haproxy": haproxy}


class Proxy:
    """A proxy in front of a server, and a client of it."""

    def __init__(self, name: str, port: int, server: StudyServer) -> None:
        self.name, self.port, self.server = name, port, server
        self._tls = ssl.create_default_context()
        self._tls.check_hostname, self._tls.verify_mode = False, ssl.CERT_NONE

    def connect(self, source: str = "127.0.0.1") -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=(source, 0))
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self._tls.wrap_socket(plain, server_hostname=HOST.decode())

    def exchange(self, *segments: bytes, source: str = "127.0.0.1") -> bytes:
        """Send segments one after the other; return everything until the proxy closes the connection."""
        received = b""
        with (
            self.connect(source) as connection,
            contextlib.suppress(ConnectionResetError, ssl.SSLError, BrokenPipeError),
        ):
            for segment in segments:
                connection.sendall(segment)
            while piece := connection.recv(65536):
                received += piece
        return received

    def answers(self) -> bool:
        with contextlib.suppress(OSError):
            return statuses(self.exchange(LAST)) == [200]
        return False


def statuses(answers: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb"HTTP/1\.[01] ([0-9]{3}) ", answers)]


@pytest.fixture(scope="module")
def server(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StudyServer]:
    """A real server with two workers."""
    database = shutil.copy(template, tmp_path_factory.mktemp("server") / "studies.sqlite")
    server = StudyServer(WebConfig(f"sqlite:///{database}"), 2).start()
    yield server
    server.stop()


@pytest.fixture(scope="module", params=PROXIES)
def proxy(
    request: pytest.FixtureRequest, server: StudyServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Proxy]:
    """The server behind this proxy."""
    name = request.param
    for program in (name, "openssl"):
        if shutil.which(program) is None:
            said = f"The tests behind proxies need {program}: make proxies."
            if os.environ.get("CI", "").lower() in ("1", "true"):
                pytest.fail(said, pytrace=False)
            pytest.skip(said)
    folder, kept = tmp_path_factory.mktemp(name), KeptPort()
    subject = ["-subj", "/CN=study.example.org", "-addext", "subjectAltName=DNS:study.example.org"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*made, *files, *subject], check=True, capture_output=True)
    command = PROXIES[name](folder, kept.number, server.port)
    environment = os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    proxy = Proxy(name, kept.number, server)
    try:
        until(lambda: process.poll() is not None or proxy.answers(), name)
        assert process.poll() is None, (folder / "log").read_text()
        yield proxy
    finally:
        process.terminate()
        process.wait(PATIENCE)
        kept.close()


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

    A proxy that asks for the body itself may hang up or answer 502 in the middle of it, once the server has refused it.
    """
    sent = post(b"/api/admin/login", b'{"password": "' + b"a" * size + b'"}', b"expect: 100-continue")
    head = sent.index(b"\r\n\r\n") + 4
    with proxy.connect() as connection:
        connection.sendall(sent[:head])
        answer = connection.recv(65536)
        with contextlib.suppress(OSError):
            if statuses(answer) == [100]:
                connection.sendall(sent[head:])
            while set(statuses(answer)) == {100} and (piece := connection.recv(65536)):
                answer += piece
    cut_off = expected == 413 and statuses(answer) in ([100], [100, 502])
    assert cut_off or [number for number in statuses(answer) if number != 100] == [expected]


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
