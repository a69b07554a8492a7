"""The same on a real PostgreSQL server, where several processes share the work."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from cobandit.studies import Episode, ParticipantPlan, StudyDesign, verify_participant
from cobandit.web import WebConfig
from cobandit.web.serving import prepare
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.clients import http_client
from tests.web.servers import until


def key() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def two(open_site: Callable[..., Any], postgresql: str, short: StudyDesign) -> tuple[Any, Any]:
    """Two servers, each with a memory of its own, before one database."""
    return open_site(postgresql, short), open_site(postgresql)


def at(site: Any, person: Any) -> Any:
    """The same person, seen from another server."""
    return type(person)(site.client(), person.token)


def rounds_of(site: Any, episode: int) -> list[tuple[int, ...]]:
    query = (
        "SELECT r.t, r.arms FROM rounds r JOIN episodes e ON e.id = r.episode_id WHERE e.number = :episode ORDER BY r.t"
    )
    return [(t, *json.loads(arms)) for t, arms in site.query(query, episode=episode)]


def expected(site: Any, design: StudyDesign, token: str, episode: int, arms: list[int]) -> list[tuple[int, ...]]:
    [(seed, order)] = site.query("SELECT seed, order_index FROM participants WHERE token = :t", t=token)
    replay = Episode.open(ParticipantPlan(design, int(seed), order).episode(episode))
    rounds = [replay.play(t, arm) for t, arm in enumerate(arms, 1)]
    return [(r.t, *r.arms) for r in rounds]


def test_from_consent_to_code(open_site: Callable[..., Any], postgresql: str, short: StudyDesign) -> None:
    site = open_site(postgresql, short)
    person = site.person(language="de")
    note = {"events": [{"kind": "error", "at": 1, "data": {"message": "a\0b \N{GRINNING FACE}"}}]}
    assert person.client.post(f"{person.path}/events", json=note).status_code == 204
    assert person.go_on(short)["thanks"]["code"] == "THANKS42"
    with site.database.reading.connect() as connection:
        study = find_study(connection, "short")
        assert study is not None
        [data] = study_data(connection, study).participants
    plan = data.plan(short)
    assert plan is not None
    assert data.status == "finished"
    logs = {index: episode.rounds() for index, episode in data.episodes.items()}
    assert verify_participant(plan, logs, finished=True) == []


@pytest.mark.slow
def test_arrivals_at_two_processes_are_balanced(
    start_server: Callable[..., Any], postgresql: str, short: StudyDesign
) -> None:
    prepare(postgresql, [short], password="correct horse", seed=1)
    server = start_server(WebConfig(database=postgresql), workers=2)
    assert len(server.worker_pids()) == 2
    same = key()

    def arrive(sent: str) -> httpx.Response:
        with http_client(server.url) as client:
            for _ in range(20):
                body = {"key": sent, "consent_version": "1"}
                response = client.post("/api/studies/short/participants", json=body)
                if response.status_code != 503:  # both at once with one key: one of them may have to ask again
                    break
            return response

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(arrive, [key() for _ in range(20)]))
        once = list(pool.map(arrive, [same] * 16))
    assert {answer.status_code for answer in answers} == {201}
    assert Counter(answer.status_code for answer in once) == {201: 1, 200: 15}
    assert len({answer.json()["token"] for answer in once}) == 1
    from cobandit.web.storage.database import Database

    database = Database(postgresql)
    with database.reading.connect() as connection:
        rows = connection.exec_driver_sql("SELECT order_index, seed FROM participants ORDER BY id LIMIT 20").all()
        people = connection.exec_driver_sql("SELECT count(*) FROM participants").scalar()
        arrivals = connection.exec_driver_sql("SELECT arrivals FROM studies").scalar()
    database.close()
    assert Counter(order for order, _ in rows) == {0: 10, 1: 10}
    assert len({seed for _, seed in rows}) == 20
    assert people == arrivals == 21


def test_two_workers_play_one_person_in_turn(two: tuple[Any, Any], short: StudyDesign) -> None:
    person = two[0].person()
    person.go_on(short, "episode-1")
    arms = [0, 1, 1, 0, 1]
    for t, arm in enumerate(arms, 1):
        mine = at(two[t % 2], person)
        sent = key()
        answer = mine.send(1, (t, arm, sent))
        assert answer.status_code == 200
        again = at(two[1 - t % 2], person).send(1, (t, arm, sent))
        assert again.json()["rounds"] == answer.json()["rounds"]
    assert rounds_of(two[0], 1) == expected(two[0], short, person.token, 1, arms)
    for site in two:
        assert at(site, person).answer("rest-2", {}).status_code == 200
        assert at(site, person).state()["step"]["id"] == "episode-2"


def test_two_workers_and_eight_tabs_play_one_round_once(two: tuple[Any, Any], short: StudyDesign) -> None:
    person = two[0].person()
    person.go_on(short, "episode-1")
    tabs = [at(two[i % 2], person) for i in range(8)]

    def play(i: int) -> httpx.Response:
        sent = key()
        for _ in range(20):
            answer = tabs[i].send(1, (1, i % 2, sent))
            if answer.status_code != 503:
                break
        return answer

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(play, range(8)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 7}
    [won] = [answer.json()["rounds"][0]["arms"] for answer in answers if answer.status_code == 200]
    assert rounds_of(two[0], 1) == [(1, *won)]
    assert {tuple(a.json()["state"]["episode"]["latest"]["arms"]) for a in answers if a.status_code == 409} == {
        tuple(won)
    }


def test_one_answer_at_two_workers_is_stored_once(two: tuple[Any, Any], short: StudyDesign) -> None:
    person = two[0].person()
    tabs = [at(two[i % 2], person) for i in range(8)]
    for tab in tabs[:2]:
        tab.state()  # both have the person in memory
    given = {"age": 33, "gender": 0, "ai_researcher": 1}
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda tab: tab.answer("demographics", given), tabs))
    assert {answer.status_code for answer in answers} == {200}
    assert two[0].query("SELECT step FROM answers ORDER BY step") == [("consent",), ("demographics",)]


def test_connections_that_are_cut_come_back(open_site: Callable[..., Any], postgresql: str, short: StudyDesign) -> None:
    site = open_site(postgresql, short)
    person = site.person()
    person.go_on(short, "episode-1")
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = :name"
    arms = [0, 1, 1, 0, 1]
    for t, arm in enumerate(arms, 1):
        assert site.query(cut, name=site.database.url.database)
        sent = key()
        answer = person.send(1, (t, arm, sent))
        for _ in range(20):
            if answer.status_code == 200:
                break
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
            answer = person.send(1, (t, arm, sent))
        assert answer.json()["played"] == t
    assert rounds_of(site, 1) == expected(site, short, person.token, 1, arms)
    assert person.go_on(short)["step"]["kind"] == "thanks"


def _server_log(address: str) -> str | None:
    """Return the log of a PostgreSQL server that the tests have started themselves; None: it is somebody else's."""
    with psycopg.connect(address) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    log = Path(row[0]).with_name("log")
    return log.read_text() if log.exists() else None


