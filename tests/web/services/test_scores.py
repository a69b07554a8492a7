"""A served study with points and drifting means: bots play it, and every figure of the server follows the rounds."""

from __future__ import annotations

from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design, verify_study
from cobandit.studies.export.tables import tables
from cobandit.web.clients.bots import play_study
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data

POINTS = StudyDesign.from_dict(
    load_design("three-by-three").to_dict()
    | {
        "name": "points",
        "rounds": 12,
        "observation": "missed-known",
        "means": {"low": 0.0, "high": 10.0, "drift": "piecewise", "changes_at": [7], "per": "study"},
        "rewards": {"kind": "points", "highest": 10},
    }
)


def test_bots_play_points_and_the_server_agrees_with_the_export(open_site: Any, sqlite: str) -> None:
    site = open_site(sqlite, POINTS)
    results = play_study(site.url, "points", 3, ("softmax", "knowledge-gradient"), login=site.login())
    assert all(result.step == "thanks" for result in results)
    with site.database.read() as connection:
        study = find_study(connection, "points")
        assert study is not None
        data = study_data(connection, study, "rehearsal")
    assert verify_study(data) == []
    exported = tables(data, practice=False)["long"]
    assert set(exported["reward"]) <= set(map(float, range(11)))
    assert len(set(exported["reward"])) > 3
    api = f"/api/admin/studies/{study.id}"
    admin = site.client(headers={"Authorization": f"Bearer {site.login()}"})
    for person in data.participants:
        view = admin.get(f"{api}/participants/{person.id}").json()
        assert view["scored"] is True
        for episode in view["episodes"]:
            own = (exported["participant"] == person.id) & (exported["episode"] == episode["number"])
            if own.any():
                assert episode["regret"] == pytest.approx(exported["round_regret"][own].sum())
                assert episode["good"] == pytest.approx(exported["reward"][own].sum())
                path = f"{api}/participants/{person.id}/episodes/{episode['number']}"
                rounds = admin.get(path).json()["rounds"]
                assert [r["regret"] for r in rounds] == pytest.approx(exported["round_regret"][own].tolist())
