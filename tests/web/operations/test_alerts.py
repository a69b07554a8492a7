"""Alerts: signed, only for changes, retried, spaced; and the conditions that lead to them, on real databases."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from cobandit.base.errors import InvalidInput
from cobandit.remote.policy import SIGNATURE, TIMESTAMP, signature
from cobandit.web import WebConfig
from cobandit.web.operations import conditions as module
from cobandit.web.operations.alerts import FIRST_WAIT, SPACING_SECONDS, AlertHook
from cobandit.web.operations.conditions import BACKUP, DATABASE, DISK, FULL, Condition, Conditions
from cobandit.web.operations.settings import Operations
from cobandit.web.schedule import BackupSchedule
from cobandit.web.services.health import Disk
from tests.web.conftest import Site
from tests.web.servers import ForkedServer, until

SECRET = "a secret for tests only"
WELL, LOW = Condition(DISK, "database", None), Condition(DISK, "database", "2 MB are free.")


class Receiver:
    """An HTTP server that keeps what it gets; ``status`` is its answer."""

    def __init__(self) -> None:
        self.status = 204
        self.messages: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[bytes] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.bodies.append(body)
                receiver.headers.append(dict(self.headers))
                receiver.messages.append(json.loads(body))
                self.send_response(receiver.status)
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/alerts"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def hook(receiver: Receiver, clock: Clock) -> AlertHook:
    return AlertHook(receiver.url, SECRET, "https://study.example.org", clock)


class TestHook:
    def test_messages_are_signed_as_requests_to_policies(self, hook, receiver):
        hook.report([LOW])
        [message], [headers], [body] = receiver.messages, receiver.headers, receiver.bodies
        assert headers[SIGNATURE] == signature(SECRET, headers[TIMESTAMP], body)
        assert message["schema"] == "cobandit-alert/1"
        assert (message["alert"], message["state"], message["subject"]) == (DISK, "firing", "database")
        assert message["message"] == "2 MB are free."
        assert message["server"] == "https://study.example.org"
        assert SECRET not in repr(hook)

    def test_only_changes_are_sent(self, hook, receiver, clock):
        for condition in (WELL, WELL, LOW, LOW, LOW, WELL, WELL):
            hook.report([condition])
            clock.now += SPACING_SECONDS
        assert [message["state"] for message in receiver.messages] == ["firing", "resolved"]
        assert len({message["id"] for message in receiver.messages}) == 2

    def test_a_flapping_state_gives_few_messages(self, hook, receiver, clock):
        for number in range(120):  # every second another state
            hook.report([LOW if number % 2 else WELL])
            clock.now += 1
        assert len(receiver.messages) <= 3

    def test_a_message_that_does_not_arrive_is_sent_again(self, hook, receiver, clock):
        receiver.status = 500
        for _ in range(3):
            hook.report([LOW])  # the second attempt waits for its time
        assert len(receiver.messages) == 1
        clock.now += FIRST_WAIT
        hook.report([LOW])
        receiver.status = 200
        clock.now += 10 * FIRST_WAIT
        hook.report([LOW])
        hook.report([LOW])
        assert len(receiver.messages) == 3
        assert len({message["id"] for message in receiver.messages}) == 1  # so that the receiver can tell

    def test_a_message_whose_reason_is_gone_is_not_sent(self, hook, receiver, clock):
        receiver.status = 500
        hook.report([LOW])
        clock.now += 1000
        hook.report([WELL])
        assert len(receiver.messages) == 1

    def test_nobody_there(self, clock):
        hook = AlertHook("http://127.0.0.1:9/", SECRET, None, clock)
        hook.report([LOW])
        hook.report([WELL])

    @pytest.mark.parametrize("url", ["", "ftp://x", "https://user:word@host/", "https://host/?a=b", "//host"])
    def test_bad_addresses(self, url):
        with pytest.raises(InvalidInput, match="--alert-url"):
            AlertHook(url, SECRET)

    def test_a_secret_is_needed_and_long(self):
        with pytest.raises(InvalidInput, match="at least 16"):
            AlertHook("https://host/", "short")
        with pytest.raises(InvalidInput, match="require each other"):
            Operations(alert_url="https://host/")
        with pytest.raises(InvalidInput, match="require each other"):
            Operations(alert_secret=SECRET)
        assert SECRET not in repr(Operations(alert_url="https://host/", alert_secret=SECRET))


def problems(conditions: Conditions) -> dict[tuple[str, str], str | None]:
    return {(condition.alert, condition.subject): condition.problem for condition in conditions.look()}


@pytest.fixture
def look(short_sqlite: str) -> Iterator[Conditions]:
    conditions = Conditions(short_sqlite, consent_elsewhere=True)
    yield conditions
    conditions.close()


class TestConditions:
    def test_all_is_well(self, look):
        assert set(problems(look)) == {(DISK, "database"), (DATABASE, "database"), (FULL, "short v1")}
        assert not any(problems(look).values())

    def test_a_small_disk(self, look, monkeypatch):
        monkeypatch.setattr(module, "_disk", lambda folder: Disk(5_000_000, 10**12))
        assert problems(look)[DISK, "database"] == "5.0 MB of 1.0 TB are free."

    def test_a_file_that_has_gone(self, look, tmp_path):
        (tmp_path / "studies.sqlite").unlink()
        found = problems(look)
        assert found[DATABASE, "database"] == "The file of the database is not there."
        assert (FULL, "short v1") not in found  # nothing is known about studies

    def test_a_postgresql_server_that_is_not_there(self):
        conditions = Conditions("postgresql://me:hidden@127.0.0.1:9/x")
        problem = problems(conditions)[DATABASE, "database"]
        conditions.close()
        assert problem is not None
        assert "hidden" not in problem

    def test_a_full_study(self, site: Site):
        site.person()
        site.change("UPDATE studies SET status = 'quota', quota = 1")
        conditions = Conditions(site.config.database, consent_elsewhere=True)
        assert problems(conditions)[FULL, "short v1"] == "short v1 has all its 1 participants."
        site.change("UPDATE studies SET quota = 2")
        assert problems(conditions)[FULL, "short v1"] is None
        conditions.close()

    def test_a_failed_backup(self, short_sqlite, tmp_path):
        folder = tmp_path / "backups"
        schedule = BackupSchedule(short_sqlite, folder, 3600, 3)
        conditions = Conditions(short_sqlite, schedule)
        assert problems(conditions)[BACKUP, "backups"] is None
        folder.rmdir()
        folder.write_text("a file in place of the folder")
        with schedule:
            until(lambda: problems(conditions)[BACKUP, "backups"], "the backup has failed")
        assert ("cobandit_backup_failed", 1) in {(name, found[0][1]) for name, _, found in conditions.gauges() if found}
        conditions.close()


SCRIPT = """
import sys
from cobandit.web.config import WebConfig
from cobandit.web.operations import alerts
from cobandit.web.operations.settings import Operations
from cobandit.web.serving import bound_socket, serve
alerts.WATCH_SECONDS = 0.05
serve(
    WebConfig.from_environment(), bound_socket('127.0.0.1', int(sys.argv[1])), int(sys.argv[2]),
    operations=Operations(alert_url='{url}', alert_secret='{secret}'),
)
"""


def test_a_server_reports_a_full_study(template: Path, tmp_path: Path, receiver: Receiver):
    path = shutil.copy(template, tmp_path / "studies.sqlite")
    server = ForkedServer(WebConfig(f"sqlite:///{path}", consent_elsewhere=True), 2)
    server.script = SCRIPT.format(url=receiver.url, secret=SECRET)
    server.start()
    site = Site(server.config, server.url)
    try:
        site.person()
        assert not receiver.messages
        site.change("UPDATE studies SET status = 'quota', quota = 1")
        until(lambda: receiver.messages, "the alert has arrived")
    finally:
        site.close()
        server.stop()
    assert [(message["alert"], message["subject"]) for message in receiver.messages] == [(FULL, "short v1")]
