"""Pages of a design on the participants' side and in the editor, on two screens, light and dark."""

from __future__ import annotations

from typing import Any

import pytest

from cobandit.web.storage.answers import answers_of
from cobandit.web.storage.participants import participant_by_token
from tests.browser.accessibility import violations
from tests.browser.participants import at, expect, go_on, small
from tests.browser.site import Site

WIDER = "() => document.documentElement.scrollWidth - innerWidth"
SIZES = ((1366, 625), (390, 664))
TEXT = """
You and an AI choose **treatments** together.

## What you see

- You see *what helps*.
- The AI sees it less often: ask <study@example.org>.

> Take your time.
"""
PAGES = [
    {"id": "welcome", "when": "consented", "title": "Welcome to the clinic", "text": TEXT},
    {"id": "pause", "when": "before-set", "set": 2, "title": "The second ward", "text": "The patients are new."},
]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a server with a study that has pages."""
    words = {"de": {"pages.welcome.title": "Willkommen", "pages.welcome.text": "Ein *Text*."}}
    design = small("burger", "clinic", rounds=2, pages=PAGES, languages=["en", "de"], translations=words)
    site = Site(tmp_path_factory.mktemp("clinic"), design)
    yield site
    site.close()


@pytest.mark.parametrize("dark", [False, True])
def test_pages_are_read_and_stored(clinic, new_context, dark):
    token = clinic.someone("clinic", ready=False)
    page = new_context(color_scheme="dark" if dark else "light").new_page()
    page.goto(f"{clinic.address}/p/{token}")
    at(page, "page-once-welcome")
    expect(page.locator("h1")).to_have_text("Welcome to the clinic")
    expect(page.locator("main h2")).to_have_text("What you see")
    expect(page.locator("main li em")).to_have_text("what helps")
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(WIDER) <= 0, width
        assert violations(page) == [], width
    go_on(page)
    at(page, "demographics")
    with clinic.database.read() as connection:
        person = participant_by_token(connection, token)
        assert person is not None
        (given,) = [given for given in answers_of(connection, person.id) if given.step == "page-once-welcome"]
    assert given.values == {}
    assert given.ms is not None

    clinic.go_on(token, "clinic", "page-2-pause")
    page.reload()
    at(page, "page-2-pause")
    go_on(page)
    at(page, "partner-2")


def test_a_page_in_another_language(clinic, new_context):
    page = new_context().new_page()
    page.goto(f"{clinic.address}/p/{clinic.someone('clinic', ready=False, language='de')}")
    at(page, "page-once-welcome")
    expect(page.locator("h1")).to_have_text("Willkommen")
    expect(page.locator("main p em")).to_have_text("Text")
