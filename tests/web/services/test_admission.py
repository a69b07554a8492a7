"""Who may begin: open, by invitation, up to a quota, nobody; and nobody with a placeholder for consent."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from cobandit.studies import StudyDesign, load_design

STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html", "accept-language": "de"}


def _link(admin: httpx.Client, number: int = 1) -> str:
    url: str = admin.post(f"/api/admin/studies/{number}/links", json={"count": 1}).json()[0]["url"]
    return url.rsplit("/", 1)[-1]


def _agree(client: httpx.Client, token: str) -> httpx.Response:
    return client.post(f"/api/participants/{token}/answers/consent", json={"answers": {"version": "1"}})


def test_by_invitation_a_personal_link_works_and_the_open_one_does_not(site: Any, admin: Any, problem: Any) -> None:
    answer = admin.post(f"{STUDY}/state", json={"state": "invite-only"})
    assert answer.json() == {"study": 1, "open": False, "state": "invite-only", "quota": None}
    problem(site.arrive(), 403, "invite-only")
    page = site.client().get("/s/short", headers=HTML)
    assert page.status_code == 403
    assert "auf Einladung" in page.text
    client, token = site.client(), _link(admin)
    assert client.get(f"/p/{token}", headers=HTML).status_code == 200
    assert _agree(client, token).json()["state"]["step"]["kind"] == "demographics"
    described = client.get("/api/studies/short").json()
    assert (described["open"], described["refused"]) == (False, "invite-only")
    assert "Auf Einladung" in client.get("/", headers=HTML).text


def test_a_personal_link_to_a_closed_study_says_so_before_consent(site: Any, admin: Any, problem: Any) -> None:
    client, token = site.client(), _link(admin)
    begun = site.person()
    assert client.get(f"/api/participants/{token}").json()["step"]["kind"] == "consent"  # it is in memory now
    admin.post(f"{STUDY}/close")
    page = client.get(f"/p/{token}", headers=HTML)
    assert (page.status_code, "Diese Studie ist geschlossen" in page.text) == (403, True)
    assert 'href="/"' in page.text
    problem(client.get(f"/api/participants/{token}"), 403, "closed")
    problem(_agree(client, token), 403, "closed")
    assert begun.state()["step"]["kind"] == "demographics"  # whoever has begun may finish
    admin.post(f"{STUDY}/open")
    assert client.get(f"/p/{token}", headers=HTML).status_code == 200


def test_a_quota_is_kept_to_and_frees_the_place_of_who_has_left(
    site: Any, short: StudyDesign, admin: Any, problem: Any
) -> None:
    token = _link(admin)
    admin.post(f"{STUDY}/state", json={"state": "quota", "quota": 2})
    site.person().go_on(short)
    second = site.person()
    problem(site.arrive(), 403, "full")
    problem(site.client().get(f"/api/participants/{token}"), 403, "full")
    assert "Diese Studie ist voll" in site.client().get("/s/short", headers=HTML).text
    site.arrive(client=admin, rehearsal=True)  # simulated people do not count, and are not counted out
    site.change("UPDATE participants SET last_seen = 1000 WHERE token = :t", t=second.token)
    assert site.arrive().status_code == 201
    assert second.state()["step"]["kind"] == "demographics"
    problem(site.arrive(), 403, "full")
    [study] = admin.get("/api/admin/studies").json()["studies"]
    assert (study["state"], study["quota"], study["open"]) == ("quota", 2, True)
    assert "Open for 2" in admin.get("/admin", headers=HTML).text


@pytest.mark.parametrize(
    "body",
    [{}, {"state": "ajar"}, {"state": "quota"}, {"state": "open", "quota": 3}, {"state": "quota", "quota": 0}]
    + [{"state": "quota", "quota": quota} for quota in (-1, 1.5, "7", True, 10**9, None)],
)
def test_states_that_are_none(shared_admin: Any, body: dict[str, Any], problem: Any) -> None:
    problem(shared_admin.post(f"{STUDY}/state", json=body), 422, "invalid")
    assert shared_admin.get("/api/admin/studies").json()["studies"][0]["state"] == "open"


def test_nobody_real_begins_with_a_placeholder_for_consent(
    open_site: Callable[..., Any], sqlite: str, problem: Any
) -> None:
    site = open_site(sqlite, load_design("burger"), demo=True, consent_elsewhere=False)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    problem(site.arrive("burger"), 403, "not-ready")
    token = _link(admin)
    problem(site.client().get(f"/api/participants/{token}"), 403, "not-ready")
    problem(_agree(site.client(), token), 403, "not-ready")
    page = site.client().get("/s/burger", headers=HTML)
    assert (page.status_code, "noch nicht begonnen" in page.text) == (403, True)
    assert site.arrive("burger", demo=True).status_code == 201
    assert site.arrive("burger", client=admin, rehearsal=True).status_code == 201
    assert site.client().get("/s/burger?demo=1", headers=HTML).status_code == 200
    for address in ("/admin", "/admin/studies/1"):
        assert "its consent" in admin.get(address, headers=HTML).text
    assert site.query("SELECT count(*) FROM participants WHERE kind = 'real' AND consented_at IS NOT NULL") == [(0,)]


def test_where_consent_is_given_elsewhere_people_are_taken(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, load_design("burger"), consent_elsewhere=True)
    assert site.arrive("burger", key=uuid.uuid4().hex).status_code == 201
