"""A process of its own reads for researchers who watch: the same answers, and none is missed when it dies."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign
from cobandit.web import WebConfig
from cobandit.web.roles import Viewer
from cobandit.web.services.curves import Curves
from cobandit.web.services.live import Live
from cobandit.web.services.watching import CurvesApart, LiveApart, ReaderProcess
from cobandit.web.serving import prepare
from cobandit.web.storage.database import Database
from cobandit.web.storage.listing import Listing
from tests.clients import http_client
from tests.web.servers import ForkedServer, processes, spawned_by, until

PASSWORD = "correct-horse-battery"
STUDY = "/api/admin/studies/1"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="looks for processes")


def exists(pid: int) -> bool:
    return any(number == pid for number, _, command in processes() if command)


@pytest.fixture
def server(short_sqlite: str, short: StudyDesign) -> Iterator[ForkedServer]:
    prepare(short_sqlite, [short], password=PASSWORD)
    served = ForkedServer(WebConfig(database=short_sqlite, consent_elsewhere=True)).start()
    try:
        yield served
    finally:
        served.stop()


@contextmanager
def logged_in(server: ForkedServer) -> Iterator[httpx.Client]:
    with http_client(server.url) as client:
        token = client.post("/api/admin/login", json={"password": PASSWORD}).json()["token"]
        client.headers["authorization"] = f"Bearer {token}"
        yield client


def test_it_begins_when_somebody_watches_and_answers_though_it_is_killed(server: ForkedServer) -> None:
    with logged_in(server) as client:
        assert spawned_by(server.pid) == []
        before = client.get(f"{STUDY}/live").json()
        (reader,) = until(lambda: spawned_by(server.pid))
        until(lambda: client.get(f"{STUDY}/live").json()["counts"] == before["counts"])
        os.kill(reader, signal.SIGKILL)
        for path in ("live", "curves"):
            assert client.get(f"{STUDY}/{path}").status_code == 200
        another = until(lambda: client.get(f"{STUDY}/live") and set(spawned_by(server.pid)) - {reader})
        assert client.get("/api/admin/studies/99/live").status_code == 404
        server.kill()
        until(lambda: not any(map(exists, another)))


def test_it_ends_with_the_server(server: ForkedServer) -> None:
    with logged_in(server) as client:
        client.get(f"{STUDY}/live")
        (reader,) = until(lambda: spawned_by(server.pid))
    server.stop()
    until(lambda: not exists(reader))


def test_it_tells_what_a_thread_would(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    site.person().go_on(short)
    site.person().go_on(short, "episode-3")
    wanted = Listing(kind="real")
    sighted, blind = Viewer("owner", "owner"), Viewer("anna", "assistant")

    async def compare() -> None:
        database, reader = Database(site.config.database), ReaderProcess(site.config.database)
        apart, curves = LiveApart(database, reader), CurvesApart(database, reader)
        try:
            first = await apart.view(1, wanted, "http://here", sighted)  # a thread's, as the process is only beginning
            while not reader._is_ready():
                await asyncio.sleep(0.05)
            later = await apart.view(1, wanted, "http://here", blind)
            for told, viewer in ((first, sighted), (later, blind)):
                expected = await Live(database).view(1, wanted, "http://here", viewer)
                assert (
                    told.partition(b'"kind"')[2].partition(b'"cursor"')[0]
                    == (expected.partition(b'"kind"')[2].partition(b'"cursor"')[0])
                )
            assert await curves.curves(1, "real", sighted) == await Curves(database).curves(1, "real", sighted)
            assert (await curves.curves(1, "real", sighted))["pending"] == 0
            assert (await curves.curves(1, "real", blind))["blind"] is True
        finally:
            reader.end()
            database.close()

    asyncio.run(compare())


def test_without_it_threads_answer(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise OSError("no more processes")

    monkeypatch.setattr("cobandit.web.services.watching.ReaderProcess._begin", refuse)

    async def ask() -> bytes:
        database = Database(site.config.database)
        try:
            apart = LiveApart(database, ReaderProcess(site.config.database))
            return await apart.view(1, Listing(kind="real"), "", Viewer("owner", "owner"))
        finally:
            database.close()

    assert b'"counts"' in asyncio.run(ask())


def test_one_that_never_answers_is_given_up(site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cobandit.web.services.watching.PATIENCE", 0.2)

    async def ask() -> tuple[Any, Any]:
        reader = ReaderProcess(site.config.database)
        try:
            await reader.ask(time.sleep, 0.0)
            while not reader._is_ready():
                await asyncio.sleep(0.05)
            process = reader._process
            return await reader.ask(time.sleep, 600.0), process.is_alive()
        finally:
            reader.end()

    assert asyncio.run(ask()) == (None, False)
