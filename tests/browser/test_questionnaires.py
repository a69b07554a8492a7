"""Questionnaires on the participants' pages: every kind of item, by keyboard and by touch, on two screens."""

from __future__ import annotations

from typing import Any

import pytest

from cobandit.web.storage.answers import answers_of
from cobandit.web.storage.participants import participant_by_token
from tests.browser.accessibility import violations
from tests.browser.participants import at, expect, go_on
from tests.browser.site import Site
from tests.studies.questionnaires import asking_design

WIDER = "() => document.documentElement.scrollWidth - innerWidth"
STEPS = tuple(f"questionnaire-{place}" for place in ("before-mood", "1-partner", "1-pause", "end-last"))
SIZES = ((1366, 625), (390, 664))
# Scales whose numbers are not in one row: their ends would be below other numbers than the first and the last.
ROWS = """() => [...document.querySelectorAll(".likert .options")]
  .map((scale) => new Set([...scale.children].map((option) => option.getBoundingClientRect().top)).size)
  .filter((rows) => rows > 1)"""


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a server with a study that asks every kind of item."""
    site = Site(tmp_path_factory.mktemp("asking"), asking_design(completion_code="DONE4242"))
    yield site
    site.close()


def opened(asking: Site, new_context: Any, token: str, **options: Any) -> Any:
    page = new_context(**options).new_page()
    page.goto(f"{asking.address}/p/{token}")
    return page


def stored(asking: Site, token: str, step: str) -> Any:
    """Return the answers to a step as they are in the database."""
    with asking.database.read() as connection:
        person = participant_by_token(connection, token)
        assert person is not None
        return next(given.values for given in answers_of(connection, person.id) if given.step == step)


@pytest.mark.parametrize("dark", [False, True])
def test_every_kind_is_accessible_and_fits(asking, new_context, dark):
    token = asking.someone("asking", ready=False)
    scheme = "dark" if dark else "light"
    for step in (
        "questionnaire-before-mood",
        "questionnaire-1-partner",
        "questionnaire-1-pause",
        "questionnaire-end-last",
    ):
        asking.go_on(token, "asking", step)
        page = opened(asking, new_context, token, color_scheme=scheme)
        at(page, step)
        if step.endswith("last"):
            page.get_by_label("Yes").check()
            expect(page.get_by_label("Which plan?")).to_be_visible()
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            assert page.evaluate(WIDER) <= 0, (step, width)
            assert violations(page) == [], (step, width)
            assert page.evaluate(ROWS) == [], (step, width)


def test_every_kind_by_keyboard(asking, new_context):
    token = asking.someone("asking", ready=False)
    asking.go_on(token, "asking", "questionnaire-1-pause")
    page = opened(asking, new_context, token, viewport={"width": 1366, "height": 625})
    at(page, "questionnaire-1-pause")
    go_on(page)
    expect(page.locator("#tired-problem")).to_have_text("Please move the slider.")
    slider = page.get_by_label("How tired are you?")
    expect(slider).to_be_focused()
    expect(page.locator("output")).to_have_text("No answer yet")
    page.keyboard.press("Space")
    expect(page.locator("output")).to_have_text("50")
    page.keyboard.press("ArrowRight")
    go_on(page)
    at(page, "partner-2")
    assert stored(asking, token, "questionnaire-1-pause") == {"tired": 51}

    asking.go_on(token, "asking", "questionnaire-end-last")
    page.reload()
    at(page, "questionnaire-end-last")
    page.get_by_label("How many hours").focus()
    page.keyboard.type("2,5")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # No
    expect(page.get_by_label("Which plan?")).to_be_hidden()
    page.keyboard.press("ArrowDown")  # Yes
    expect(page.get_by_label("Which plan?")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.type("Both first")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")  # The counts
    for _ in range(4):  # two more choices, then the second button of the ranking
        page.keyboard.press("Tab")
    for _ in range(2):
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
    go_on(page)
    expect(page.locator("#order-problem")).to_have_text("Please put all answers in order.")
    page.keyboard.press("Enter")
    page.reload()  # a draft of the answers is kept
    at(page, "questionnaire-end-last")
    expect(page.locator("#order-0 .place")).to_have_text("3")
    go_on(page)
    at(page, "thanks")
    assert stored(asking, token, "questionnaire-end-last") == {
        "hours": 2.5,
        "plan": 1,
        "which": "Both first",
        "helped": [0],
        "order": [1, 2, 0],
    }


def test_every_kind_by_touch(asking, new_context):
    token = asking.someone("asking", ready=False)
    asking.go_on(token, "asking", "questionnaire-1-partner")
    page = opened(asking, new_context, token, viewport={"width": 390, "height": 664}, has_touch=True)
    at(page, "questionnaire-1-partner")
    for id in ("reliable", "doubt", "start", "finish"):
        page.locator(f"#field-{id} label").nth(2).tap()
    page.locator("main .primary").tap()
    at(page, "questionnaire-1-pause")
    assert stored(asking, token, "questionnaire-1-partner") == dict.fromkeys(
        ("reliable", "doubt", "start", "finish"), 3
    )
    page.get_by_label("How tired are you?").tap()
    page.locator("main .primary").tap()
    at(page, "partner-2")

    asking.go_on(token, "asking", "questionnaire-end-last")
    page.reload()
    at(page, "questionnaire-end-last")
    page.get_by_label("How many hours").fill("169")
    page.get_by_text("Yes", exact=True).tap()
    page.get_by_label("Which plan?").fill("To be hidden")
    page.get_by_text("No", exact=True).tap()
    for place in (2, 1, 0):
        page.locator(f"#order-{place}").tap()
    page.locator("main .primary").tap()
    expect(page.locator("#hours-problem")).to_have_text("Please enter a number from 0 to 168.")
    page.get_by_label("How many hours").fill("0")
    page.locator("main .primary").tap()
    at(page, "thanks")
    assert stored(asking, token, "questionnaire-end-last") == {
        "hours": 0.0,
        "plan": 0,
        "which": None,
        "helped": [],
        "order": [2, 1, 0],
    }
