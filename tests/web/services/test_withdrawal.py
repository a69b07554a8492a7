"""People who withdraw: their data are gone or anonymous, once, and they get what the design promises."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cobandit.studies import StudyDesign, journey, verify_study
from cobandit.web.refusals import Refused
from cobandit.web.services.lobby import visit
from cobandit.web.storage.participants import participant_by_token
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from cobandit.web.storage.values import now_ms
from tests.team_designs import team_design

PID = "5f0c1e2d3b4a59687a6b5c4d"
TABLES = ("participants", "answers", "episodes", "rounds", "events", "messages", "lobby")
PAID = {"payment": {"currency": "EUR", "fixed": "4"}, "outcomes": [{"outcome": "withdrew", "pay": "0.50"}]}


def design_with(short: StudyDesign, **changes: Any) -> StudyDesign:
    return StudyDesign.from_dict(short.to_dict() | changes)


def withdraw(person: Any, **options: Any) -> Any:
    return person.client.post(f"{person.path}/withdrawal", **options)


def ready_team(site: Any, design: StudyDesign) -> list[Any]:
    """Two people who met in the lobby and are both ready."""
    people = [site.person(design.name) for _ in range(2)]
    for person in people:
        person.go_on(design, "lobby")
    for _ in range(2):
        for person in people:
            person.client.post(f"{person.path}/lobby", json={"here": True, "ready": True}).raise_for_status()
    return people


def admin_of(site: Any) -> Any:
    return site.client(headers={"authorization": f"Bearer {site.login()}"})


def checked(site: Any, design: StudyDesign) -> Any:
    """Return the data of a study, after everything in them was computed again."""
    with site.database.read() as connection:
        study = find_study(connection, design.name)
        assert study is not None
        data = study_data(connection, study, "real")
    assert not verify_study(data)
    return data


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
class TestWithdrawal:
    @pytest.fixture
    def address(self, request: pytest.FixtureRequest, backend: str) -> str:
        return str(request.getfixturevalue(backend))

    def test_everything_is_deleted_once(self, open_site: Any, address: str, short: StudyDesign) -> None:
        """Six requests at two processes: one deletes, and all get the same answer."""
        design = design_with(short, **PAID)
        two = open_site(address, design), open_site(address)
        person = two[0].person(recruiting={"PROLIFIC_PID": PID})
        person.go_on(design, "rest")
        person.client.post(f"{person.path}/events", json={"events": [{"kind": "load", "at": 1}]}).raise_for_status()
        tabs = [type(person)(two[i % 2].client(), person.token) for i in range(6)]
        with ThreadPoolExecutor(6) as pool:
            answers = list(pool.map(withdraw, tabs))
        assert [answer.status_code for answer in answers] == [200] * 6, [answer.text for answer in answers]
        states = [answer.json() for answer in answers]
        assert all(state == states[0] for state in states)
        thanks = states[0]["thanks"]
        assert (thanks["ending"], thanks["data"], thanks["pay"]) == ("withdrew", "deleted", "0.50 EUR")
        assert len(thanks["code"]) == 8
        assert thanks["code"] != "THANKS42"
        assert thanks["return_url"].endswith(f"cc={thanks['code']}")
        assert {table: two[0].query(f"SELECT count(*) FROM {table}") for table in TABLES} == {
            table: [(0,)] for table in TABLES
        }
        assert two[0].query("SELECT count(*) FROM withdrawals") == [(1,)]
        assert PID not in str(two[0].query("SELECT * FROM withdrawals"))
        assert person.token not in str(two[0].query("SELECT * FROM withdrawals"))
        assert two[0].query("SELECT count(*) FROM audit WHERE action = 'participant-withdrew'") == [(1,)]
        assert person.state() == states[0]  # a reload
        assert person.client.get(f"/p/{person.token}").status_code == 200
        assert person.send(0, (1, 0, "a" * 32)).status_code == 404
        [payment] = admin_of(two[0]).get("/api/admin/studies/1/payments").json()
        assert (payment["outcome"], payment["participant"], payment["total"]) == ("withdrew", None, "0.50")
        assert payment["code"] == thanks["code"]
        lines = admin_of(two[0]).get("/admin/studies/1/payments.csv").text.splitlines()
        assert "withdrew" in lines[1]

    def test_what_is_anonymous_stays_and_can_be_verified(
        self, open_site: Any, address: str, short: StudyDesign
    ) -> None:
        about = [*short.to_dict()["demographics"], {"id": "city", "text": "Where?", "answer": "text"}]
        asked = [
            {
                "id": "first",
                "title": "First",
                "when": "before",
                "items": [{"id": "why", "kind": "text", "text": "Why?"}],
            }
        ]
        design = design_with(short, withdrawal={"data": "anonymise"}, demographics=about, questionnaires=asked)
        site = open_site(address, design)
        person = site.person(recruiting={"PROLIFIC_PID": PID, "SESSION_ID": "session-of-ada"})
        person.go_on(design, "demographics")
        given = {"age": 33, "gender": 0, "ai_researcher": 1, "city": "Ulm on the Danube"}
        assert person.answer("demographics", given).status_code == 200
        asking = next(step.id for step in journey(design).steps if step.kind == "questionnaire")
        person.go_on(design, asking)
        assert person.answer(asking, {"why": "I am Ada Lovelace"}).status_code == 200
        person.go_on(design, "rest")
        before = site.public_id(person.token)
        thanks = withdraw(person).json()["thanks"]
        assert (thanks["data"], thanks["code"], thanks.get("pay")) == ("anonymised", None, None)
        stored = str(site.query("SELECT * FROM participants") + site.query("SELECT * FROM answers"))
        for secret in (PID, "session-of-ada", person.token, before, "Ulm on the Danube", "Lovelace"):
            assert secret not in stored
        assert site.query("SELECT count(*) FROM events") == [(0,)]
        [somebody] = checked(site, design).participants
        assert (somebody.status, somebody.external_id) == ("dropped", None)
        assert somebody.answers["demographics"].values["city"] is None
        assert somebody.answers["demographics"].values["age"] == 33
        assert sum(len(episode) for episode in somebody.episodes.values()) > 0
        assert withdraw(person).json()["thanks"] == thanks
        assert site.query("SELECT count(*) FROM withdrawals") == [(1,)]

    def test_nothing_comes_after_it(self, open_site: Any, address: str) -> None:
        """Another process knows the person from before: it stores no event, no message, and no visit of the lobby."""
        design = StudyDesign.from_dict(team_design().to_dict() | {"withdrawal": {"data": "anonymise"}})
        two = open_site(address, design), open_site(address)
        person = two[0].person(design.name)
        person.go_on(design, "lobby")
        other = type(person)(two[1].client(), person.token)
        assert other.state()["step"]["kind"] == "lobby"
        with two[0].database.read() as connection:
            study, before = find_study(connection, design.name), participant_by_token(connection, person.token)
        assert study is not None
        assert before is not None
        assert withdraw(person).status_code == 200
        events = {"events": [{"kind": "hidden", "at": 1}]}
        assert other.client.post(f"{other.path}/events", json=events).status_code == 404
        with two[0].database.writing.connect() as connection, pytest.raises(Refused, match="no participant"):
            visit(connection, study, before, True, now_ms())
        answer = admin_of(two[0]).post("/api/admin/studies/1/messages", json={"text": "Please wait."})
        assert answer.json() == {"people": 0}
        for table in ("events", "messages", "lobby"):
            assert two[0].query(f"SELECT * FROM {table}") == []

    @pytest.mark.parametrize("rule", ["ai", "end"])
    @pytest.mark.parametrize("data", ["delete", "anonymise"])
    def test_a_member_of_a_team(self, open_site: Any, address: str, rule: str, data: str) -> None:
        """The other member plays on with an AI, or continues with the survey, as the group's rules say."""
        base = team_design(group={"when_left": rule})
        design = StudyDesign.from_dict(base.to_dict() | {"withdrawal": {"data": data}})
        site = open_site(address, design)
        people = ready_team(site, design)
        first, second = people
        for person in (first, second, first):
            state = person.go_on(design, "episode")
        number = state["episode"]["index"]
        assert first.send(number, (1, 0, "b" * 32)).status_code == 200
        assert withdraw(second).status_code == 200
        assert withdraw(second).json()["thanks"]["ending"] == "withdrew"
        state = first.state()
        assert state["step"]["kind"] == ("episode" if rule == "ai" else "survey")
        if rule == "ai":
            assert state["episode"]["played"] == 1
            assert first.send(number, (2, 0, "c" * 32)).status_code == 200
        reasons = {reason for (reason,) in site.query("SELECT left_reason FROM members")}
        assert reasons == ({None, "withdrew"} if rule == "ai" else {"withdrew", "partner"})
        assert len(checked(site, design).participants) == (1 if data == "delete" else 2)

    def test_the_last_member_of_a_team(self, open_site: Any, address: str) -> None:
        design = team_design(group={"lobby_seconds": 60})
        site = open_site(address, design)
        people = ready_team(site, design)
        for person in people:
            answer = withdraw(person)
            assert answer.status_code == 200, answer.text
            assert answer.json()["thanks"]["data"] == "deleted"
        assert site.query("SELECT count(*) FROM teams") == [(0,)]
        waiting = site.person(design.name)
        waiting.go_on(design, "lobby")
        waiting.client.post(f"{waiting.path}/lobby", json={"here": True, "ready": False}).raise_for_status()
        assert withdraw(waiting).status_code == 200
        assert site.query("SELECT count(*) FROM lobby") == [(0,)]


