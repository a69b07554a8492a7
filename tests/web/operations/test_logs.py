"""Logs as JSON: one line for each request and event, and nothing personal in any of them."""

from __future__ import annotations

import json
import logging
import shutil
import uuid
from pathlib import Path

import pytest

from cobandit.web import WebConfig
from cobandit.web.operations.logs import JsonFormatter, scrubbed
from tests.clients import http_client
from tests.web.conftest import PASSWORD, SHORT, Person
from tests.web.servers import ForkedServer, until

SCRIPT = """
import sys
from cobandit.web.config import WebConfig
from cobandit.web.operations.settings import Operations
from cobandit.web.serving import bound_socket, serve
serve(
    WebConfig.from_environment(), bound_socket('127.0.0.1', int(sys.argv[1])), int(sys.argv[2]),
    operations=Operations(log='json'),
)
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_study_leaves_no_personal_data_in_the_log(template: Path, tmp_path: Path, workers: int):
    database = shutil.copy(template, tmp_path / "studies.sqlite")
    server = ForkedServer(WebConfig(f"sqlite:///{database}", consent_elsewhere=True, demo=True), workers)
    server.script = SCRIPT
    server.log = log = tmp_path / "log"
    server.start()
    try:
        with http_client(server.url) as visitor:
            asked = {"key": uuid.uuid4().hex, "consent_version": "1"}
            token = visitor.post("/api/studies/short/participants", json=asked).json()["token"]
            person = Person(visitor, token)
            view = person.go_on(SHORT, "episode")["episode"]
            assert person.send(view["index"], (1, 0, uuid.uuid4().hex)).status_code == 200
            assert person.send(view["index"], (9, 0, uuid.uuid4().hex)).status_code == 409
            assert visitor.get(f"/p/{token}").status_code == 200
            assert visitor.get("/api/participants/nobody-has-this-link-000").status_code == 404
            assert visitor.get("/static/participant/api.js").status_code == 200
            assert visitor.get(f"/secret/{token}").status_code == 404
            given = visitor.post("/api/admin/login", json={"password": PASSWORD}).json()["token"]
            assert visitor.get("/", headers={"x": "y" * 40_000}).status_code == 431
        lines = until(lambda: _lines(log, "Refused"), "the refusal is logged")
    finally:
        server.stop()
    text = log.read_text()
    for private in (token, given, PASSWORD, "127.0.0.1", asked["key"]):
        assert private not in text
    requests = [line for line in lines if line["event"] == "request"]
    assert {"time", "level", "event", "method", "route", "status", "ms"} == set(requests[0])
    routes = {(line["method"], line["route"], line["status"]) for line in requests}
    assert ("POST", "/api/participants/{token}/rounds", 200) in routes
    assert ("POST", "/api/participants/{token}/rounds", 409) in routes
    assert ("GET", "/p/{token}", 200) in routes
    assert ("GET", "/static/{file}", 200) in routes
    assert ("GET", None, 404) in routes


def _lines(path: Path, word: str) -> list[dict[str, object]] | None:
    """Every line of a log as JSON, once one of them has the word."""
    text = path.read_text()
    whole = text[: text.rfind("\n") + 1]
    return [json.loads(line) for line in whole.splitlines()] if word in whole else None


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("too many connections from 192.0.2.7", "too many connections from [address]"),
        ("from 2001:db8::1/64.", "from [address]."),
        ("at http://192.0.2.7:8000/p/x", "at http://[address]/p/x"),
        ("link /p/Zk3a9dLq0_x-8Yt2 failed", "link /p/[token] failed"),
        ("postgresql://me:secret@db/x", "postgresql://me:[password]@db/x"),
        ("cobandit 0.1.0 took 1.25 s at 12:30", "cobandit 0.1.0 took 1.25 s at 12:30"),
        ("a-long-name-without-digits stays", "a-long-name-without-digits stays"),
        ("Process 12345 replaces it.", "Process 12345 replaces it."),
    ],
)
def test_texts_are_scrubbed(text, clean):
    assert scrubbed(text) == clean


def test_an_error_is_given_by_its_type_and_place():
    try:
        raise ValueError("the answer of participant 42 was private")
    except ValueError as error:
        record = logging.LogRecord(
            "x", logging.ERROR, "f", 1, "%s broke", ("it",), (ValueError, error, error.__traceback__)
        )
    line = JsonFormatter().format(record)
    assert "private" not in line
    assert json.loads(line)["error"] == "ValueError"
    assert json.loads(line)["at"][-1].startswith("test_logs.py:")
    assert "\n" not in line
