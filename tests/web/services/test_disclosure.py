"""What participants may read, and when: texts of their step, and a completion code that fits their kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from cobandit.studies import StudyDesign, journey

PROLIFIC = {"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d", "STUDY_ID": "s1", "SESSION_ID": "x1"}


def _texts(data: Any) -> Iterator[str]:
    """Yield every text in nested JSON."""
    if isinstance(data, str):
        yield data
    for value in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _texts(value)


def test_a_page_reads_the_texts_of_its_step_alone(open_site: Any, sqlite: str, short: StudyDesign) -> None:
    """Attention checks, quiz and debriefing cannot be read in advance, neither before consent nor after."""
    design = StudyDesign.from_dict(short.to_dict() | {"debriefing": "One of the two did not listen to you."})
    texts = design.texts("en")
    groups = {
        "survey": {text for key, text in texts.items() if key.startswith(("attention.", "survey."))},
        "quiz": {text for key, text in texts.items() if key.startswith("quiz.")},
        "demographics": {text for key, text in texts.items() if key.startswith("demographics.")},
        "thanks": {texts["debriefing"]},
    }
    site = open_site(sqlite, design)
    client = site.client(headers={"authorization": f"Bearer {site.login()}"})
    [link] = client.post("/api/admin/studies/1/links", json={"count": 1}).json()
    about = site.client().get("/api/studies/short").json()
    assert about["texts"] == {"title": design.title}
    person = site.person()
    person.token = link["url"].rpartition("/")[2]
    assert person.state()["texts"] == {"title": design.title}
    seen = [("before", set(_texts(about)))]
    for step in journey(design).steps:
        state = person.go_on(design, step.id)
        seen.append((step.kind, set(_texts(state))))
    for kind, read in seen:
        assert not [group for group, secret in groups.items() if group != kind and read & secret]
    shown = {kind for kind, read in seen if kind in groups and read & groups[kind]}
    assert shown == set(groups)


@pytest.mark.parametrize("kind", ["demo", "rehearsal"])
def test_only_real_participants_get_the_code_of_the_study(
    open_site: Any, short_sqlite: str, short: StudyDesign, kind: str
) -> None:
    site = open_site(short_sqlite, demo=True)
    client = site.client(headers={"authorization": f"Bearer {site.login()}"})
    token = site.arrive(client=client, recruiting=PROLIFIC, **{kind: True}).json()["token"]
    person = site.person()
    person.token = token
    thanks = person.go_on(short)["thanks"]
    assert thanks["code"] == f"{kind.upper()}-{site.public_id(token).removeprefix('p-').upper()}"
    assert thanks["return_url"] is None
    assert "THANKS42" not in json.dumps(person.state())
