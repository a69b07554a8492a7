"""Making a database ready, again and again: what stays, what is refused, who is let in."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import URL, func, make_url, select

from cobandit.base.errors import InvalidInput
from cobandit.studies import StudyDesign
from cobandit.web import WebConfig, access
from cobandit.web.clients.bots import play_study
from cobandit.web.security import FAILURES_ALLOWED
from cobandit.web.serving import bound_socket, prepare, wait_for_database
from cobandit.web.storage.participants import add_participant, delete_rehearsals
from cobandit.web.storage.schema import participants
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.values import now_ms
from tests.clients import PATIENCE
from tests.web.servers import StudyServer


def invite(site: Any) -> str:
    """A personal link that nobody has used."""
    with site.database.write() as connection:
        study = find_study(connection, "short")
        assert study is not None
        add_participant(connection, study_id=study.id, token="an-invitation-to-take-part", kind="real", created_at=1)
    return "an-invitation-to-take-part"


class TestPassword:
    def test_made_up_once(self, sqlite: str, short: StudyDesign) -> None:
        password = prepare(sqlite, [short]).new_password
        assert password is not None
        assert prepare(sqlite, [short]).new_password is None

    def test_none_is_made_where_nobody_would_see_it(self, sqlite: str, short: StudyDesign) -> None:
        assert prepare(sqlite, [short], make_password=False).new_password is None
        assert prepare(sqlite, [short]).new_password is not None

    def test_another_one_ends_every_login(self, site: Any, short: StudyDesign) -> None:
        header = {"authorization": f"Bearer {site.login()}"}
        client = site.client(headers=header)
        prepare(site.config.database, [short], password="first-password")
        assert client.get("/api/admin/studies").status_code == 401
        tried = [
            client.post("/api/admin/login", json={"password": word}) for word in ("correct horse", "first-password")
        ]
        assert [answer.status_code for answer in tried] == [403, 200]
        client = site.client(headers={"authorization": f"Bearer {site.login()}"})
        prepare(site.config.database, [short], password="first-password")
        assert client.get("/api/admin/studies").status_code == 200

    def test_too_short(self, sqlite: str) -> None:
        with pytest.raises(InvalidInput, match="at least 8"):
            prepare(sqlite, [], password="short")

    def test_many_guesses_at_once_are_not_let_through(self, site: Any, ask: httpx.Client) -> None:
        def guess(number: int) -> int:
            return ask.post(f"{site.url}/api/admin/login", json={"password": f"guess-{number}"}).status_code

        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(guess, range(FAILURES_ALLOWED + 10)))
        assert sorted(answers) == [403] * FAILURES_ALLOWED + [429] * 10

    @pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
    def test_guesses_are_counted_by_network_at_all_processes(
        self, open_site: Any, short: StudyDesign, ask: httpx.Client, request: pytest.FixtureRequest, backend: str
    ) -> None:
        address = request.getfixturevalue(backend)
        sites = [open_site(address, short), open_site(address)]

        def guess(number: int, network: str = "2001:db8:1:2") -> int:
            header = {"x-forwarded-for": f"{network}::{number:x}"}
            body = {"password": f"guess-{number}"}
            return ask.post(f"{sites[number % 2].url}/api/admin/login", json=body, headers=header).status_code

        with ThreadPoolExecutor(20) as pool:
            answers = list(pool.map(guess, range(FAILURES_ALLOWED + 10)))
        assert sorted(answers) == [403] * FAILURES_ALLOWED + [429] * 10
        assert guess(1, "2001:db8:1:3") == 403
        assert {row[0] for row in sites[0].query("SELECT address FROM failed_logins")} == {
            "2001:db8:1:2::/64",
            "2001:db8:1:3::/64",
        }

    def test_all_strangers_together_cannot_keep_the_researcher_out(
        self, site: Any, ask: httpx.Client, short: StudyDesign, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(access, "ALL_FAILURES_ALLOWED", 5)

        def try_in(address: str, password: str) -> int:
            header = {"x-forwarded-for": address}
            return ask.post(f"{site.url}/api/admin/login", json={"password": password}, headers=header).status_code

        assert try_in("192.0.2.1", "correct horse") == 200
        assert site.query("SELECT * FROM failed_logins") == []
        assert [try_in(f"198.51.100.{i}", "wrong horse") for i in range(7)] == [403] * 5 + [429] * 2
        assert try_in("203.0.113.9", "correct horse") == 429  # a stranger, whatever they know
        assert try_in("192.0.2.1", "wrong horse") == 403
        assert try_in("192.0.2.1", "correct horse") == 200
        prepare(site.config.database, [short], password="another horse")  # whoever has the server has the last word
        assert try_in("203.0.113.9", "another horse") == 200

    def test_guessing_does_not_hold_up_reading(self, site: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """300 passwords at once: few wait, the others are refused, and all else is answered meanwhile."""
        hashing = threading.Event()
        monkeypatch.setattr(access, "password_fits", lambda *words: not hashing.wait(PATIENCE))

        def guess(number: int) -> int:
            header = {"x-forwarded-for": f"198.51.{number // 100}.{number % 100}"}
            body = {"password": "wrong horse"}
            return site.client(headers=header).post("/api/admin/login", json=body).status_code

        with ThreadPoolExecutor(40) as pool:
            guesses = [pool.submit(guess, number) for number in range(300)]
            try:
                refused = [answer.result() for answer in islice(as_completed(guesses), 300 - 1 - access.MOST_WAITING)]
                assert set(refused) == {429}
                assert site.client().get("/api/health").json() == {"status": "ok"}
                assert site.person().state()["step"]["id"] == "demographics"
            finally:
                hashing.set()
            answers = [answer.result() for answer in guesses]
        assert sorted(answers) == [403] * (1 + access.MOST_WAITING) + [429] * (299 - access.MOST_WAITING)

    def test_an_attempt_whose_client_has_disconnected_is_dropped(
        self, site: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hashing, tried, waiting = threading.Event(), [], threading.Semaphore(0)

        def fits(password: str, stored: str) -> bool:
            tried.append(password)
            return not hashing.wait(PATIENCE)

        turn = access.PasswordQueue.turn

        def noted(queue: Any, known: bool, gone: Any) -> Any:
            waiting.release()
            return turn(queue, known, gone)

        monkeypatch.setattr(access, "password_fits", fits)
        monkeypatch.setattr(access.PasswordQueue, "turn", noted)
        parts = urlsplit(site.url)

        def attempt(password: str) -> socket.socket:
            body = json.dumps({"password": password}).encode()
            head = f"POST /api/admin/login HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n"
            connection = socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE)
            connection.sendall(f"{head}content-type: application/json\r\n\r\n".encode() + body)
            assert waiting.acquire(timeout=PATIENCE)
            return connection

        with attempt("first") as first:
            try:
                for connection in [attempt(f"gone-{number}") for number in range(5)]:
                    connection.close()
                with attempt("last") as last:
                    assert site.client().get("/api/health").status_code == 200
                    hashing.set()
                    assert [int(client.recv(4096).split()[1]) for client in (first, last)] == [403, 403]
            finally:
                hashing.set()
        assert tried == ["first", "last"]
        assert len(site.query("SELECT * FROM failed_logins")) == 2  # who has left has not failed

    def test_a_clock_that_was_ahead(self, site: Any, ask: httpx.Client) -> None:
        ahead = now_ms() + 86_400_000
        for _ in range(FAILURES_ALLOWED):
            site.change("INSERT INTO failed_logins (address, at) VALUES ('127.0.0.1', :at)", at=ahead)
        assert ask.post(f"{site.url}/api/admin/login", json={"password": "correct horse"}).status_code == 200
        assert site.query("SELECT * FROM failed_logins") == []
        client = site.client(headers={"authorization": f"Bearer {site.login()}"})
        site.change("UPDATE admin_logins SET expires_at = :at", at=now_ms() + 10 * 365 * 86_400_000)
        assert client.get("/api/admin/studies").status_code == 401

    def test_failures_are_forgotten(self, site: Any) -> None:
        site.change("INSERT INTO failed_logins (address, at) VALUES ('192.0.2.1', 1)")
        with site.database.write() as connection:
            access.forget_failures(connection)
        assert site.query("SELECT * FROM failed_logins") == []


class TestDesigns:
    def test_a_changed_design_keeps_links_that_nobody_used(self, site: Any, short: StudyDesign) -> None:
        token = invite(site)
        assert site.client().get(f"/api/participants/{token}").json()["title"] == short.title
        site.person(rehearsal=False, demo=False)
        with pytest.raises(InvalidInput, match=f"set version = {short.version + 1}"):
            prepare(site.config.database, [replace(short, title="Another title", translations=store_table())])
        site.change("DELETE FROM participants WHERE consented_at IS NOT NULL")
        prepare(site.config.database, [replace(short, title="Another title", translations=store_table())])
        assert site.client().get(f"/api/participants/{token}").json()["title"] == "Another title"

    def test_rehearsals_hold_a_design_until_they_are_deleted(self, site: Any, short: StudyDesign) -> None:
        header = {"authorization": f"Bearer {site.login()}"}
        assert site.arrive(client=site.client(headers=header), rehearsal=True).status_code == 201
        changed = replace(short, title="Another title", translations=store_table())
        with pytest.raises(InvalidInput, match="--rehearsals"):
            prepare(site.config.database, [changed])
        with site.database.write() as connection:
            study = find_study(connection, "short")
            assert study is not None
            assert delete_rehearsals(connection, study.id) == 1
        prepare(site.config.database, [changed])

    def test_old_demos_are_forgotten(self, sqlite: str, open_site: Any, short: StudyDesign) -> None:
        site = open_site(sqlite, short, demo=True)
        site.person(demo=True)
        site.change("UPDATE participants SET created_at = 1")
        site.person(demo=True)
        prepare(sqlite, [short])
        assert site.query(select(func.count()).select_from(participants)) == [(1,)]

    def test_another_seed_is_refused(self, sqlite: str, short: StudyDesign) -> None:
        prepare(sqlite, [short], seed=1)
        prepare(sqlite, [short], seed=1)
        with pytest.raises(InvalidInput, match="another seed"):
            prepare(sqlite, [short], seed=2)


class TestWaiting:
    """For a database server that comes later than the study server."""

    def test_until_it_is_there(self, postgresql: str, kept_port: Any) -> None:
        real = make_url(postgresql)
        url = real.set(host="127.0.0.1", port=kept_port.number).render_as_string(hide_password=False)
        told: list[str] = []
        stop = threading.Event()

        def tell(text: str) -> None:
            told.append(text)
            if len(told) == 1:
                threading.Thread(target=_forward, args=(kept_port.number, real, stop), daemon=True).start()

        try:
            wait_for_database(url, tell, 60)
        finally:
            stop.set()
        assert [text.split()[0] for text in told] == ["Waiting", "The"]
        assert "connection" in told[0]
        assert real.password is None or real.password not in told[0]

    def test_not_for_ever(self, kept_port: Any) -> None:
        url = f"postgresql://u:hidden-word@127.0.0.1:{kept_port.number}/x"
        told: list[str] = []
        wait_for_database(url, told.append, 0.1)
        assert len(told) == 1
        assert "hidden-word" not in told[0]
        with pytest.raises(InvalidInput, match="cannot be used"):
            prepare(url, [])

    def test_not_for_what_time_does_not_mend(self, postgresql: str, sqlite: str) -> None:
        told: list[str] = []
        nobody = make_url(postgresql).set(database="no_such_database").render_as_string(hide_password=False)
        for url in (nobody, postgresql, sqlite, "sqlite:////no/such/folder/x.sqlite"):
            wait_for_database(url, told.append, 60)
        assert told == []

    def test_no_file_is_created_that_others_can_read(self, tmp_path: Path) -> None:
        file = tmp_path / "new.sqlite"
        wait_for_database(f"sqlite:///{file}", print, 60)
        assert not file.exists()
        prepare(f"sqlite:///{file}", [])
        assert file.stat().st_mode & 0o077 == 0


def _forward(port: int, real: URL, stop: threading.Event) -> None:
    """Stand at a port for the real server, until it is told to stop."""
    import selectors

    folder = real.query.get("host")
    at = f"{folder}/.s.PGSQL.{real.port or 5432}" if folder else (real.host or "127.0.0.1", real.port or 5432)
    with socket.create_server(("127.0.0.1", port)) as listening, selectors.DefaultSelector() as selector:
        listening.settimeout(PATIENCE)
        here, _ = listening.accept()
        with here, socket.socket(socket.AF_UNIX if folder else socket.AF_INET) as there:
            there.connect(at)
            selector.register(here, selectors.EVENT_READ, there)
            selector.register(there, selectors.EVENT_READ, here)
            while not stop.is_set():
                for key, _ in selector.select(0.1):
                    data = key.fileobj.recv(65536)  # type: ignore[union-attr]
                    if not data:
                        return
                    key.data.sendall(data)


def test_a_port_that_is_taken() -> None:
    with bound_socket("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InvalidInput, match=f"port {port}.*--port"):
            bound_socket("127.0.0.1", port)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a port be kept for somebody")
def test_a_port_that_is_kept_for_a_server(kept_port: Any) -> None:
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", kept_port.number))
    for _ in range(2):  # a server may go away and come back
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", kept_port.number))
        with bound_socket("127.0.0.1", kept_port.number) as listening:
            socket.create_connection(listening.getsockname(), timeout=PATIENCE).close()


def store_table() -> Any:
    """No translations: a changed title need not be translated anew."""
    from cobandit.base.records import Table

    return Table()


def test_a_study_server_never_loads_compiled_code(
    start_server: Callable[..., Any], short_sqlite: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A damaged cache of machine code cannot harm a study: the server does not import numba, which would load it."""
    watch = tmp_path / "sitecustomize.py"
    watch.write_text(
        "import pathlib, sys\n"
        "class Watch:\n"
        "    def find_spec(name, *_):\n"
        "        if name in ('numba', 'cobandit.web.app'):\n"
        "            pathlib.Path(__file__).with_name(name).touch()\n"
        "sys.meta_path.insert(0, Watch)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    server = start_server(WebConfig(database=short_sqlite, consent_elsewhere=True), kind=StudyServer)
    [result] = play_study(server.url, "short", 1, "softmax", kind="real")
    assert result.step == "thanks"
    assert (tmp_path / "cobandit.web.app").exists()
    assert not (tmp_path / "numba").exists()
