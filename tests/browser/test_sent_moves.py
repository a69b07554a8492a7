"""What Chromium really sends for a move, to the server as ``study serve`` runs it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.recorded import RECORDING, PageMoves
from cobandit.web import WebConfig, create_app
from cobandit.web.routes.moves import MoveEndpoint
from cobandit.web.serving import prepare, running
from tests.browser.participants import DESIGNS, at, choose, pulled, tap
from tests.browser.site import People

BROWSER = {"user-agent", "sec-ch-ua", "accept-language"}
"""Headers about the browser itself: a desktop Chromium and its headless shell differ in them."""


class Recorder:
    """A TCP proxy that passes every byte on and keeps what the client has sent, connection by connection."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname or "", parts.port or 80)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.sent: list[bytearray] = []
        self._sockets: list[socket.socket] = [self._listening]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._server)
                self._sockets += [client, server]
                self.sent.append(bytearray())
                for source, target, kept in ((client, server, self.sent[-1]), (server, client, None)):
                    thread = threading.Thread(target=self._pass_on, args=(source, target, kept), daemon=True)
                    thread.start()
                    self._threads.append(thread)

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if kept is not None:
                    kept += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join()

    def moves(self) -> list[bytes]:
        """Every request that plays rounds, head and body."""
        found = []
        for sent in map(bytes, self.sent):
            for match in re.finditer(rb"POST /api/participants/[^/ ]+/rounds[^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n", sent):
                length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", match[0])
                assert length is not None
                found.append(sent[match.start() : match.end() + int(length[1])])
        return found


class RealSite(People):
    """A server as ``study serve`` runs it, behind a recorder, and its endpoint for moves."""

    def __init__(self, recorder: Recorder, endpoint: MoveEndpoint) -> None:
        super().__init__(recorder.url, *DESIGNS)
        self.recorder, self.endpoint = recorder, endpoint


@pytest.fixture
def real_site(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[RealSite]:
    endpoints: list[MoveEndpoint] = []

    def create(config: WebConfig) -> Any:
        app = create_app(config)
        endpoints.append(app.state.moves)
        return app

    monkeypatch.setattr("cobandit.web.app.create_app", create)
    database = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    prepare(database, DESIGNS, password="only for tests", seed=7)
    with running(WebConfig(database, demo=True, consent_elsewhere=True)) as url:
        recorder = Recorder(url)
        try:
            with contextlib.closing(RealSite(recorder, endpoints[0])) as site:
                yield site
        finally:
            recorder.close()


def parts(request: bytes) -> tuple[str, list[tuple[str, str]], Any]:
    """Return the request line, the headers and the body of a request, without what differs from run to run."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = re.sub(r"127\.0\.0\.1:\d+", "HOST", head.decode()).split("\r\n")
    pairs = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
    headers = [(name, value) for name, value in pairs if name.lower() not in BROWSER]
    data = json.loads(body)
    # What the page has written is compact JSON, in the order of these names.
    [move] = data["moves"]
    assert body == PageMoves.body(data["episode"], move["t"], move["arm"], move["key"], move["ms"])
    assert int(dict(headers).pop("Content-Length")) == len(body)
    kept = [(name, value) for name, value in headers if name != "Content-Length"]
    return re.sub(r"participants/[^/]+/", "participants/TOKEN/", first), kept, move.keys()


def play(page: Any, study: str) -> None:
    """Play three burgers, or eight pulls of the practice."""
    if study == "shop":
        for arm in (0, 1, 0):
            choose(page, arm)
    else:
        for n in range(1, 9):
            tap(page, "ArrowUp" if n % 3 else "ArrowDown")
            pulled(page, n)


@pytest.mark.parametrize(("study", "rounds"), [("shop", 3), ("den", 8)])
def test_every_move_of_the_page_takes_the_endpoint_and_the_recording_is_current(
    real_site: RealSite, new_context: Callable[..., Any], study: str, rounds: int
) -> None:
    """Record it again: run this test with COBANDIT_RECORD=1 set."""
    recorder, endpoint = real_site.recorder, real_site.endpoint
    token = real_site.someone(study)
    page = new_context().new_page()
    page.goto(f"{recorder.url}/p/{token}")
    at(page, "episode-0")
    play(page, study)
    page.close()
    moves = recorder.moves()
    assert endpoint.requests == len(moves) > 0
    assert sum(len(json.loads(move.partition(b"\r\n\r\n")[2])["moves"]) for move in moves) == rounds
    single = next(move for move in moves if move.count(b'"key"') == 1)
    if os.environ.get("COBANDIT_RECORD"):
        RECORDING.write_bytes(single.replace(b"\r\n", b"\n") + b"\n")
    head, _, body = RECORDING.read_bytes().rstrip(b"\n").partition(b"\n\n")
    assert parts(single) == parts(head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body)


def test_the_benchmark_sends_what_was_recorded() -> None:
    head, _, body = RECORDING.read_bytes().rstrip(b"\n").partition(b"\n\n")
    token = re.findall(rb"participants/([^/]+)/", head)[0].decode()
    host = re.findall(rb"Host: (\S+)", head)[0].decode()
    assert PageMoves(host, token).request(body) == head.replace(b"\n", b"\r\n") + b"\r\n\r\n" + body
