"""What participants may do, and what happens when they do it twice, too early, too late, or somewhere else."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from cobandit.studies import Episode, ParticipantPlan, StudyDesign, journey
from cobandit.web import WebConfig
from cobandit.web.serving import running
from tests.clients import http_client

PROLIFIC = {"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d", "STUDY_ID": "s1", "SESSION_ID": "x1"}
SECRETS = ("naive", "partner-aware", "means", "seed", "order_index", "condition", "luck", "predicted")


def key() -> str:
    return uuid.uuid4().hex


def test_from_consent_to_code(site: Any, short: StudyDesign) -> None:
    person = site.person()
    visited, state = [], person.state()
    while state["step"]["kind"] != "thanks":
        visited.append(state["step"]["id"])
        after = journey(short).after(state["step"]["id"]).id
        assert "THANKS42" not in json.dumps(state)  # the code comes only at the end
        state = person.go_on(short, after)
    assert visited == [step.id for step in journey(short).steps[1:-1]]  # consent was given on arriving
    assert state["thanks"] == {"code": "THANKS42", "return_url": None}
    assert state["progress"]["done"] == state["progress"]["total"]
    [(finished, attempts)] = site.query("SELECT finished_at, quiz_attempts FROM participants")
    assert finished is not None
    assert attempts == 1
    [(rounds,)] = site.query("SELECT count(*) FROM rounds")
    assert rounds == 2 + 4 * 5
    assert person.answer("survey-2", {}).status_code == 422  # nothing more can be said


def test_the_quiz_is_repeated_until_it_is_right(site: Any, short: StudyDesign) -> None:
    person = site.person()
    person.go_on(short, "quiz")
    wrong = {item.id: item.answer for item in short.quiz} | {"sensor": 0}
    given = person.answer("quiz", wrong, ms=100).json()
    assert (given["accepted"], given["wrong"]) == (False, ["sensor"])
    assert given["state"]["step"]["id"] == "quiz"
    assert given["state"]["quiz"]["attempts"] == 1
    right = wrong | {"sensor": 2}
    assert person.answer("quiz", right, ms=100).json()["accepted"] is True
    [(attempts,)] = site.query("SELECT quiz_attempts FROM participants")
    assert attempts == 2


def test_the_same_answers_again_are_taken_and_others_come_too_late(site: Any, short: StudyDesign, problem: Any) -> None:
    person = site.person()
    first = {"age": 33, "gender": 0, "ai_researcher": 1}
    assert person.answer("demographics", first).json()["state"]["step"]["id"] == "instructions"
    again = person.answer("demographics", first)
    assert again.status_code == 200
    assert again.json()["accepted"] is True
    late = problem(person.answer("demographics", first | {"age": 34}), 409, "already-answered")
    assert late["state"]["step"]["id"] == "instructions"
    [(stored,)] = site.query("SELECT answers FROM answers WHERE step = 'demographics'")
    assert json.loads(stored)["age"] == 33


def test_the_same_key_gives_the_same_person(site: Any) -> None:
    same = key()
    first, second = site.arrive(key=same), site.arrive(key=same)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert site.query("SELECT count(*), max(arrivals) FROM participants, studies") == [(1, 1)]


def test_somebody_from_prolific_comes_back_to_where_they_were(site: Any, short: StudyDesign) -> None:
    person = site.person(recruiting=PROLIFIC)
    person.go_on(short, "episode-1")
    again = site.arrive(recruiting=PROLIFIC | {"SESSION_ID": "another"})
    assert (again.status_code, again.json()["token"]) == (200, person.token)
    assert person.go_on(short)["thanks"]["return_url"] == ("https://app.prolific.com/submissions/complete?cc=THANKS42")
    [(recruiter, external)] = site.query("SELECT recruiter, external_id FROM participants")
    assert (recruiter, external) == ("prolific", PROLIFIC["PROLIFIC_PID"])


@pytest.mark.parametrize("recruiting", [{"label": "anna"}, {"id": "12345"}, {"survey_code": "777"}])
def test_an_id_that_can_be_guessed_opens_nobodys_game(site: Any, recruiting: dict[str, str], problem: Any) -> None:
    same = key()
    first = site.arrive(key=same, recruiting=recruiting)
    stranger = site.arrive(recruiting=recruiting)
    assert first.json()["token"] not in stranger.text
    problem(stranger, 403, "forbidden")
    assert site.arrive(key=same, recruiting=recruiting).json() == first.json()


def test_twenty_at_once_are_balanced(site: Any) -> None:
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: site.arrive(), range(20)))
    assert {answer.status_code for answer in answers} == {201}
    orders = Counter(order for (order,) in site.query("SELECT order_index FROM participants"))
    assert orders == {0: 10, 1: 10}
    assert site.query("SELECT count(DISTINCT seed) FROM participants") == [(20,)]


def test_twenty_at_once_with_one_key_are_one_person(site: Any) -> None:
    same = key()
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: site.arrive(key=same), range(20)))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 19}
    assert len({answer.json()["token"] for answer in answers}) == 1
    assert site.query("SELECT count(*) FROM participants") == [(1,)]


def test_a_place_is_free_again_when_its_owner_has_left(site: Any, short: StudyDesign) -> None:
    people = [site.person() for _ in range(2)]
    [(left,)] = site.query("SELECT order_index FROM participants WHERE token = :t", t=people[0].token)
    for person in people:
        person.go_on(short, "episode-0")
    # The first has not been seen for longer than a break may last; the other order stays taken.
    idle = short.limits.idle_seconds * 1000 + 1000
    site.change("UPDATE participants SET last_seen = last_seen - :idle WHERE token = :t", idle=idle, t=people[0].token)
    third = site.person()
    assert site.query("SELECT order_index FROM participants WHERE token = :t", t=third.token) == [(left,)]
    # Whoever comes back may go on all the same.
    assert people[0].go_on(short)["step"]["kind"] == "thanks"


def test_demos_only_where_they_are_allowed(
    site: Any, open_site: Callable[..., Any], tmp_path: Any, short: StudyDesign, problem: Any
) -> None:
    problem(site.arrive(demo=True), 403, "forbidden")
    demos = open_site(f"sqlite:///{tmp_path / 'demo.sqlite'}", short, demo=True)
    person = demos.person(demo=True)
    assert person.state()["kind"] == "demo"
    assert demos.query("SELECT kind FROM participants") == [("demo",)]


def test_rehearsals_need_the_researcher(site: Any, problem: Any) -> None:
    problem(site.arrive(rehearsal=True), 403, "forbidden")
    problem(site.arrive(rehearsal=True, client=site.client(headers={"authorization": "Bearer x"})), 403, "forbidden")
    researcher = site.client(headers={"authorization": f"Bearer {site.login()}"})
    assert site.arrive(rehearsal=True, client=researcher).status_code == 201
    assert site.query("SELECT kind FROM participants") == [("rehearsal",)]


def test_rehearsals_take_no_place_of_real_people(site: Any) -> None:
    researcher = site.client(headers={"authorization": f"Bearer {site.login()}"})
    for _ in range(6):
        site.arrive(rehearsal=True, client=researcher)
    for _ in range(4):
        site.arrive()
    counted = site.query("SELECT kind, order_index, count(*) FROM participants GROUP BY kind, order_index")
    assert set(map(tuple, counted)) == {("rehearsal", 0, 3), ("rehearsal", 1, 3), ("real", 0, 2), ("real", 1, 2)}


def test_an_invited_person_begins_with_consent(site: Any, short: StudyDesign, problem: Any) -> None:
    site.change(
        "INSERT INTO participants (study_id, public_id, token, kind, label, quiz_attempts, revision, created_at) "
        "SELECT id, 'p-invited', 'a-token-of-24-letters-000', 'real', 'anna', 0, 0, 1 FROM studies"
    )
    person = site.person()
    person.token = "a-token-of-24-letters-000"
    state = person.state()
    assert state["step"] == {"kind": "consent", "id": "consent"}
    assert state["consent"]["version"] == "1"
    problem(person.answer("demographics", {"age": 33, "gender": 0, "ai_researcher": 1}), 409, "wrong-step")
    assert person.answer("consent", {"version": "1"}).json()["state"]["step"]["id"] == "demographics"
    assert person.answer("consent", {"version": "1"}).status_code == 200
    assert person.go_on(short)["step"]["kind"] == "thanks"
    [(seed, order, consented)] = site.query(
        "SELECT seed, order_index, consented_at FROM participants WHERE public_id = 'p-invited'"
    )
    assert None not in (seed, order, consented)


def test_the_partner_is_the_librarys_own_agent(site: Any, short: StudyDesign) -> None:
    person = site.person()
    arms = [0, 1, 1, 0, 1]
    plan = site.plan_of(short, person.token)
    for index in range(len(plan)):
        person.go_on(short, f"episode-{index}")
        episode = Episode.open(plan.episode(index))
        for t, arm in enumerate(arms[: plan.episode(index).rounds], 1):
            r = episode.play(t, arm)
            [shown] = person.send(index, (t, arm, key())).json()["rounds"]
            assert shown == {"t": t, "arms": list(r.arms), "good": bool(r.seen[0])}


def test_a_retry_is_answered_from_the_store(site: Any, short: StudyDesign) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    same = key()
    first = person.send(1, (1, 0, same))
    assert person.send(1, (1, 0, same)).json() == first.json()
    person.send(1, (2, 1, key()))
    again = person.send(1, (1, 0, same)).json()
    assert again["rounds"] == first.json()["rounds"]
    assert again["played"] == 2
    person.go_on(short, "rest-2")
    assert person.send(1, (1, 0, same)).json()["rounds"] == first.json()["rounds"]  # also when the episode is over
    assert site.query("SELECT count(*) FROM rounds r JOIN episodes e ON e.id = r.episode_id WHERE e.number = 1") == [
        (5,)
    ]


def test_a_played_round_stays_as_it_is(site: Any, short: StudyDesign, problem: Any) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    same = key()
    person.send(1, (1, 0, same))
    for arm, other in ((0, key()), (1, key()), (1, same)):
        late = problem(person.send(1, (1, arm, other)), 409, "already-played")
        assert late["state"]["episode"]["played"] == 1
    [(stored, arms)] = site.query(
        "SELECT r.key, r.arms FROM rounds r JOIN episodes e ON e.id = r.episode_id WHERE e.number = 1"
    )
    assert (stored, json.loads(arms)[0]) == (same, 0)


def test_a_batch_is_stored_whole_or_not_at_all(site: Any, short: StudyDesign, problem: Any) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    keys = [key() for _ in range(5)]
    problem(person.send(1, (1, 0, keys[0]), (2, 0, keys[1]), (3, 9, keys[2])), 422, "invalid")
    assert person.state()["episode"]["played"] == 0
    several = person.send(1, (1, 0, keys[0]), (2, 1, keys[1])).json()
    assert [r["t"] for r in several["rounds"]] == [1, 2]
    problem(person.send(1, (2, 1, key()), (3, 0, keys[2])), 409, "already-played")
    assert person.state()["episode"]["played"] == 2
    # Overlapping: what is stored comes back, what is new is played.
    whole = person.send(1, *((t, t % 2 if t < 2 else 1, keys[t - 1]) for t in (2, 3, 4, 5))).json()
    assert [r["t"] for r in whole["rounds"]] == [2, 3, 4, 5]
    assert whole["rounds"][0] == several["rounds"][1]
    assert whole["finished"] is True


def test_two_tabs_play_one_round_once(site: Any, short: StudyDesign) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda i: person.send(1, (1, i % 2, key())), range(8)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 7}
    [won] = [answer.json()["rounds"][0] for answer in answers if answer.status_code == 200]
    [(stored,)] = site.query("SELECT r.arms FROM rounds r JOIN episodes e ON e.id = r.episode_id WHERE e.number = 1")
    assert json.loads(stored) == won["arms"]
    for answer in answers:
        if answer.status_code == 409:
            assert answer.json()["state"]["episode"]["latest"]["arms"] == won["arms"]


def test_a_new_server_goes_on_in_the_middle_of_an_episode(short_sqlite: str, short: StudyDesign) -> None:
    arms = [0, 1, 1, 0, 1]
    shown = []
    token, keys = "", [key() for _ in arms]
    for t, arm in enumerate(arms, 1):  # every round by a server that has just been started
        with running(WebConfig(short_sqlite)) as url, http_client(url) as client:
            if not token:
                arrival = {"key": key(), "consent_version": "1"}
                token = client.post("/api/studies/short/participants", json=arrival).json()["token"]
                for step, answers in (
                    ("demographics", {"age": 33, "gender": 0, "ai_researcher": 1}),
                    ("instructions", {}),
                    ("quiz", {item.id: item.answer for item in short.quiz}),
                ):
                    client.post(f"/api/participants/{token}/answers/{step}", json={"answers": answers})
                moves = [{"t": n, "arm": 0, "key": key()} for n in (1, 2)]
                client.post(f"/api/participants/{token}/rounds", json={"episode": 0, "moves": moves})
                client.post(f"/api/participants/{token}/answers/rest-1", json={"answers": {}})
            body = {"episode": 1, "moves": [{"t": t, "arm": arm, "key": keys[t - 1]}]}
            shown += client.post(f"/api/participants/{token}/rounds", json=body).json()["rounds"]
    from cobandit.web.storage.database import Database

    database = Database(short_sqlite)
    with database.reading.connect() as connection:
        seed, order = connection.exec_driver_sql("SELECT seed, order_index FROM participants").one()
    database.close()
    episode = Episode.open(ParticipantPlan(short, int(seed), order).episode(1))
    rounds = [episode.play(t, arm) for t, arm in enumerate(arms, 1)]
    assert shown == [{"t": r.t, "arms": list(r.arms), "good": bool(r.seen[0])} for r in rounds]


def test_a_damaged_log_stops_the_game_and_is_not_changed(
    site: Any, short: StudyDesign, open_site: Any, problem: Any
) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    person.send(1, (1, 0, key()), (2, 0, key()))
    site.change(
        "UPDATE rounds SET arms = CASE arms WHEN '[0,0]' THEN '[0,1]' ELSE '[0,0]' END "
        "WHERE t = 1 AND episode_id = (SELECT id FROM episodes WHERE number = 1)"
    )
    before = site.query("SELECT * FROM rounds ORDER BY episode_id, t")
    other = open_site(site.config.database)
    with http_client(other.url) as client:
        answer = problem(client.get(person.path), 500, "damaged")
        assert "Traceback" not in json.dumps(answer)
        sent = client.post(f"{person.path}/rounds", json={"episode": 1, "moves": [{"t": 3, "arm": 0, "key": key()}]})
        problem(sent, 500, "damaged")
    assert site.query("SELECT * FROM rounds ORDER BY episode_id, t") == before


def test_somebody_deleted_while_playing_is_gone(site: Any, short: StudyDesign, problem: Any) -> None:
    person = site.person()
    person.go_on(short, "episode-1")
    person.send(1, (1, 0, key()))
    site.change("DELETE FROM participants WHERE token = :t", t=person.token)
    problem(person.send(1, (2, 0, key())), 404, "not-found")
    problem(person.answer("rest-1", {}), 404, "not-found")
    problem(person.client.get(person.path), 404, "not-found")
    noted = person.client.post(f"{person.path}/events", json={"events": [{"kind": "load", "at": 1}]})
    problem(noted, 404, "not-found")
    for table in ("participants", "answers", "episodes", "rounds", "events"):
        assert site.query(f"SELECT count(*) FROM {table}") == [(0,)], table


def test_the_state_tells_nothing_it_should_not(site: Any, short: StudyDesign) -> None:
    person = site.person(recruiting=PROLIFIC)
    plan = site.plan_of(short, person.token)
    for step in journey(short).steps[1:]:
        state = person.go_on(short, step.id)
        text = json.dumps(state)
        for word in (*SECRETS, str(plan.seed), person.token, PROLIFIC["PROLIFIC_PID"]):
            assert word not in text, (step.id, word)
        assert "answer" not in json.dumps(state.get("quiz", {}))  # the right answers
        if step.kind == "survey":  # an attention check looks like any other item
            assert {tuple(item) for item in state["survey"]["items"]} == {("id", "text")}


def test_the_state_does_not_tell_the_partners_next_move(open_site: Any, sqlite: str, short: StudyDesign) -> None:
    """Whatever the AI will do next: while the rounds so far are the same, so is the state."""
    others = [replace(short, name="other", conditions=tuple(reversed(short.conditions)))]
    others += [replace(short, name=f"other-{seed}") for seed in range(4)]
    site = open_site(sqlite, *others)
    seen: dict[str, set[int]] = {}
    for design in others:
        for _ in range(2):
            person = site.person(design.name)
            state = person.go_on(design, "episode-1")
            state |= {"participant": "", "study": ""}
            plan = site.plan_of(design, person.token)
            coming = Episode.open(plan.episode(1)).play(1, 0).arms[1]
            seen.setdefault(json.dumps(state), set()).add(coming)
    assert len(seen) == 1  # one state for all ...
    assert seen.popitem()[1] == {0, 1}  # ... before different moves


def test_the_latest_round_is_all_that_changes(site: Any, short: StudyDesign) -> None:
    person = site.person()
    before = person.go_on(short, "episode-1")
    [latest] = person.send(1, (1, 1, key())).json()["rounds"]
    after = person.state()
    assert {name for name in after if after[name] != before[name]} == {"episode"}
    assert after["episode"]["latest"]["arms"] == latest["arms"]
    changed = [
        (old["arms"], new["good"] - old["good"], new["bad"] - old["bad"])
        for old, new in zip(before["episode"]["counts"], after["episode"]["counts"], strict=True)
        if old != new
    ]
    assert changed == [(latest["arms"], int(latest["good"]), int(not latest["good"]))]


def test_what_happens_at_the_page_is_noted(site: Any, problem: Any) -> None:
    person = site.person()
    events = [{"kind": "hidden", "at": 1_700_000_000_000, "data": {"a": 1}}, {"kind": "visible", "at": 1}]
    assert person.client.post(f"{person.path}/events", json={"events": events}).status_code == 204
    long = [{"kind": "error", "at": 1, "data": {"message": "x" * 5000}}]
    assert person.client.post(f"{person.path}/events", json={"events": long}).status_code == 204
    stored = site.query("SELECT kind, data FROM events ORDER BY id")
    assert [row.kind for row in stored] == ["hidden", "visible", "error"]
    assert json.loads(stored[0].data) == {"a": 1, "page_at": 1_700_000_000_000}
    assert len(stored[2].data) < 1100
    problem(person.client.post(f"{person.path}/events", json={"events": [{"kind": "x", "at": 1}]}), 422, "invalid")
    many = [{"kind": "load", "at": 1}] * 51
    problem(person.client.post(f"{person.path}/events", json={"events": many}), 422, "invalid")
