"""Questionnaires at a server, on both databases: bots answer them, answers are stored once, and exports hold them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from cobandit.studies.journey import check_answers, journey
from cobandit.web.clients.bots import play_study
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.studies.questionnaires import asking_design


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_bots_answer_every_item(
    open_site: Callable[..., Any], tmp_path: Any, request: pytest.FixtureRequest, kind: str
) -> None:
    design = asking_design()
    address = f"sqlite:///{tmp_path / 's.sqlite'}" if kind == "sqlite" else request.getfixturevalue("postgresql")
    site = open_site(address, design)
    results = play_study(site.url, "asking", 3, ("softmax",), login=site.login())
    assert [result.step for result in results] == ["thanks"] * 3
    with site.database.read() as connection:
        stored = find_study(connection, "asking")
        assert stored is not None
        people = study_data(connection, stored, "rehearsal").participants
    for person in people:
        for step in journey(design).steps:
            if step.kind == "questionnaire":
                values = dict(person.answers[step.id].values)
                assert check_answers(design, step, values) == values

    client = site.client()
    client.headers["authorization"] = f"Bearer {site.login()}"
    for texts in (False, True):
        asked = {"kind": "rehearsal", "texts": str(texts).lower()}
        packed = client.get("/api/admin/studies/1/export", params=asked)
        with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
            (name,) = [name for name in archive.namelist() if name.endswith("questionnaires.csv")]
            head = archive.read(name).decode().splitlines()[0]
        assert head.endswith(",text") == texts
