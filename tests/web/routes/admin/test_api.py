"""The researcher's interface as a whole, and what is asked of it in vain."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign

NASTY = '<script>alert("1")</script>'
STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}


def unpacked(answer: httpx.Response) -> dict[str, bytes]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return {name.rpartition("/")[2]: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("number", ["0", "-1", "99999999999999999999", "one"])
def test_numbers_that_are_none(shared_admin: httpx.Client, number: str, problem: Any) -> None:
    problem(shared_admin.get(f"/api/admin/studies/{number}/live"), 422, "invalid")
    page = shared_admin.get(f"/admin/studies/{number}", headers=HTML)
    assert page.status_code == 422
    assert "Traceback" not in page.text


@pytest.mark.parametrize("what", ["live", "curves", "links", "links.csv", "payments", "export", "stream"])
def test_a_study_that_is_not_there(shared_admin: httpx.Client, what: str, problem: Any) -> None:
    assert "99" in problem(shared_admin.get(f"/api/admin/studies/99/{what}"), 404, "not-found")["message"]


@pytest.mark.filterwarnings("default")
def test_a_broken_database_shows_a_sentence_and_no_trace(site: Any, admin: httpx.Client, problem: Any) -> None:
    name = site.public_id(site.person().token)
    site.change("DROP TABLE events")
    problem(admin.get(f"{STUDY}/participants/{name}"), 503, "busy")
    page = admin.get(f"/admin/studies/1/participants/{name}", headers=HTML)
    assert page.status_code == 503
    assert "Traceback" not in page.text
    assert "events" not in page.text


@pytest.mark.slow
def test_all_of_it_on_postgresql(open_site: Callable[..., Any], postgresql: str, short: StudyDesign) -> None:
    site = open_site(postgresql, short)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    person = site.person(recruiting={"PROLIFIC_PID": "5f0c1e2d3b4a59687a6b5c4d"})
    person.go_on(short)
    other = site.person()
    other.go_on(short, "episode-2")
    name = site.public_id(person.token)
    [study] = admin.get("/api/admin/studies").json()["studies"]
    base = f"/api/admin/studies/{study['id']}"
    assert admin.post(f"{base}/links", json={"labels": [NASTY]}).status_code == 201
    live = admin.get(f"{base}/live").json()
    assert live["counts"]["real"] == {"active": 1, "idle": 0, "dropped": 0, "invited": 1, "finished": 1, "removed": 0}
    assert sum(curve["episodes"] for curve in admin.get(f"{base}/curves").json()["conditions"]) == 5
    view = admin.get(f"{base}/participants/{name}").json()
    assert sum(episode["played"] for episode in view["episodes"]) == 22
    assert len(admin.get(f"{base}/participants/{name}/episodes/1").json()["rounds"]) == 5
    assert [payment["attention_passed"] for payment in admin.get(f"{base}/payments").json()] == [True]
    assert len(admin.get(f"{base}/links").json()) == 1
    assert "long.csv" in unpacked(admin.get(f"{base}/export"))
    with admin.stream("GET", f"{base}/stream") as stream:
        assert next(line for line in stream.iter_lines() if line.startswith("event: ")) == "event: tick"
    assert admin.delete(f"{base}/participants/{name}").json()["deleted"]["rounds"] == 22
    assert site.query("SELECT count(*) FROM rounds") == [(2 + 5,)]
    assert admin.post(f"{base}/close").json()["open"] is False
    for page in ("", f"/studies/{study['id']}", f"/studies/{study['id']}/payments"):
        assert admin.get(f"/admin{page}", headers=HTML).status_code == 200