@pytest.mark.parametrize("recruiting", [{}, {"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"}])
def test_arrivals_at_once_violate_no_constraint(
    two: tuple[Any, Any], postgresql: str, recruiting: dict[str, str]
) -> None:
    """PostgreSQL would write the key of a violated constraint, which proves who somebody is, into its log."""
    before = _server_log(postgresql)
    keys = [key(), key()] if recruiting else [key()] * 2
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(2) as pool, psycopg.connect(postgresql) as holding:
        holding.execute("SELECT id FROM studies FOR UPDATE")
        answers = [
            pool.submit(site.arrive, key=name, recruiting=recruiting) for site, name in zip(two, keys, strict=True)
        ]
        with psycopg.connect(postgresql, autocommit=True) as watching:
            until(lambda: watching.execute(waiting).fetchone() == (2,), "both arrivals wait for the study")
        holding.rollback()
        first, second = (answer.result() for answer in answers)
    assert {first.status_code, second.status_code} == {200, 201}
    assert first.json() == second.json()
    if before is not None:
        log = (_server_log(postgresql) or "")[len(before) :]
        assert not [secret for secret in (*keys, "duplicate key") if secret in log]


def test_a_violated_constraint_is_logged_without_the_row(
    two: tuple[Any, Any], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = key()
    assert two[0].arrive(key=sent).status_code == 201
    monkeypatch.setattr("cobandit.web.services.participants.known_participant", lambda *_: None)
    assert two[0].arrive(key=sent).status_code == 503
    assert "violates unique constraint" in caplog.text
    assert sent not in caplog.text
