"""Real proxies in front of a study server, with the configuration that the documentation gives."""

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

import pytest

from tests.clients import PATIENCE, statuses
from tests.web.servers import KeptPort, StudyServer, until

DOCS = Path(__file__).parents[2] / "docs/how-to/run-a-study.md"
HOST = b"study.example.org"
ASKED = b"GET /api/messages/en HTTP/1.1\r\nhost: study.example.org\r\n\r\n"
LAST = ASKED.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")


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


def nginx(folder: Path, port: int, server: int, root: str = "") -> list[str]:
    changes = (
        ("location / {", f"location {root}/ {{"),
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


def caddy(folder: Path, port: int, server: int, root: str = "") -> list[str]:
    keys = f"tls {folder}/certificate.pem {folder}/key.pem"
    changes = (
        ("{\n    servers {", "{\n    admin off\n    auto_https disable_redirects\n    servers {"),
        ("study.example.org {", f"https://study.example.org:{port} {{\n    bind 127.0.0.1\n    {keys}"),
        ("127.0.0.1:8000", f"127.0.0.1:{server}"),
    )
    site = replaced(documented("/etc/caddy/Caddyfile"), *changes)
    if root:  # around the block of reverse_proxy, which is the last one of the site
        site = re.sub(
            r"reverse_proxy .*(?=\}\s*$)",
            lambda found: f"handle_path {root}/* {{ \n{found[0]}}}\n",
            site,
            flags=re.DOTALL,
        )
    (folder / "Caddyfile").write_text(site)
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


def haproxy(folder: Path, port: int, server: int, root: str = "") -> list[str]:
    """Write the configuration; HAProxy passes on all paths, also those below a root path."""
    changes = (
        ("bind :443", f"bind 127.0.0.1:{port}"),
        ("/etc/haproxy/study.example.org.pem", f"{folder}/both.pem"),
        ("127.0.0.1:8000", f"127.0.0.1:{server}"),
    )
    (folder / "both.pem").write_text((folder / "certificate.pem").read_text() + (folder / "key.pem").read_text())
    (folder / "haproxy.cfg").write_text(replaced(documented("/etc/haproxy/haproxy.cfg"), *changes))
    return ["haproxy", "-db", "-f", f"{folder}/haproxy.cfg"]


PROXIES: dict[str, Callable[[Path, int, int, str], list[str]]] = {"nginx": nginx, "caddy": caddy, "haproxy": haproxy}


class Proxy:
    """A proxy in front of a server, and a client of it."""

    def __init__(self, name: str, port: int, server: StudyServer, root: str = "") -> None:
        self.name, self.port, self.server, self.root = name, port, server, root
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
            return statuses(self.exchange(LAST.replace(b"/api", self.root.encode() + b"/api"))) == [200]
        return False


@contextlib.contextmanager
def started(name: str, server: StudyServer, folder: Path, root: str = "") -> Iterator[Proxy]:
    """Run a proxy in front of a server; ``root`` is the path that it passes on."""
    for program in (name, "openssl"):
        if shutil.which(program) is None:
            said = f"The tests behind proxies need {program}: make proxies."
            if os.environ.get("CI", "").lower() in ("1", "true"):
                pytest.fail(said, pytrace=False)
            pytest.skip(said)
    kept = KeptPort()
    subject = ["-subj", "/CN=study.example.org", "-addext", "subjectAltName=DNS:study.example.org"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run([*made, *files, *subject], check=True, capture_output=True)
    command = PROXIES[name](folder, kept.number, server.port, root)
    environment = os.environ | {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    proxy = Proxy(name, kept.number, server, root)
    try:
        until(lambda: process.poll() is not None or proxy.answers(), name)
        assert process.poll() is None, (folder / "log").read_text()
        yield proxy
    finally:
        process.terminate()
        process.wait(PATIENCE)
        kept.close()
