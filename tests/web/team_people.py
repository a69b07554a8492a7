"""People in teams for tests of the server: led to the lobby, to their episode, and what is stored of them."""

from __future__ import annotations

import uuid
from typing import Any

from cobandit.studies import StudyDesign
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.team_designs import team_design

DESIGN = team_design()


def key() -> str:
    return uuid.uuid4().hex


def in_lobby(site: Any, design: StudyDesign = DESIGN) -> Any:
    person = site.person("team")
    assert person.go_on(design, "lobby")["step"]["kind"] == "lobby"
    return person


def wait(person: Any, **body: Any) -> dict[str, Any]:
    response = person.client.post(f"{person.path}/lobby", json={"here": True} | body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def team_of(site: Any, design: StudyDesign = DESIGN) -> list[Any]:
    """A team that has just been formed, its members in the order of their seats."""
    people = [in_lobby(site, design) for _ in design.participant_seats]
    for person in people:
        wait(person)
    assert all(wait(person)["lobby"] is None for person in people)
    return sorted(people, key=lambda person: person.state()["task"]["seat"])


def at_episode(people: list[Any], design: StudyDesign = DESIGN) -> list[dict[str, Any]]:
    """Lead everybody to the episode that they play together."""
    for person in people:
        state = person.state()
        while not state.get("team"):
            state = person.go_on(design, "partner") if state["step"]["kind"] == "episode" else go_on_once(person, state)
        person.order = 0 if state["episode"]["index"] == 0 else 1
    return [person.state() for person in people]


def go_on_once(person: Any, state: dict[str, Any]) -> dict[str, Any]:
    answered = person.answer(state["step"]["id"], person.good_answers(state, DESIGN), ms=1000)
    assert answered.status_code == 200, answered.text
    return dict(answered.json()["state"])


def stored(site: Any) -> Any:
    with site.database.read() as connection:
        study = find_study(connection, "team")
        assert study is not None
        return study_data(connection, study)


def episode_of(person: Any) -> int:
    """The episode that the team plays together: the first, or the second in the other order."""
    return int(person.order)


def has_played(site: Any, rounds: int) -> bool:
    return bool(site.query("SELECT max(played) FROM episodes WHERE team_id IS NOT NULL") == [(rounds,)])


def rounds_after(person: Any, after: int) -> list[dict[str, Any]]:
    response = person.client.get(f"{person.path}/team", params={"episode": episode_of(person), "after": after})
    assert response.status_code == 200, response.text
    return list(response.json()["rounds"])
