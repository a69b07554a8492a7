"""Cells on a server: people are assigned once, evenly, and no more of them than the quotas say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from cobandit.studies import StudyDesign, load_design

MIXED = StudyDesign.from_dict(load_design("burger-mixed").to_dict() | {"quotas": {"low": 2, "high": 1}, "rounds": 2})


def cell_of(site: Any, token: str) -> str:
    return MIXED.cell_of(site.plan_of(MIXED, token).order)


def test_cells_fill_by_their_quotas_and_are_full_then(open_site: Callable[..., Any], sqlite: str, problem: Any) -> None:
    site = open_site(sqlite, MIXED)
    people = [site.person("burger-mixed") for _ in range(3)]
    assert Counter(cell_of(site, person.token) for person in people) == {"low": 2, "high": 1}
    problem(site.arrive("burger-mixed"), 403, "full")
    assert site.client().get("/api/studies/burger-mixed").json()["refused"] == "full"
    # Whoever has left frees a place, and the next person gets it.
    gone = people[1]
    site.change("UPDATE participants SET last_seen = 0 WHERE token = :t", t=gone.token)
    assert cell_of(site, site.person("burger-mixed").token) == cell_of(site, gone.token)
    problem(site.arrive("burger-mixed"), 403, "full")


def test_an_assignment_stays(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, MIXED, demo=True)
    person = site.person("burger-mixed")
    before = site.plan_of(MIXED, person.token)
    person.go_on(MIXED, "episode-0")
    for _ in range(3):
        assert person.state()["episode"]["sets"] == 2
    other = site.person("burger-mixed")
    assert cell_of(site, other.token) != MIXED.cell_of(before.order)
    person.go_on(MIXED)
    assert site.plan_of(MIXED, person.token) == before
    played = site.query(
        "SELECT DISTINCT e.condition FROM episodes e JOIN participants p ON p.id = e.participant_id WHERE p.token = :t",
        t=person.token,
    )
    assert {condition for (condition,) in played} == set(before.conditions)


def test_the_monitor_hides_cells_while_blind(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, MIXED)
    site.person("burger-mixed")
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    site.change("DELETE FROM settings WHERE name LIKE 'unblinded-%'")
    live = admin.get("/api/admin/studies/1/live", params={"kind": "real"})
    assert live.status_code == 200, live.text
    assert live.json()["blind"]
    assert "naive-low" not in live.text
    assert "aware-high" not in live.text
    assert len(live.json()["orders"]) == 4
