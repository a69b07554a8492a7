"""Codes, pay and the way back for each outcome, and recruiters that a design defines."""

from __future__ import annotations

from typing import Any

import pytest

from cobandit.studies import StudyDesign, verify_study
from cobandit.studies.export.tables import tables
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data

EUR = {"currency": "EUR", "fixed": "4"}
PANEL = {
    "name": "panel",
    "id": "pid",
    "also": ["wave"],
    "return_url": "https://panel.example/done?id={id}&wave={wave}&code={code}",
}


def admin_of(site: Any) -> Any:
    return site.client(headers={"authorization": f"Bearer {site.login()}"})


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_each_outcome_has_its_code_and_pay(
    open_site: Any, short: StudyDesign, request: pytest.FixtureRequest, backend: str
) -> None:
    data = short.to_dict()
    about = [q | ({"screen_out": [0]} if q["id"] == "ai_researcher" else {}) for q in data["demographics"]]
    outcomes = [
        {"outcome": "screened-out", "code": "SCREEN42", "pay": "0.10"},
        {"outcome": "failed-attention", "pay": "1"},
    ]
    design = StudyDesign.from_dict(data | {"payment": EUR, "outcomes": outcomes, "demographics": about})
    site = open_site(request.getfixturevalue(backend), design)
    screened, careless, careful = (site.person() for _ in range(3))
    screened.go_on(design, "demographics")
    answer = screened.answer("demographics", {"age": 33, "gender": 0, "ai_researcher": 0}).json()
    assert answer["state"]["step"]["kind"] == "thanks"
    assert answer["state"]["thanks"] | {"debriefing": None} == {
        "code": "SCREEN42",
        "return_url": None,
        "ending": "screened-out",
        "pay": "0.10 EUR",
        "debriefing": None,
    }
    assert screened.answer("demographics", {"age": 33, "gender": 0, "ai_researcher": 0}).status_code == 200
    state = careless.go_on(design, "survey-1")
    right = design.attention[0].answer
    wrong = careless.good_answers(state, design) | {design.attention[0].id: right % 5 + 1}
    assert careless.answer("survey-1", wrong).status_code == 200
    failed = careless.go_on(design)["thanks"]
    passed = careful.go_on(design)["thanks"]
    assert failed.keys() == passed.keys()  # the page does not tell
    assert passed["code"] == "THANKS42"
    assert len(failed["code"]) == 8
    assert failed["code"] != "THANKS42"
    paid = {row["outcome"]: row for row in admin_of(site).get("/api/admin/studies/1/payments").json()}
    assert {name: (row["code"], row["total"]) for name, row in paid.items()} == {
        "screened-out": ("SCREEN42", "0.10"),
        "failed-attention": (failed["code"], "1.00"),
        "finished": ("THANKS42", "4.00"),
    }
    with site.database.read() as connection:
        study = find_study(connection, design.name)
        assert study is not None
        data_now = study_data(connection, study)
    assert not verify_study(data_now)
    wide = tables(data_now)["wide"]
    assert sorted(wide["outcome"]) == ["failed-attention", "finished", "screened-out"]
    live = admin_of(site).get("/api/admin/studies/1/live").json()
    statuses = {entry["participant"]: entry["status"] for entry in live["participants"]}
    assert statuses[site.public_id(screened.token)] == "dropped"
    assert list(statuses.values()).count("finished") == 2


def test_a_recruiter_of_the_design(open_site: Any, sqlite: str, short: StudyDesign, problem: Any) -> None:
    design = StudyDesign.from_dict(short.to_dict() | {"recruiter": PANEL})
    site = open_site(sqlite, design)
    person = site.person(recruiting={"pid": "a b&c", "wave": "2", "other": "x"})
    assert site.query("SELECT recruiter, external_id FROM participants") == [("panel", "a b&c")]
    assert person.go_on(design)["thanks"]["return_url"] == (
        "https://panel.example/done?id=a%20b%26c&wave=2&code=THANKS42"
    )
    problem(site.arrive(recruiting={"pid": "a b&c"}), 403, "forbidden")  # another browser
    problem(site.arrive(recruiting={"pid": "{{pid}}"}), 422, "unfilled")
    page = site.client().get("/s/short?pid=7").text
    assert 'data-identity="pid"' in page
    thanks = person.client.post(f"{person.path}/withdrawal").json()["thanks"]
    assert (thanks["code"], thanks["return_url"]) == ("THANKS42", None)  # the address would need the id


def test_cloudresearch_connect(open_site: Any, sqlite: str, short: StudyDesign) -> None:
    back = {"name": "connect", "return_url": "https://connect.example/complete/42"}
    design = StudyDesign.from_dict(short.to_dict() | {"recruiter": back})
    site = open_site(sqlite, design)
    link = {"participantId": "c0ffee" * 5, "assignmentId": "a1", "projectId": "p1"}
    person = site.person(recruiting=link)
    assert site.person(recruiting=link).token == person.token  # from another browser
    assert site.query("SELECT recruiter FROM participants") == [("connect",)]
    assert person.go_on(design)["thanks"]["return_url"] == "https://connect.example/complete/42"
