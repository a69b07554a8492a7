"""The front door: what it leads to, and what it keeps in."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design
from cobandit.web import WebConfig
from cobandit.web.serving import running


def test_leads_to_study_demo_and_researcher(site, ask):
    page = ask.get(site.url, headers={"accept": "text/html"}).text
    for link in ("/s/short", "/admin", "/openapi.json"):
        assert f'href="{link}"' in page
    assert "demo=1" not in page


def test_a_demo_is_offered_where_there_is_one(open_site, short_sqlite, ask):
    site = open_site(short_sqlite, demo=True)
    assert 'href="/s/short?demo=1"' in ask.get(site.url).text


@pytest.fixture
def reported(short_sqlite, tmp_path):
    folder = tmp_path / "made"
    (folder / "figures").mkdir(parents=True)
    (folder / "report.html").write_text("<title>found</title>", encoding="utf-8")
    (folder / "figures" / "sim0-left.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "manifest.json").write_text("{}", encoding="utf-8")
    with running(WebConfig(short_sqlite, report=str(folder))) as url:
        yield url


def test_the_report_and_its_figures(reported, ask):
    assert 'href="/report"' in ask.get(reported).text
    answer = ask.get(f"{reported}/report", follow_redirects=True)
    assert "found" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert ask.get(f"{reported}/report/figures/sim0-left.svg").text == "<svg/>"


def test_a_run_to_watch_is_offered_where_there_is_one(reported, ask, tmp_path):
    assert "run.html" not in ask.get(reported).text
    assert ask.get(f"{reported}/report/run.html").status_code == 404
    (tmp_path / "made" / "run.html").write_text("<title>a run</title>", encoding="utf-8")
    assert 'href="/report/run.html"' in ask.get(reported).text
    answer = ask.get(f"{reported}/report/run.html")
    assert "a run" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_researchers_get_a_link_to_the_report_where_there_is_one(reported, short_sqlite, ask):
    with running(WebConfig(short_sqlite)) as unreported:
        for url, shown in ((reported, True), (unreported, False)):
            token = ask.post(f"{url}/api/admin/login", json={"password": "correct horse"}).json()["token"]
            page = ask.get(f"{url}/admin", headers={"authorization": f"Bearer {token}"}).text
            assert ('href="/report"' in page) == shown


@pytest.mark.parametrize(
    "path", ["manifest.json", "figures/../manifest.json", "%2e%2e/made/manifest.json", "figures/none.pdf", "figures/"]
)
def test_nothing_else_of_the_folder(reported, ask, path):
    assert ask.get(f"{reported}/report/{path}").status_code == 404


def test_no_report(site, ask):
    answer = ask.get(f"{site.url}/report/")
    assert answer.status_code == 404
    assert "cobandit reproduce" in answer.json()["message"]


@pytest.fixture
def documented(short_sqlite, tmp_path):
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    folder = tmp_path / "pages"
    with running(WebConfig(short_sqlite, docs=str(folder))) as url:
        yield url, folder


def test_the_documentation_once_it_is_built(documented, ask):
    url, folder = documented
    assert "/docs" not in ask.get(url).text
    assert "tools/docs.py" in ask.get(f"{url}/docs/").json()["message"]
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<title>pages</title>", encoding="utf-8")
    (folder / "assets" / "look.css").write_text("p {}", encoding="utf-8")
    assert 'href="/docs/"' in ask.get(url).text
    answer = ask.get(f"{url}/docs", follow_redirects=True)
    assert "pages" in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert ask.get(f"{url}/docs/assets/look.css").text == "p {}"
    for path in ("../secret.txt", "%2e%2e/secret.txt", "assets/../../secret.txt", "assets", "none.html"):
        assert ask.get(f"{url}/docs/{path}").status_code == 404, path


def test_no_documentation(site, ask):
    assert ask.get(f"{site.url}/docs/").status_code == 404


HTML = {"accept": "text/html"}


def test_the_home_page_leads_everywhere(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, load_design("burger"), load_design("casino"), demo=True)
    page = site.client().get("/", headers=HTML).text
    for address in ("/s/burger", "/s/burger?demo=1", "/s/casino", "/s/casino?demo=1", "/admin", "/openapi.json"):
        assert f'href="{address}"' in page
    assert ">reproduce<" in page  # there is no report yet
    schema = site.client().get("/openapi.json").json()
    assert schema["paths"]["/api/admin/studies/{number}/live"]["get"]["tags"] == ["researcher"]
    assert {"HTTPBearer": []} in schema["paths"]["/api/admin/studies"]["get"]["security"]


def test_a_placeholder_consent_leaves_the_demo_and_one_line(
    open_site: Callable[..., Any], sqlite: str, ask: Any
) -> None:
    open_site(sqlite, load_design("burger"), load_design("casino"))
    with running(WebConfig(sqlite, demo=True)) as url:
        page = ask.get(url).text
    assert page.count("placeholder consent") == 1
    assert "Not ready" not in page
    assert 'class="primary" href="/s/burger?demo=1"' in page
    assert 'href="/s/burger"' not in page
    pictures = re.findall(r'/static/[^"]*stills/[^"]+', page)
    assert len(pictures) == 4


def test_an_unlisted_study_is_not_on_the_home_page(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, load_design("burger"), load_design("casino"), unlisted=("burger",))
    page = site.client().get("/", headers=HTML).text
    assert "burger" not in page.lower()
    assert 'href="/s/casino"' in page
    assert site.client().get("/s/burger", headers=HTML).status_code == 200
    assert site.arrive("burger").status_code == 201


def test_studies_of_the_same_title_are_told_apart(open_site: Callable[..., Any], sqlite: str) -> None:
    burger = load_design("burger")
    other = StudyDesign.from_dict(burger.to_dict() | {"name": "pilot", "rounds": 3})
    site = open_site(sqlite, burger, other, load_design("casino"), demo=True)
    page = site.client().get("/", headers=HTML).text
    assert f"{burger.title} (burger)</h3>" in page
    assert f"{burger.title} (pilot)</h3>" in page
    assert "(casino)" not in page
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})
    for address, title in (("", f"{burger.title} (pilot v"), ("/payments", "Payments: pilot v")):
        [number] = [
            study["id"] for study in admin.get("/api/admin/studies").json()["studies"] if study["name"] == "pilot"
        ]
        assert f"<title>{title}" in admin.get(f"/admin/studies/{number}{address}", headers=HTML).text


@pytest.mark.parametrize(
    ("address", "header", "words"),
    [
        ("/s/short?language=de", "en", "Diese Studie braucht JavaScript"),
        ("/s/short", "de-AT,de;q=0.9", "Diese Studie braucht JavaScript"),
        ("/s/short", "en", "This study needs JavaScript"),
    ],
)
def test_without_scripts_the_page_says_so_in_its_language(site, address, header, words):
    page = site.client().get(address, headers={"accept": "text/html", "accept-language": header}).text
    assert words in page.split("<noscript>")[1].split("</noscript>")[0]


def test_a_study_without_participants_shows_a_checklist(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, load_design("burger"))
    admin = site.client(headers={"authorization": f"Bearer {site.login()}"})

    def steps() -> dict[str, str]:
        page = admin.get("/admin", headers=HTML).text
        return dict(re.findall(r'<li class="[^"]+"><strong>(\w+)</strong><span class="unseen">: ([^<]+)<', page))

    # The site of the tests takes consent elsewhere, so the placeholder text is no obstacle.
    assert steps() == {"Consent": "done", "Plan": "to do", "Rehearsal": "to do", "Open": "done"}
    assert "badge" not in admin.get("/admin", headers=HTML).text  # the checklist says everything
    admin.post("/api/admin/studies/1/close").raise_for_status()
    assert steps()["Open"] == "to do"
    admin.post("/api/admin/studies/1/open").raise_for_status()
    assert site.arrive("burger").status_code == 201
    assert steps() == {}
    page = admin.get("/admin", headers=HTML).text
    assert '<div class="tile active">' in page
    assert '<span class="badge open">Open</span>' in page


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "25 games of 1,000 rounds"),
        ("de", "25 Spiele zu je 1.000 Runden"),
        ("fr", "25 manches de 1\N{NARROW NO-BREAK SPACE}000 tours"),
        ("es", "25 partidas de 1000 rondas"),
    ],
)
def test_numbers_are_written_as_in_the_language(
    open_site: Callable[..., Any], sqlite: str, language: str, words: str
) -> None:
    site = open_site(sqlite, load_design("casino"))
    assert words in site.client().get("/", params={"language": language}, headers=HTML).text


def test_a_study_for_pairs_counts_people_apart_from_ais(open_site: Callable[..., Any], sqlite: str) -> None:
    site = open_site(sqlite, load_design("burger-pair"))
    page = site.client().get("/", params={"language": "en"}, headers=HTML).text
    assert "For teams of 2 people. 2 AI partners, 20 rounds with each." in page
