"""Error pages say what to do and link to nothing but the visitor's own study; programs still get JSON."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from cobandit.web.refusals import Refused

HTML = {"accept": "text/html,application/xhtml+xml"}
LONG = f"/s/<script>alert(1)</script>{'y' * 300}"
FOR_PROGRAMS = re.compile(
    r"valid (integer|string)|Input should|parse|Field required|Method Not|\{\"|Traceback", re.IGNORECASE
)


def read(answer: httpx.Response, status: int, *links: str) -> str:
    """Check a page of this status with these links and nothing meant for programs, and return its text."""
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert re.findall(r'<a [^>]*href="([^"]*)"', answer.text) == list(links)
    text = re.sub(r"<[^>]+>", " ", answer.text)
    assert not FOR_PROGRAMS.search(text), text
    return text


@pytest.mark.parametrize(
    "address",
    ["/p/", "/p/short", f"/p/{'x' * 32}", "/p/%00", "/p/a/b", "/s/", "/s/Shorts", "/S/short", "/s/%F0%9F%8D%94", LONG],
)
@pytest.mark.parametrize(("language", "words"), [("en", "Please check that"), ("de-AT", "Bitte prüfen Sie")])
def test_a_mistyped_link(shared_site: Any, address: str, language: str, words: str) -> None:
    answer = shared_site.client().get(address, headers=HTML | {"accept-language": language})
    text = read(answer, 404)
    assert words in text
    assert "alert" not in text


def test_a_wrong_method(shared_site: Any) -> None:
    read(shared_site.client().post("/s/short", headers=HTML), 405, "/s/short")


def test_a_study_that_takes_nobody_links_to_itself_alone(site: Any) -> None:
    site.change("UPDATE studies SET status = 'closed'")
    read(site.client().get("/s/short", headers=HTML), 403, "/s/short")


def test_pages_of_researchers_lead_home(site: Any) -> None:
    read(site.client().get("/report/nothing", headers=HTML), 404, "/")


@pytest.mark.parametrize("address", ["/admin/studies/one", "/admin/studies/99", "/admin/studies/1/participants/nobody"])
def test_a_mistyped_address_of_the_researcher(site: Any, browser_of: httpx.Client, address: str) -> None:
    status = 422 if address.endswith("one") else 404
    assert "To the studies" in read(browser_of.get(address, headers=HTML), status, "/admin")
    assert browser_of.get(f"/api{address}/live").json()["error"] in ("invalid", "not-found")


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (RuntimeError("secret"), 500, "Etwas ist schiefgegangen"),
        (Refused(429, "too-many", "Too many.", retry_after=60), 429, "Einen Moment"),
        (Refused(503, "busy", "Try again."), 503, "Einen Moment"),
        (Refused(500, "damaged", "The database is damaged."), 500, "Etwas ist schiefgegangen"),
    ],
)
def test_trouble(shared_site: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, words: str) -> None:
    async def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr("cobandit.web.services.participants.Participants.study", fail)
    client = shared_site.client()
    text = read(client.get("/s/short", headers=HTML | {"accept-language": "de"}), status, "/s/short")
    assert words in text
    assert "secret" not in text
    assert client.get("/api/studies/short", headers=HTML).json()["error"]
