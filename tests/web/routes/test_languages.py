"""The browser's language holds from the first page to the last, errors and pages without scripts included."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import httpx
import pytest

from cobandit.base.records import Table
from cobandit.studies import StudyDesign, load_design
from cobandit.studies.page_texts import front_texts, page_texts
from tests.clients import http_client

FRENCH = {"accept": "text/html", "accept-language": "fr-CH, fr;q=0.9, en;q=0.5"}
NOSCRIPT = {
    "de": "Diese Studie braucht",
    "fr": "Cette étude a besoin",
    "es": "Este estudio necesita",
    "it": "Serve JavaScript",
}


@pytest.fixture
def burger(open_site: Callable[..., Any], sqlite: str) -> Any:
    """The burger study, which has its own words for some pages and speaks a fifth language."""
    data = load_design("burger").to_dict() | {"languages": ["en", "de", "fr", "es", "it"]}
    data["messages"] = {
        "it": {"page.noscript": "Serve JavaScript.", "closed.title": "Chiuso"},
        "fr": {"consent.heading": "Salut"},
    }
    return open_site(sqlite, StudyDesign.from_dict(data))


def researcher(site: Any) -> httpx.Client:
    return http_client(site.url, headers={"authorization": f"Bearer {site.login()}"})


@pytest.mark.parametrize("language", NOSCRIPT)
def test_without_scripts(burger: Any, language: str) -> None:
    page = burger.client().get("/s/burger", headers=FRENCH | {"accept-language": f"{language};q=0.8, xx"}).text
    assert f'<html lang="{language}">' in page
    assert NOSCRIPT[language] in page.split("<noscript>")[1]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_the_front_page_speaks_it(burger: Any, language: str) -> None:
    texts, design = front_texts(language), load_design("burger")
    client = burger.client()
    page = html.unescape(client.get("/", headers=FRENCH | {"accept-language": f"xx, {language}"}).text)
    assert f'<html lang="{language}">' in page
    assert texts["lead"] in page
    assert texts["rounds.other"].format(n=2, rounds=20) in page
    assert f">{texts['join']}<" in page
    assert design.texts(language)["title"] in page
    assert "?language=" not in page
    asked = html.unescape(client.get(f"/?language={language}", headers=FRENCH).text)
    assert texts["heading"] in asked
    assert f'href="/s/burger?language={language}"' in asked, "whoever asks for a language goes on in it"
    assert "<script" not in client.get("/?language=<script>").text


def test_a_study_that_does_not_speak_it_keeps_its_own_title(open_site: Callable[..., Any], sqlite: str) -> None:
    design = replace(load_design("burger"), languages=("en",), translations=Table(), title="Only <English>")
    page = open_site(sqlite, design).client().get("/", headers=FRENCH).text
    assert '<h3 lang="en">' in page
    assert "Only &lt;English&gt;" in page


def test_what_the_browser_likes_best_comes_first(burger: Any) -> None:
    for header, language in (("en;q=0.1, es;q=0.9", "es"), ("es;q=0, de", "de"), ("xx, yy", "en"), ("", "en")):
        page = burger.client().get("/s/burger", headers=FRENCH | {"accept-language": header}).text
        assert f'<html lang="{language}">' in page, header


def test_a_personal_link_speaks_the_browsers_language_until_another_is_chosen(burger: Any) -> None:
    with researcher(burger) as admin:
        link = admin.post("/api/admin/studies/1/links", json={"labels": ["Anna"]}).json()[0]["url"]
    client = burger.client()
    assert '<html lang="fr">' in client.get(link, headers=FRENCH).text
    api = link.replace("/p/", "/api/participants/")
    client.post(f"{api}/answers/consent?language=es", json={"answers": {"version": "1"}})
    assert '<html lang="es">' in client.get(link, headers=FRENCH).text


def test_errors_are_told_in_it(burger: Any) -> None:
    client = burger.client()
    for path in ("/p/AAAAAAAAAAAAAAAAAAAAAAAA", "/s/nothing"):
        page = client.get(path, headers=FRENCH)
        assert page.status_code == 404
        assert page_texts("fr")["unknown.title"] in page.text
    with researcher(burger) as admin:
        assert admin.post("/api/admin/studies/1/close").status_code == 200
    assert "Cette étude est fermée" in client.get("/s/burger", headers=FRENCH).text
    assert "Chiuso" in client.get("/s/burger", headers=FRENCH | {"accept-language": "it"}).text


def test_messages_are_those_of_the_study(burger: Any) -> None:
    client = burger.client()

    def said(path: str) -> dict[str, str]:
        return dict(client.get(f"/api/messages/{path}").json()["messages"])

    assert said("fr")["consent.heading"] == "Bienvenue"
    assert said("fr?study=burger")["consent.heading"] == "Salut"
    assert said("it?study=burger&version=3")["closed.title"] == "Chiuso"
    assert said("it?study=burger")["continue"] == "Continue", "what is not there yet is English"
    assert client.get("/api/messages/it?study=burger&version=9").status_code == 404
    assert client.get("/api/messages/it?study=burger&version=x").status_code == 422