def test_nobody_withdraws_before_the_consent_or_without_a_link(site: Any, admin: Any, problem: Any) -> None:
    [link] = admin.post("/api/admin/studies/1/links", json={"labels": ["anna"]}).json()
    token = link["url"].rsplit("/", 1)[1]
    problem(site.client().post(f"/api/participants/{token}/withdrawal"), 409, "not-begun")
    problem(site.client().post(f"/api/participants/{'x' * 22}/withdrawal"), 404, "not-found")
    assert site.query("SELECT count(*) FROM participants") == [(1,)]


def test_whoever_withdraws_after_the_end_keeps_code_and_pay(open_site: Any, sqlite: str, short: StudyDesign) -> None:
    design = design_with(short, **PAID)
    site = open_site(sqlite, design)
    person = site.person()
    person.go_on(design)
    thanks = withdraw(person).json()["thanks"]
    assert (thanks["code"], thanks["pay"], thanks["data"]) == ("THANKS42", "4.00 EUR", "deleted")
    [payment] = admin_of(site).get("/api/admin/studies/1/payments").json()
    assert (payment["outcome"], payment["total"]) == ("finished, withdrew", "4.00")


def test_the_place_is_free_again(open_site: Any, sqlite: str, short: StudyDesign) -> None:
    """The order of somebody who has withdrawn goes to the next person, also where the data stay."""
    design = design_with(short, withdrawal={"data": "anonymise"})
    site = open_site(sqlite, design)
    first = site.person()
    order = site.query("SELECT order_index FROM participants")[0][0]
    withdraw(first).raise_for_status()
    site.person()
    site.person()
    assert order in [row[0] for row in site.query("SELECT order_index FROM participants ORDER BY id")[1:]]
