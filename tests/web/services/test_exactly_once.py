"""What a page sends again, because it has had no answer, is stored once."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cobandit.studies import StudyDesign


def key() -> str:
    return uuid.uuid4().hex


def test_a_key_belongs_to_one_arrival(open_site: Any, sqlite: str, short: StudyDesign, problem: Any) -> None:
    """A page has a key for each kind and each id; with another kind or id it is somebody else's."""
    site = open_site(sqlite, short, demo=True)
    sent, prolific = key(), {"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"}
    first = site.arrive(key=sent, recruiting=prolific)
    assert first.status_code == 201
    assert site.arrive(key=sent, recruiting=prolific).json() == first.json()
    for other in ({"demo": True, "recruiting": prolific}, {"recruiting": {"label": "anna"}}, {}):
        problem(site.arrive(key=sent, **other), 409, "key-used")
    assert site.query("SELECT count(*) FROM participants") == [(1,)]


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
class TestExactlyOnce:
    """At two processes, too."""

    @pytest.fixture
    def two(self, open_site: Any, short: StudyDesign, request: pytest.FixtureRequest, backend: str) -> tuple[Any, Any]:
        address = request.getfixturevalue(backend)
        return open_site(address, short), open_site(address)

    def test_an_attempt_at_the_quiz(self, two: tuple[Any, Any], short: StudyDesign, problem: Any) -> None:
        person = two[0].person()
        person.go_on(short, "quiz")
        right = {item.id: item.answer for item in short.quiz}
        wrong, sent = right | {"sensor": 0}, key()
        tabs = [type(person)(two[i % 2].client(), person.token) for i in range(6)]
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda tab: tab.answer("quiz", wrong, key=sent), tabs))
        assert [(answer.status_code, answer.json()["wrong"]) for answer in answers] == [(200, ["sensor"])] * 6
        assert {answer.json()["state"]["quiz"]["attempts"] for answer in answers} == {1}
        other = problem(person.answer("quiz", wrong | {"sensor": 1}, key=sent), 409, "already-answered")
        assert other["state"]["quiz"]["attempts"] == 1
        assert person.answer("quiz", wrong, key=key()).json()["state"]["quiz"]["attempts"] == 2
        assert person.answer("quiz", right, key=key()).json()["accepted"] is True
        assert two[0].query("SELECT quiz_attempts FROM participants") == [(3,)]
        assert two[0].query("SELECT kind FROM events") == [("quiz-wrong",)] * 2

    def test_events(self, two: tuple[Any, Any]) -> None:
        person = two[0].person()
        events = [{"kind": "load", "at": 1, "key": key()} for _ in range(5)]
        body = {"events": [*events, events[0], {"kind": "hidden", "at": 2}]}
        clients = [site.client() for site in two] * 3
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(lambda client: client.post(f"{person.path}/events", json=body), clients))
        assert {answer.status_code for answer in answers} == {204}
        counted = two[0].query("SELECT kind, count(*) FROM events GROUP BY kind ORDER BY kind")
        assert [tuple(row) for row in counted] == [("hidden", 6), ("load", 5)]  # what has no key is as often as it came
        another = two[0].person()
        assert another.client.post(f"{another.path}/events", json={"events": events}).status_code == 204
        assert two[0].query("SELECT count(*) FROM events WHERE kind = 'load'") == [(10,)]

    def test_events_above_the_limit_are_refused(
        self, two: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch, problem: Any
    ) -> None:
        monkeypatch.setattr("cobandit.web.services.page_events.MOST_EVENTS", 7)
        person = two[0].person()
        sent = [{"kind": "load", "at": 1, "key": key()} for _ in range(9)]

        def send(number: int, events: list[Any]) -> Any:
            return two[number % 2].client().post(f"{person.path}/events", json={"events": events})

        for i in range(2):
            assert send(i, sent[3 * i : 3 * i + 3]).status_code == 204
        problem(send(0, sent[6:9]), 403, "too-many-events")  # all or none: the first of them would fit
        assert two[0].query("SELECT count(*) FROM events") == [(6,)]
        assert send(1, sent[6:7]).status_code == 204
        assert send(0, sent[:7]).status_code == 204  # stored events are acknowledged again, also at the limit
        problem(send(1, [{"kind": "load", "at": 1}]), 403, "too-many-events")
        assert two[0].query("SELECT count(*), count(DISTINCT key) FROM events") == [(7, 7)]

    def test_a_keyed_attempt_counts_once_above_the_limit_of_events(
        self, two: tuple[Any, Any], short: StudyDesign, monkeypatch: pytest.MonkeyPatch, problem: Any
    ) -> None:
        monkeypatch.setattr("cobandit.web.services.page_events.MOST_EVENTS", 2)
        monkeypatch.setattr("cobandit.web.services.page_events.MOST_ATTEMPTS", 2)
        person = two[0].person()
        person.go_on(short, "quiz")
        body = {"events": [{"kind": "load", "at": 1}] * 2}
        assert person.client.post(f"{person.path}/events", json=body).status_code == 204
        right = {item.id: item.answer for item in short.quiz}
        wrong, sent = right | {"sensor": 0}, key()
        tabs = [type(person)(site.client(), person.token) for site in two]
        for number in range(4):
            assert tabs[number % 2].answer("quiz", wrong, key=sent).json()["state"]["quiz"]["attempts"] == 1
        assert person.answer("quiz", wrong, key=key()).json()["state"]["quiz"]["attempts"] == 2
        problem(person.answer("quiz", wrong, key=key()), 403, "too-many-attempts")
        assert two[0].query("SELECT quiz_attempts FROM participants") == [(2,)]
        assert person.answer("quiz", right, key=key()).json()["accepted"] is True
        assert two[0].query("SELECT count(*) FROM events WHERE kind = 'quiz-wrong'") == [(2,)]
