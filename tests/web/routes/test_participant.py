"""Bodies that no page sends, and studies that are not there."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from cobandit.studies import StudyDesign


def key() -> str:
    return uuid.uuid4().hex


def arrival(**more: Any) -> dict[str, Any]:
    return {"key": key(), "consent_version": "1"} | more


def assert_refused(person: Any, path: str, content: str, problem: Any) -> None:
    headers = {"content-type": "application/json"}
    response = person.client.post(f"{person.path}/{path}", content=content, headers=headers)
    problem(response, 422, "invalid")
    assert person.state()["step"]["id"] == "demographics"


@pytest.mark.parametrize(
    "data", ['{"a": NaN}', '{"a": -Infinity}', '{"a": 1e999}', '{"a": "\\ud800"}', '{"\\u0000": 1}']
)
def test_strange_events_are_refused(shared_site: Any, data: str, problem: Any) -> None:
    content = f'{{"events": [{{"kind": "load", "at": 1, "data": {data}}}]}}'
    assert_refused(shared_site.person(), "events", content, problem)


def test_a_nul_in_an_event_can_be_stored(shared_site: Any) -> None:
    person = shared_site.person()
    events = [{"kind": "error", "at": 1, "data": {"message": "a\0b"}}]
    assert person.client.post(f"{person.path}/events", json={"events": events}).status_code == 204


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"key": "\\u0000", "consent_version": "1"}',
        b'{"key": "abcdefgh12", "consent_version": "\\u0000"}',
        b'{"key": "abcdefgh12", "consent_version": "\\ud800"}',
        b'{"key": "abcdefgh12", "consent_version": "1", "language": "\\ud800"}',
        b'{"key": "abcdefgh12", "consent_version": "1", "recruiting": {"label": "\\u0000"}}',
        b'{"key": "abcdefgh12", "consent_version": "1", "recruiting": {"label": "\\udfff"}}',
        b'{"key": "abcdefgh12", "consent_version": NaN}',
        b'{"key": "abcdefgh12", "consent_version": "1", "unknown": 1}',
        b'{"key": "short", "consent_version": "1"}',
        b'{"key": ' + b"9" * 5000 + b', "consent_version": "1"}',
        b"[" * 100_000,
        b'{"key":' * 10_000,
    ],
    ids=lambda body: body[:40].decode("latin-1") or "empty",
)
def test_a_strange_arrival_is_refused(shared_site: Any, body: bytes, problem: Any) -> None:
    before = shared_site.query("SELECT count(*) FROM participants")
    response = shared_site.client().post(
        "/api/studies/short/participants", content=body, headers={"content-type": "application/json"}
    )
    problem(response, 422, "invalid")
    assert shared_site.query("SELECT count(*) FROM participants") == before


@pytest.mark.parametrize(
    "answers",
    [
        '{"age": NaN, "gender": 0, "ai_researcher": 1}',
        '{"age": Infinity, "gender": 0, "ai_researcher": 1}',
        '{"age": 1e400, "gender": 0, "ai_researcher": 1}',
        '{"age": ' + "9" * 4000 + ', "gender": 0, "ai_researcher": 1}',
        '{"age": 33.5, "gender": 0, "ai_researcher": 1}',
        '{"age": "33", "gender": 0, "ai_researcher": 1}',
        '{"age": true, "gender": 0, "ai_researcher": 1}',
        '{"age": 33, "gender": 4, "ai_researcher": 1}',
        '{"age": 33, "gender": -1, "ai_researcher": 1}',
        '{"age": 33, "gender": 0}',
        '{"age": 33, "gender": 0, "ai_researcher": null}',
        '{"age": 33, "gender": 0, "ai_researcher": 1, "more": 1}',
        '{"age": [[[[[[[[]]]]]]]], "gender": 0, "ai_researcher": 1}',
        '{"\\ud800": 33, "gender": 0, "ai_researcher": 1}',
        "[]",
        "null",
    ],
)
def test_strange_answers_are_refused(shared_site: Any, answers: str, problem: Any) -> None:
    assert_refused(shared_site.person(), "answers/demographics", f'{{"answers": {answers}, "ms": 1}}', problem)


@pytest.mark.parametrize(
    "moves",
    [
        [],
        [{"t": 1, "arm": 0}],
        [{"t": 0, "arm": 0, "key": "a" * 20}],
        [{"t": 1, "arm": -1, "key": "a" * 20}],
        [{"t": 1, "arm": 0.0, "key": "a" * 20}],
        [{"t": 1, "arm": False, "key": "a" * 20}],
        [{"t": 10**40, "arm": 0, "key": "a" * 20}],
        [{"t": 1, "arm": 10**40, "key": "a" * 20}],
        [{"t": 1, "arm": 0, "key": "a" * 20, "ms": -1}],
        [{"t": 1, "arm": 0, "key": "a" * 20, "ms": 10**12}],
        [{"t": 1, "arm": 0, "key": "a" * 65}],
        [{"t": 1, "arm": 0, "key": "with space"}],
        [{"t": t, "arm": 0, "key": "a" * 20} for t in range(1, 202)],
    ],
    ids=lambda moves: json.dumps(moves)[:50],
)
def test_strange_moves_are_refused(shared_site: Any, short: StudyDesign, moves: Any, problem: Any) -> None:
    person = shared_site.person()
    person.go_on(short, "episode-1")
    problem(person.client.post(f"{person.path}/rounds", json={"episode": 1, "moves": moves}), 422, "invalid")
    assert person.state()["episode"]["played"] == 0


@pytest.mark.parametrize("path", ["/api/studies/none", "/api/studies/%00", "/api/studies/" + "x" * 300])
def test_studies_that_are_not_there(shared_site: Any, path: str, problem: Any) -> None:
    problem(shared_site.client().get(path), 404, "not-found")
    problem(shared_site.client().post(f"{path}/participants", json=arrival()), 404, "not-found")
