"""Personal links."""

from __future__ import annotations

import csv
import io
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign

PASSWORD = "correct horse"
NASTY = '<script>alert("1")</script>'
STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html"}


def test_an_invited_person_comes_by_their_own_link(site: Any, short: StudyDesign, admin: httpx.Client) -> None:
    answer = admin.post(f"{STUDY}/links", json={"labels": ["Anna Bauer", " =1+1 ", NASTY]})
    assert answer.status_code == 201
    assert [link["label"] for link in answer.json()] == ["Anna Bauer", "=1+1", NASTY]
    link = answer.json()[0]
    assert link["url"].startswith(f"{site.url}/p/")
    assert site.query("SELECT count(*) FROM participants WHERE seed IS NULL AND order_index IS NULL") == [(3,)]
    client = site.client()
    assert client.get(link["url"], headers=HTML).status_code == 200
    api = link["url"].replace("/p/", "/api/participants/")
    assert client.get(api).json()["step"]["kind"] == "consent"
    given = client.post(f"{api}/answers/consent", json={"answers": {"version": "1"}}).json()
    assert given["state"]["step"]["kind"] == "demographics"
    listed = admin.get(f"{STUDY}/links").json()
    assert [link["status"] for link in listed] == ["active", "invited", "invited"]
    site.person()  # by the open link: not among the personal ones
    assert len(admin.get(f"{STUDY}/links").json()) == 3
    table = admin.get(f"{STUDY}/links.csv")
    assert table.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(table.text, newline="")))
    assert [row["label"] for row in rows] == ["Anna Bauer", "'=1+1", NASTY]
    assert rows[0]["url"] == link["url"]


def test_many_links_at_once(site: Any, admin: httpx.Client) -> None:
    answer = admin.post(f"{STUDY}/links", json={"count": 500, "kind": "rehearsal"}).json()
    assert len({link["url"] for link in answer}) == 500
    assert admin.get(f"{STUDY}/links").json() == []
    assert len(admin.get(f"{STUDY}/links", params={"kind": "rehearsal"}).json()) == 500
    assert len(admin.post(f"{STUDY}/links", json={}).json()) == 1


@pytest.mark.parametrize(
    "body",
    [
        {"count": 0},
        {"count": 501},
        {"count": 2, "labels": ["one"]},
        {"labels": []},
        {"labels": ["x" * 201]},
        {"labels": ["nul\0"]},
        {"count": 1, "kind": "demo"},
        {"count": "1"},
        {"people": 1},
    ],
)
def test_links_that_cannot_be_made(
    shared_site: Any, shared_admin: httpx.Client, body: dict[str, Any], problem: Any
) -> None:
    problem(shared_admin.post(f"{STUDY}/links", json=body), 422, "invalid")
    assert shared_site.query("SELECT count(*) FROM participants") == [(0,)]


def test_a_label_that_has_a_link_already_is_named(site: Any, admin: httpx.Client, problem: Any) -> None:
    def invite(*labels: str, **more: Any) -> httpx.Response:
        return admin.post(f"{STUDY}/links", json={"labels": list(labels)} | more)

    assert invite("anna", "ben").status_code == 201
    answer = invite("ben", "clara", "dora", "dora")
    problem(answer, 409, "label-exists")
    assert answer.json()["message"] == (
        "Labels that have a link already: ben. Labels that are given more than once: dora. No link was created."
    )
    assert [link["label"] for link in admin.get(f"{STUDY}/links").json()] == ["anna", "ben"]
    assert invite("ben", kind="rehearsal").status_code == 201  # simulated people have labels of their own
    assert invite("ben", "", repeat=True).status_code == 201
    assert invite("", "").status_code == 201  # people without a label
    assert [link["label"] for link in admin.get(f"{STUDY}/links").json()] == ["anna", "ben", "ben", None, None, None]


def test_many_known_labels_are_listed_in_short(site: Any, admin: httpx.Client) -> None:
    labels = [f"person {i}" for i in range(30)]
    admin.post(f"{STUDY}/links", json={"labels": labels})
    message = admin.post(f"{STUDY}/links", json={"labels": labels}).json()["message"]
    assert "person 19 and 10 more." in message
