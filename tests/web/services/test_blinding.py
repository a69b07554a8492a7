"""The monitor is blind to conditions until somebody asks, and the audit log keeps that."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from cobandit.report.kit.palette import COLOURS, DARK_COLOURS
from cobandit.studies import StudyDesign
from cobandit.web import pages

STUDY = "/api/admin/studies/1"


@pytest.fixture
def blind(site: Any, admin: httpx.Client) -> httpx.Client:
    """A researcher who has not asked yet."""
    assert admin.post(f"{STUDY}/blind").json() == {"done": True}
    return admin


def _audit(site: Any) -> list[tuple[str, str]]:
    return [tuple(row) for row in site.query("SELECT by, study FROM audit WHERE action = 'unblinded'")]


def test_nothing_tells_the_conditions_apart(site: Any, short: StudyDesign, blind: httpx.Client) -> None:
    person = site.person()
    person.go_on(short, "survey-1")
    name = site.public_id(person.token)
    answers = [
        blind.get(f"{STUDY}/{what}")
        for what in ("live", "curves", f"participants/{name}", f"participants/{name}/episodes/1")
    ]
    live, curves, view, rounds = (answer.json() for answer in answers)
    for answer in answers:
        assert answer.status_code == 200
        for condition in short.conditions:
            assert condition.name not in answer.text
    assert (live["blind"], curves["blind"], view["blind"]) == (True, True, True)
    assert [row["name"] for row in live["conditions"]] == ["A", "B"]
    assert [row["order"] for row in live["orders"]] == [["A", "B"], ["B", "A"]]
    assert curves["conditions"] == []
    [entry] = live["participants"]
    begun = next(row["name"] for row in live["conditions"] if row["begun"])
    assert entry["order"][0] == begun
    assert live["orders"][entry["order_index"]]["order"] == entry["order"]
    assert {row["condition"] for row in view["episodes"]} <= {"practice", "A", "B"}
    assert set(json.dumps([row["predictions"] for row in rounds["rounds"]])) <= set("[]nul, ")


def test_asking_is_written_down_once_and_shows_them(site: Any, short: StudyDesign, blind: httpx.Client) -> None:
    site.person().go_on(short)
    assert blind.post(f"{STUDY}/unblind").json() == {"done": True}
    blind.post(f"{STUDY}/unblind")
    assert _audit(site) == [("owner", "short v1")]
    live, curves = blind.get(f"{STUDY}/live").json(), blind.get(f"{STUDY}/curves").json()
    assert [row["name"] for row in live["conditions"]] == [condition.name for condition in short.conditions]
    assert (live["blind"], curves["blind"]) == (False, False)
    assert {row["name"]: row["number"] for row in curves["conditions"]} == {"naive-ucb": 1, "partner-aware-ucb": 0}
    blind.post(f"{STUDY}/blind")
    assert blind.get(f"{STUDY}/live").json()["blind"] is True


def test_simulated_people_are_shown_as_they_are(site: Any, blind: httpx.Client, short: StudyDesign) -> None:
    site.arrive(client=blind, rehearsal=True)
    live = blind.get(f"{STUDY}/live", params={"kind": "rehearsal"}).json()
    assert live["blind"] is False
    assert live["participants"][0]["order"][0] in {condition.name for condition in short.conditions}
    assert _audit(site) == []


def test_an_algorithm_has_one_colour_in_reports_and_on_the_monitor() -> None:
    style = pages.ROOM.joinpath("static", "admin", "admin.css").read_text(encoding="utf-8")
    light, dark = (re.findall(r"--c\d: (#[0-9a-f]{6})", part) for part in style.split("prefers-color-scheme: dark", 1))
    assert light == [colour.lower() for colour in COLOURS]
    assert dark == [colour.lower() for colour in DARK_COLOURS]
