"""The button to withdraw: on every page after the consent, asked once, by keyboard, on a laptop and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.accessibility import violations
from tests.browser.participants import expect, small
from tests.browser.site import Site

SIZES = ({"width": 1366, "height": 625}, {"width": 390, "height": 664})
LEAVE = small(
    "burger",
    "leave",
    rounds=3,
    payment={"currency": "EUR", "fixed": "4"},
    outcomes=[{"outcome": "withdrew", "code": "LEFT4242", "pay": "0.50"}],
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server with a study that pays people who withdraw."""
    site = Site(tmp_path_factory.mktemp("leave"), LEAVE)
    yield site
    site.close()


@pytest.mark.parametrize("size", SIZES, ids=["laptop", "phone"])
def test_withdraw_by_keyboard(place: Site, new_context: Callable[..., Any], size: dict[str, int]) -> None:
    token = place.someone("leave")
    page = new_context(viewport=size).new_page()
    page.goto(f"{place.address}/p/{token}")
    expect(page.locator("main")).to_have_attribute("data-step", "episode-0")
    button = page.locator("#withdraw")
    expect(button).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    button.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("1")  # the task does not hear keys while the dialog is open
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()
    assert place.state(token)["episode"]["played"] == 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.locator("#withdraw-now")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_have_attribute("data-step", "thanks")
    expect(page.locator("h1")).to_have_text("You have withdrawn")
    expect(page.locator("main")).to_contain_text("Your data have been deleted.")
    expect(page.locator("main")).to_contain_text("0.50 EUR")
    expect(page.locator("#code")).to_have_text("LEFT4242")
    expect(button).to_have_count(0)
    assert violations(page) == []
    page.reload()
    expect(page.locator("h1")).to_have_text("You have withdrawn")


def test_the_button_is_on_every_page_after_the_consent(place: Site, new_context: Callable[..., Any]) -> None:
    token = place.someone("leave", ready=False, demo=True)
    page = new_context(viewport=SIZES[1]).new_page()
    page.goto(f"{place.address}/s/leave")
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("#withdraw")).to_have_count(0)
    for step in ("demographics", "instructions", "quiz", "episode-0", "survey-1", "thanks"):
        place.go_on(token, "leave", step)
        page.goto(f"{place.address}/p/{token}")
        expect(page.locator("main")).to_have_attribute("data-step", step)
        title = page.locator(".study").bounding_box()["width"]
        assert title > 140 or step == "episode-0"  # words stay whole next to badge, language and button
        expect(page.locator("#withdraw")).to_be_visible()


def test_a_page_on_another_device_learns_of_it(place: Site, new_context: Callable[..., Any]) -> None:
    token = place.someone("leave")
    page = new_context(viewport=SIZES[0]).new_page()
    page.goto(f"{place.address}/p/{token}")
    expect(page.locator("main")).to_have_attribute("data-step", "episode-0")
    place.post(f"participants/{token}/withdrawal", None)
    page.locator(".choice").first.click()
    expect(page.locator("h1")).to_have_text("You have withdrawn")
