"""Cells on a server: people are assigned once, evenly, and no more of them than the quotas say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cobandit.analysis import analyse_data
from cobandit.studies import StudyDesign, load_design, verify_study
from cobandit.studies.export.statistics import statistics_tables
from cobandit.studies.export.tables import tables
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data

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


def stratified(**changes: Any) -> StudyDesign:
    data = MIXED.to_dict() | {"name": "strata", "quotas": {}} | changes
    for question in data["demographics"]:
        if question["id"] == "ai_researcher":
            question |= {"stratify": True, "choices": ["Yes", "No", "No answer"], "screen_out": [2]}
    return StudyDesign.from_dict(data)


def answers(place: int) -> dict[str, int]:
    return {"age": 33, "gender": 0, "ai_researcher": place}


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_strata_are_balanced_whoever_answers_at_once(
    request: Any, backend: str, open_site: Callable[..., Any], problem: Any
) -> None:
    """Twelve people answer at the same time at two processes; each of two strata is even, and nothing changes later."""
    address, design = str(request.getfixturevalue(backend)), stratified()
    two = open_site(address, design), open_site(address)
    people = [two[i % 2].person("strata") for i in range(12)]
    place = {person.token: int(i % 3 == 0) for i, person in enumerate(people)}
    before = two[0].query("SELECT order_index FROM participants")
    assert {order for (order,) in before} == {None}

    def tell(person: Any) -> int:
        return int(person.answer("demographics", answers(place[person.token])).status_code)

    with ThreadPoolExecutor(12) as pool:
        assert set(pool.map(tell, people * 2)) == {200}  # each twice: a retry changes nothing
    orders = {person.token: two[0].plan_of(design, person.token) for person in people}
    for stratum in (0, 1):
        cells = Counter(design.cell_of(orders[token].order) for token in orders if place[token] == stratum)
        assert len(cells) == 2
        assert max(cells.values()) - min(cells.values()) <= 1
    problem(people[0].answer("demographics", answers(1 - place[people[0].token])), 409, "already-answered")
    people[0].go_on(design, "episode-0")
    assert {person.token: two[1].plan_of(design, person.token) for person in people} == orders
    screened = two[0].person("strata")
    assert screened.answer("demographics", answers(2)).json()["state"]["step"]["kind"] == "thanks"
    [(order,)] = two[0].query("SELECT order_index FROM participants WHERE token = :t", t=screened.token)
    assert order is None


def test_people_who_are_not_assigned_yet_hold_a_place(open_site: Callable[..., Any], sqlite: str, problem: Any) -> None:
    design = stratified(quotas={"low": 2, "high": 1})
    site = open_site(sqlite, design)
    people = [site.person("strata") for _ in range(3)]
    problem(site.arrive("strata"), 403, "full")
    assert people[0].answer("demographics", answers(2)).status_code == 200  # screened out: the place is free
    people[0] = site.person("strata")
    problem(site.arrive("strata"), 403, "full")
    for person in people:
        person.go_on(design)
    cells = Counter(design.cell_of(site.plan_of(design, person.token).order) for person in people)
    assert cells == {"low": 2, "high": 1}
    problem(site.arrive("strata"), 403, "full")
    with site.database.read() as connection:
        study = find_study(connection, "strata")
        assert study is not None
        data = study_data(connection, study, "real")
    assert not verify_study(data)
    analysis = analyse_data(data)
    flow = analysis.measures.flow
    assert (flow.not_begun, flow.began, flow.excluded, flow.analysed) == (0, 4, 1, 3)
    [screened] = analysis.exclusions
    assert screened.endswith("was screened out, at the questions before the assignment.")
    exported = statistics_tables(design, tables(data))[1]
    assert [len(exported[name]["participant"]) for name in ("wide", "not_begun")] == [4, 0]
    assert "with the same answer to" in str(analysis.to_dict())


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
