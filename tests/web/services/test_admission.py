"""Who may begin: open, by invitation, up to a quota, nobody; and nobody with a placeholder for consent."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from cobandit.base.records import Table
from cobandit.cli import app
from cobandit.studies import StudyDesign, load_design
from cobandit.studies.page_texts import front_texts
from cobandit.web.services.admission import AVAILABILITY, unready
from cobandit.web.serving import prepare

STUDY = "/api/admin/studies/1"
HTML = {"accept": "text/html", "accept-language": "de"}


def _link(admin: httpx.Client, number: int = 1) -> str:
    url: str = admin.post(f"/api/admin/studies/{number}/links", json={"count": 1}).json()[0]["url"]
    return url.rsplit("/", 1)[-1]


def _agree(client: httpx.Client, token: str) -> httpx.Response:
    return client.post(f"/api/participants/{token}/answers/consent", json={"answers": {"version": "1"}})


def test_by_invitation_a_personal_link_works_and_the_open_one_does_not(site: Any, admin: Any, problem: Any) -> None:
    answer = admin.post(f"{STUDY}/state", json={"state": "invite-only"})
    assert answer.json()["availability"].pop("reason").startswith("This study takes people by invitation")
    assert answer.json() | {"availability": None} == {
        "study": 1, "open": False, "state": "invite-only", "quota": None, "availability": None,
    }  # fmt: skip
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
    assert f'href="/p/{token}"' in page.text
    assert 'href="/"' not in page.text  # other studies are nothing for somebody who takes part in this one
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
    assert (study["state"], study["quota"], study["open"]) == ("quota", 2, False)
    assert (study["availability"]["code"], study["availability"]["taken"]) == ("full", 2)
    assert "2 of 2 places taken" in admin.get("/admin", headers=HTML).text


@pytest.mark.parametrize(
    "body",
    [{}, {"state": "ajar"}, {"state": "quota"}, {"state": "open", "quota": 3}, {"state": "quota", "quota": 0}]
    + [{"state": "quota", "quota": quota} for quota in (-1, 1.5, "7", True, 10**9, None)],
)
def test_states_that_are_none(shared_admin: Any, body: dict[str, Any], problem: Any) -> None:
    problem(shared_admin.post(f"{STUDY}/state", json=body), 422, "invalid")
    assert shared_admin.get("/api/admin/studies").json()["studies"][0]["state"] == "open"


def test_one_sentence_names_all_studies_with_a_placeholder_for_consent() -> None:
    burger, casino = load_design("burger"), load_design("casino")
    own = replace(burger, consent=replace(burger.consent, text="Ours."), languages=("en",), translations=Table())
    sentences = [str(unready(burger, own)), str(unready(burger, own, casino))]
    assert [sentence.split(" take")[0] for sentence in sentences] == ["burger", "burger and casino"]
    assert unready(own) is None


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


def _words(site: Any, name: str, number: int = 1) -> dict[str, str | None]:
    """Return the word for the state of a study at every place that states it; None where a home page has no word.

    The researcher's home page has a checklist in its place while nobody has taken part.
    The home page has a word for a study that refuses people, except where only the researcher can change that.
    """
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    _link(admin, number)  # a study without participants has a checklist at /admin, and no badge
    english = {"accept": "text/html", "accept-language": "en"}
    home = site.client().get("/", headers=english).text
    badges = r'class="badge [a-z-]+">([^<]+)<'
    on_home = re.search(badges, home)
    assert (on_home is None and "placeholder consent" not in home) == (f'href="/s/{name}"' in home)
    listed = CliRunner().invoke(app, ["study", "list", "--json", "--database", site.config.database]).stdout
    state = CliRunner().invoke(app, ["study", "state", name, "--database", site.config.database]).stderr
    found = re.search(r": ([a-z ]+):", state)
    assert found is not None, state
    [entry] = admin.get("/api/admin/studies").json()["studies"]
    live = admin.get(f"/api/admin/studies/{number}/live").json()["study"]
    page = admin.get(f"/admin/studies/{number}", headers=english).text
    assert entry["open"] == live["open"] == (f'href="/s/{name}"' in home)
    badge = re.search(badges, admin.get("/admin", headers=english).text)
    return {
        "home": None if on_home is None else on_home[1],
        "admin": None if badge is None else badge[1],
        "study page": re.findall(r'id="availability" ' + badges, page)[0],
        "api": entry["availability"]["word"],
        "live": live["availability"]["word"],
        "study list": json.loads(listed)["studies"][0]["availability"]["word"],
        "study state": found[1].capitalize(),
    }  # fmt: skip


@pytest.mark.parametrize("code", AVAILABILITY)
def test_one_state_has_one_word_everywhere(
    open_site: Callable[..., Any], sqlite: str, short: StudyDesign, code: str
) -> None:
    design = load_design("burger") if code == "not-ready" else short
    site = open_site(sqlite, design, consent_elsewhere=False)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    if code == "full":
        admin.post(f"{STUDY}/state", json={"state": "quota", "quota": 1})
        site.person()
    elif code != "not-ready":
        admin.post(f"{STUDY}/state", json={"state": code})
    words = _words(site, design.name)
    silent = {"home": None} if code in ("open", "not-ready") else {}
    assert words == dict.fromkeys(words, AVAILABILITY[code]) | silent
    page = admin.get("/admin/studies/1", headers=HTML).text
    assert ("The link refuses people at the moment." in page) == (code != "open")


def test_front_page_and_commands_share_their_words() -> None:
    assert {code: front_texts("en").get(code, "Open") for code in AVAILABILITY} == AVAILABILITY


def test_commands_know_that_consent_is_given_elsewhere(open_site: Callable[..., Any], sqlite: str) -> None:
    prepare(sqlite, [load_design("burger")], password="correct horse", consent_elsewhere=True)
    site = open_site(sqlite, consent_elsewhere=True)
    assert set(_words(site, "burger").values()) == {None, "Open"}
    prepare(sqlite, [load_design("burger")])  # a simulation, which says nothing about consent
    assert _words(site, "burger")["study list"] == "Open"


def test_an_earlier_version_offers_no_link_that_leads_to_another(
    open_site: Callable[..., Any], sqlite: str, short: StudyDesign
) -> None:
    second = StudyDesign.from_dict(short.to_dict() | {"version": 2, "rounds": 6})
    site = open_site(sqlite, short, second)
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    pages = {number: admin.get(f"/admin/studies/{number}", headers=HTML).text for number in (1, 2)}
    assert ("leads to its newest version, 2" in pages[1], 'id="open-link"' in pages[1]) == (True, False)
    assert ("leads to its newest version" in pages[2], 'id="open-link"' in pages[2]) == (False, True)
