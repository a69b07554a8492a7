"""The pictures beside the instructions: they play once, show no outcome, and words say the same."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.accessibility import violations
from tests.browser.participants import Check, Invite, at, expect
from tests.browser.site import Site
from tests.parameters import quick

RUNNING = "() => document.getAnimations().filter((animation) => animation.playState === 'running').length"
SCENES = {
    "shop": ".example .shop",
    "den": ".example .example-floor",
    "tea": ".example .cards",
    "sundae": ".example .cards",
}


def reading(guest: Invite, site: Site, study: str, **options: Any) -> Any:
    """Return a page with the instructions of a study."""
    token = site.arrive(study)
    site.go_on(token, study, "instructions")
    return at(guest(**options).tab(f"/p/{token}"), "instructions")


@pytest.mark.parametrize("study", quick(SCENES, ["shop", "den", "tea"]))
def test_a_round_without_motion_stands_still_and_has_words(guest: Invite, site: Site, fits: Check, study: str) -> None:
    page = reading(guest, site, study)
    expect(page.locator(SCENES[study])).to_be_visible()
    words = page.locator(".example figcaption")
    first = {"shop": "Patty first", "den": "Upper row", "tea": "Black", "sundae": "Vanilla"}
    expect(words).to_contain_text(f"You: {first[study]}.")
    expect(page.get_by_role("button", name="Play the example again")).to_be_hidden()
    assert page.evaluate(RUNNING) == 0
    for width, height in ((1366, 625), (390, 664)):
        page.set_viewport_size({"width": width, "height": height})
        fits(page, f"{width} px")
        assert violations(page) == []


@pytest.mark.parametrize("study", quick(SCENES, ["shop", "den"]))
def test_a_round_plays_once_and_again_when_asked(guest: Invite, site: Site, study: str) -> None:
    page = reading(guest, site, study, reduced_motion="no-preference", viewport={"width": 1366, "height": 800})
    again = page.get_by_role("button", name="Play the example again")
    expect(page.locator(".example")).to_have_attribute("data-played", "true")
    expect(again).to_be_visible()
    assert page.evaluate(RUNNING) == 0, "it ends by itself"
    again.click()
    expect(again).to_be_hidden()
    expect(again).to_be_visible()


def test_every_burger_is_drawn_and_described(guest: Invite, site: Site) -> None:
    page = reading(guest, site, "shop")
    burgers = page.locator(".all-burgers li")
    expect(burgers).to_have_count(4)
    items = [burger.locator("svg").get_attribute("data-items") for burger in burgers.all()]
    assert len(set(items)) == 4
    expect(
        page.get_by_role("img", name="Burger, from bottom to top: Patty, Tomato, Cheese, Lettuce").last
    ).to_be_visible()
    expect(burgers.last).to_contain_text("Cheese first")


def test_no_outcome_favours_a_choice(guest: Invite, site: Site) -> None:
    page = reading(guest, site, "shop")
    expect(page.locator(".example .mood.wait.shown")).to_have_count(1)
    expect(page.locator(".example .mood:is(.good, .bad).shown")).to_have_count(0)
    page = reading(guest, site, "den")
    expect(page.locator(".example .machine")).to_have_count(4)
    expect(page.locator(".example .machine.latest")).to_have_count(1)
    expect(page.locator(".example .machine[data-outcome]")).to_have_count(0)
