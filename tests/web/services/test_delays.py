"""A served study with delayed feedback and two horizons: what the server tells, and what bots make of it."""

from __future__ import annotations

from typing import Any

from cobandit.studies import StudyDesign, load_design, rehearse, verify_study
from cobandit.web.clients.bots import play_study
from cobandit.web.services.together import answer_view, round_view
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data

LATE = StudyDesign.from_dict(
    load_design("three-by-three").to_dict()
    | {
        "name": "late",
        "episodes": 1,
        "practice": None,
        "partners": [],
        "languages": ["en"],
        "translations": {},
        "roles": "drawn",
        "factors": [{"name": "speed", "assignment": "between"}],
        "conditions": [
            {"name": "slow", "agent": "softmax", "rounds": 4, "delay": 2, "observation": "missed-known"},
            {"name": "quick", "agent": "softmax", "rounds": 7},
        ],
    }
)


def test_bots_play_and_no_answer_tells_more_than_is_known(open_site: Any, sqlite: str) -> None:
    site = open_site(sqlite, LATE)
    results = play_study(site.url, "late", 4, "softmax", login=site.login())
    assert all(result.step == "thanks" for result in results)
    assert sorted(result.rounds for result in results) == [4, 4, 7, 7]
    with site.database.read() as connection:
        study = find_study(connection, "late")
        assert study is not None
        data = study_data(connection, study, "rehearsal")
    assert verify_study(data) == []
    admin = site.client(headers={"Authorization": f"Bearer {site.login()}"})
    api = f"/api/admin/studies/{study.id}"
    people = admin.get(f"{api}/live?kind=rehearsal").json()["participants"]
    assert {(tuple(one["order"]), one["rounds"]["total"]) for one in people} == {(("slow",), 4), (("quick",), 7)}
    curves = admin.get(f"{api}/curves?kind=rehearsal").json()
    assert curves["rounds"] == [1, 2, 3, 4, 5, 6, 7]
    assert [sum(value is not None for value in one["mean"]) for one in curves["conditions"]] == [4, 7]


def test_an_answer_reveals_no_round_before_its_time() -> None:
    episode = rehearse(LATE, "softmax", 1, LATE.orders.index(("slow",)))[0]
    answers = [answer_view(episode, t, 0) for t in range(1, 5)]
    assert [[known["t"] for known in answer["known"]] for answer in answers] == [[], [], [1], [2, 3, 4]]
    assert [answer["arms"] for answer in answers] == [[played.arms[0], None] for played in episode.rounds]
    assert {answer["good"] for answer in answers} == {None}
    assert answers[2]["known"][0] == round_view(episode.round(1), 0)
