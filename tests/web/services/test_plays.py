"""One participant, round by round, and deleting one."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign

NASTY = '<script>alert("1")</script>'
STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}


def test_a_play_round_by_round(site: Any, short: StudyDesign, admin: httpx.Client, problem: Any) -> None:
    person = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    state = person.go_on(short, "quiz")
    wrong = person.good_answers(state, short) | {"sensor": 0}
    person.answer("quiz", wrong)
    person.go_on(short, "survey-2", arm=1)
    person.client.post(f"{person.path}/events", json={"events": [{"kind": "hidden", "at": 5, "data": {"a": NASTY}}]})
    name = site.public_id(person.token)
    view = admin.get(f"{STUDY}/participants/{name}").json()
    assert view["participant"] == name
    assert (view["recruiter"], view["external_id"]) == ("prolific", "5f0c1e2d3b4a59687a6b5c4d")
    assert view["step"]["id"] == "survey-2"
    assert view["quiz_attempts"] == 2
    assert view["url"] == f"{site.url}/p/{person.token}"
    steps = [answer["step"] for answer in view["answers"]]
    assert steps[:4] == ["consent", "demographics", "instructions", "quiz"]
    gender = view["answers"][1]["items"][1]
    assert (gender["text"], gender["value"]) == ("What is your gender?", "Female")
    [survey] = [answer for answer in view["answers"] if answer["step"] == "survey-1"]
    [check] = [item for item in survey["items"] if item["id"] == "attention"]
    assert check["right"] is True
    assert {event["kind"] for event in view["events"]} == {"quiz-wrong", "hidden"}
    assert view["events_total"] == 2
    assert [episode["number"] for episode in view["episodes"]] == [0, 1, 2, 3, 4]
    assert view["episodes"][0]["practice"] is True
    for episode in view["episodes"]:
        whole = admin.get(f"{STUDY}/participants/{name}/episodes/{episode['number']}").json()["rounds"]
        stored = site.query(
            "SELECT r.t AS round, r.arms, r.reward FROM rounds r JOIN episodes e ON e.id = r.episode_id "
            "WHERE e.number = :n ORDER BY r.t",
            n=episode["number"],
        )
        assert [(r["t"], r["arms"], r["reward"]) for r in whole] == [
            (t, json.loads(arms), reward) for t, arms, reward in stored
        ]
        assert episode["played"] == len(whole)
        assert episode["good"] == sum(r["reward"] for r in whole)
        assert episode["regret"] == pytest.approx(sum(r["regret"] for r in whole))
        assert sum(cell["played"] for cell in episode["cells"]) == len(whole)
        assert {r["arms"][0] for r in whole} == {1}
        assert whole[0]["ms"] == 500
    part = admin.get(f"{STUDY}/participants/{name}/episodes/1", params={"from": 3, "limit": 2}).json()
    assert [r["t"] for r in part["rounds"]] == [3, 4]
    assert part["played"] == 5
    problem(admin.get(f"{STUDY}/participants/{name}/episodes/7"), 404, "not-found")
    problem(admin.get(f"{STUDY}/participants/{name}/episodes/1", params={"limit": 5000}), 422, "invalid")
    assert admin.get(f"/admin/studies/1/participants/{name}", headers=HTML).status_code == 200


def test_an_invited_person_can_be_looked_at(site: Any, admin: httpx.Client) -> None:
    [link] = admin.post(f"{STUDY}/links", json={"labels": [NASTY]}).json()
    view = admin.get(f"{STUDY}/participants/{link['participant']}").json()
    assert (view["status"], view["episodes"], view["answers"], view["label"]) == ("invited", [], [], NASTY)


def test_deleting_takes_everything_of_one_person(
    site: Any, short: StudyDesign, admin: httpx.Client, problem: Any
) -> None:
    gone, stays = site.person(), site.person()
    for person in (gone, stays):
        person.go_on(short)
        person.client.post(f"{person.path}/events", json={"events": [{"kind": "load", "at": 1}]})
    name = site.public_id(gone.token)
    tables = ("participants", "answers", "episodes", "rounds", "events")
    before = {table: site.query(f"SELECT count(*) FROM {table}")[0][0] for table in tables}
    answer = admin.delete(f"{STUDY}/participants/{name}").json()
    assert answer["participant"] == name
    after = {table: site.query(f"SELECT count(*) FROM {table}")[0][0] for table in tables}
    assert after == {table: count // 2 for table, count in before.items()}
    assert answer["deleted"] == {table: before[table] - after[table] for table in tables if table != "participants"}
    assert answer["deleted"]["rounds"] == 22
    problem(gone.client.get(gone.path), 404, "not-found")  # though the server had them in memory
    problem(gone.answer("survey-2", {}), 404, "not-found")
    problem(admin.delete(f"{STUDY}/participants/{name}"), 404, "not-found")
    problem(admin.get(f"{STUDY}/participants/{name}"), 404, "not-found")
    assert stays.state()["step"]["kind"] == "thanks"
    assert [payment["participant"] for payment in admin.get(f"{STUDY}/payments").json()] == [
        site.public_id(stays.token)
    ]


def test_nothing_of_somebody_deleted_is_left_in_the_files(
    site: Any, short: StudyDesign, admin: httpx.Client, tmp_path: Path
) -> None:
    """While the server runs: neither in the database, nor on its free pages, nor in its log of writes."""
    people = [
        site.person(recruiting={"PROLIFIC_PID": f"prolific-id-{i:04d}", "SESSION_ID": f"session-{i:04d}"})
        for i in range(6)
    ]
    moves = [uuid.uuid4().hex for _ in people]
    for i, person in enumerate(people):
        person.go_on(short, "episode-1")
        assert person.send(1, (1, 0, moves[i])).status_code == 200
        events = [{"kind": "error", "at": 1, "data": {"message": f"event-of-{i:04d}-" + "x" * 700}}] * 20
        person.client.post(f"{person.path}/events", json={"events": events})
    names = [site.public_id(person.token) for person in people]
    hashes = [
        row[0]
        for row in site.query(
            "SELECT r.hash FROM rounds r JOIN episodes e ON e.id = r.episode_id WHERE e.participant_id = 3"
        )
    ]
    theirs = [people[2].token, names[2], moves[2], "prolific-id-0002", "session-0002", "event-of-0002", *hashes]
    others = [people[3].token, names[3], moves[3], "prolific-id-0003", "session-0003", "event-of-0003"]

    def left(strings: list[str]) -> list[str]:
        files = b"".join(file.read_bytes() for file in tmp_path.glob("studies.sqlite*"))
        return [string for string in strings if string.encode() in files]

    assert left(theirs) == theirs
    assert admin.delete(f"{STUDY}/participants/{names[2]}").status_code == 200
    for _ in range(100):  # as soon as nobody reads what was there before
        if not left(theirs):
            break
        time.sleep(0.1)
    assert left(theirs) == []
    assert left(others) == others
