"""People whom a researcher takes out of a study: nothing is deleted, the place is free, analyses leave them out."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cobandit.analysis import analyse_data
from cobandit.cli import app
from cobandit.studies import StudyDesign, verify_study
from cobandit.web.refusals import Refused
from cobandit.web.services.removal import store_removal
from cobandit.web.storage.audit import newest_entries
from cobandit.web.storage.participants import participant_by_token
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from cobandit.web.storage.withdrawals import anonymise
from tests.web.servers import until

REASON = "took part twice, in another browser"


def data_of(site: Any, design: StudyDesign) -> Any:
    with site.database.read() as connection:
        study = find_study(connection, design.name)
        assert study is not None
        return study_data(connection, study, "real")


@pytest.mark.parametrize("backend", ["sqlite", "postgresql"])
def test_removed_and_taken_back(
    request: Any, backend: str, open_site: Callable[..., Any], short: StudyDesign, problem: Any
) -> None:
    site = open_site(str(request.getfixturevalue(backend)), short)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    assert admin.post("/api/admin/studies/1/state", json={"state": "quota", "quota": 2}).status_code == 200
    first, second = site.person(), site.person()
    first.go_on(short)
    second.go_on(short, "episode-0")
    names = [site.public_id(person.token) for person in (first, second)]
    base = "/api/admin/studies/1/participants"
    problem(site.arrive(), 403, "full")
    since = admin.get("/api/admin/studies/1/live").json()["cursor"]

    for name in names:
        assert admin.post(f"{base}/{name}/remove", json={"reason": REASON}).status_code == 200
    problem(admin.post(f"{base}/{names[0]}/remove", json={"reason": "again"}), 409, "left")
    live = admin.get("/api/admin/studies/1/live", params={"since": since}).json()
    assert [person["status"] for person in live["participants"]] == ["removed", "removed"]
    [study] = admin.get("/api/admin/studies").json()["studies"]  # live counts may be a moment old
    assert study["counts"]["real"]["removed"] == 2
    assert admin.get("/api/admin/studies/1/live", params={"status": "removed"}).json()["total"] == 2
    assert site.person().token  # the two places are free
    second.go_on(short)  # the page goes on as before
    data = data_of(site, short)
    assert [person.status for person in data.participants][:2] == ["removed", "removed"]
    assert not verify_study(data)
    paid = {row["participant"]: row["outcome"] for row in admin.get("/api/admin/studies/1/payments").json()}
    assert paid == dict.fromkeys(names, "finished")
    analysis = analyse_data(data)
    excluded = {entry.participant: entry for entry in analysis.measures.excluded}
    assert all(excluded[name].rule == "removed" and REASON in excluded[name].sentence for name in names)

    assert admin.post(f"{base}/{names[0]}/restore").status_code == 200
    problem(admin.post(f"{base}/{names[0]}/restore"), 409, "not-removed")
    assert admin.get(f"{base}/{names[0]}").json()["status"] == "finished"
    back = analyse_data(data_of(site, short))
    assert back.measures.participants == (names[0],)
    with site.database.read() as connection:
        log = [entry for entry in newest_entries(connection, None, 20) if entry.action.startswith("participant-")]
    assert [entry.action for entry in log] == ["participant-restored", *["participant-removed"] * 2]
    assert REASON not in str(log)  # a reason may name a person, and the log stays


def test_screened_out_while_removed(open_site: Callable[..., Any], sqlite: str, short: StudyDesign) -> None:
    asked = {"id": "adult", "text": "Adult?", "answer": "choice", "choices": ["yes", "no"], "screen_out": [1]}
    design = StudyDesign.from_dict(short.to_dict() | {"demographics": [asked]})
    site = open_site(sqlite, design)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    person = site.person()
    person.go_on(design, "demographics")
    path = f"/api/admin/studies/1/participants/{site.public_id(person.token)}"
    assert admin.post(f"{path}/remove", json={"reason": REASON}).status_code == 200
    assert person.answer("demographics", {"adult": 1}).status_code == 200
    assert person.state()["thanks"]["ending"] == "screened-out"
    assert site.query("SELECT ending FROM participants") == [("removed",)]
    assert admin.post(f"{path}/restore").status_code == 200
    assert site.query("SELECT ending FROM participants") == [("screened-out",)]  # and counts for no quota


def test_removed_while_withdrawing(open_site: Callable[..., Any], postgresql: str, short: StudyDesign) -> None:
    """The removal waits for the withdrawal, and then finds nobody: its reason would name someone who is anonymous."""
    site = open_site(postgresql, short)
    person = site.person()
    name = site.public_id(person.token)

    def remove() -> None:
        with site.database.write() as connection:
            store_removal(connection, 1, name, REASON, "owner")

    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with ThreadPoolExecutor(1) as other:
        with site.database.writing.begin() as connection:
            stored = participant_by_token(connection, person.token)
            assert stored is not None
            anonymise(connection, stored, short, 1)
            removal = other.submit(remove)
            until(lambda: site.query(waiting) == [(1,)])
        with pytest.raises(Refused, match="no participant"):
            removal.result()
    assert site.query("SELECT ending FROM participants") == [("withdrew",)]
    assert site.query("SELECT count(*) FROM events") == [(0,)]


def test_by_the_command_line(open_site: Callable[..., Any], sqlite: str, short: StudyDesign) -> None:
    from typer.testing import CliRunner

    site = open_site(sqlite, short)
    name = site.public_id(site.person().token)

    def run(*words: str) -> Any:
        return CliRunner().invoke(app, ["study", *words, "--database", sqlite])

    assert run("remove-participant", "short", name, "--reason", " ").exit_code == 2
    assert run("remove-participant", "short", "p-22222222", "--reason", "x").exit_code != 0
    done = run("remove-participant", "short", name, "--reason", REASON)
    assert (done.exit_code, name in done.output) == (0, True), done.output
    assert json.loads(run("list", "--json").stdout)["studies"][0]["removed"] == 1
    assert "removed a participant" in run("log").output
    assert run("restore-participant", "short", name).exit_code == 0
    assert json.loads(run("list", "--json").stdout)["studies"][0]["removed"] == 0
