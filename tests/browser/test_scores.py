"""Studies whose rewards are points, or known later: what the pages show of an outcome, on two screens."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser.accessibility import violations
from tests.browser.participants import at, expect, small
from tests.browser.site import Site

SIZES = ((1366, 625), (390, 664))
WIDER = "() => document.documentElement.scrollWidth - innerWidth"
DESIGN = small(
    "three-by-three",
    "points",
    rounds=4,
    episodes=2,
    languages=["en"],
    translations={},
    observation="missed-known",
    means={"low": 0.0, "high": 10.0, "drift": "random-walk", "step": 0.5},
    rewards={"kind": "points", "highest": 10},
)
LATE = small(
    "three-by-three",
    "late",
    rounds=4,
    episodes=1,
    partners=[],
    practice=None,
    languages=["en"],
    translations={},
    delay=2,
)
HIDDEN = small(
    "three-by-three",
    "secret",
    rounds=3,
    conditions=[{"name": "mucb", "agent": "mucb"}],
    actions="hidden",
    partners=[],
    languages=["en"],
    translations={},
)


@pytest.fixture(scope="module")
def points(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a server with a study in points."""
    site = Site(tmp_path_factory.mktemp("points"), DESIGN, LATE, HIDDEN)
    yield site
    site.close()


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_an_episode_in_points(points, new_context, width, height):
    token = points.someone("points", ready=False)
    points.go_on(token, "points", "instructions")
    page = new_context(viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    page.goto(f"{points.address}/p/{token}")
    expect(page.locator("figure.example figcaption")).to_contain_text("how many points you earn together")
    first = "episode-0"
    points.go_on(token, "points", first)
    page.reload()
    at(page, first)
    expect(page.locator(".totals")).to_have_text("Points so far: 0")
    for t in range(1, DESIGN.rounds):
        page.locator(".choice").nth(t % 3).click()
        expect(page.locator(".news")).to_have_attribute("data-t", str(t))
        view = points.state(token)["episode"]
        score = view["latest"]["score"]
        expect(page.locator(".news strong")).to_contain_text(f"{score:g} point")
        expect(page.locator(".scene .points")).to_have_text(f"{score:g}")
        expect(page.locator(".totals")).to_have_text(f"Points so far: {view['score']:g}")
        assert page.evaluate(WIDER) <= 0
    played = [cell for cell in view["counts"] if cell["good"]]
    expect(page.locator("td .scored b", has_text="\u00d7")).to_have_count(len(played))
    expect(page.locator(".face")).to_have_count(0)
    assert violations(page) == []
    page.reload()
    expect(page.locator(".totals")).to_have_text(f"Points so far: {view['score']:g}")
    page.locator(".choice").first.click()
    page.get_by_role("button", name="Continue").click()
    total = points.state(token)["rest"]["score"]
    expect(page.locator(".figure")).to_have_text(f"{total:g}")
    expect(page.locator(".results")).to_contain_text(f"{total:g} points in 4 rounds.")
    assert violations(page) == []


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_an_episode_whose_outcomes_come_later(points, new_context, width, height):
    token = points.someone("late", ready=False)
    points.go_on(token, "late", "episode-0")
    page = new_context(viewport={"width": width, "height": height}, reduced_motion="reduce").new_page()
    page.goto(f"{points.address}/p/{token}")
    at(page, "episode-0")
    for t in (1, 2):
        page.locator(".choice").nth(t).click()
        expect(page.locator(".number")).to_contain_text(f"{t} of 4")
        expect(page.locator(".news")).to_have_text("Outcomes appear 2 rounds later.")
        assert sum(cell["good"] + cell["bad"] for cell in points.state(token)["episode"]["counts"]) == 0
    page.reload()
    expect(page.locator(".news")).to_have_text("Outcomes appear 2 rounds later.")
    page.locator(".choice").first.click()
    expect(page.locator(".news")).to_have_attribute("data-t", "1")
    assert page.evaluate(WIDER) <= 0
    assert violations(page) == []
    page.locator(".choice").first.click()
    expect(page.locator(".news")).to_have_attribute("data-t", "4")
    view = points.state(token)["episode"] if points.state(token)["step"]["kind"] == "episode" else None
    assert view is None or view["good"] + view["bad"] == 4
    shown = page.locator("td .tally b").all_inner_texts()
    assert sum(map(int, shown)) == 4


def test_choices_of_others_that_are_hidden(points, new_context):
    token = points.someone("secret", ready=False)
    points.go_on(token, "secret", "instructions")
    page = new_context(viewport={"width": 390, "height": 664}, reduced_motion="reduce").new_page()
    page.goto(f"{points.address}/p/{token}")
    others = HIDDEN.task.arms[1]
    example = page.locator("figure.example").inner_text()
    assert not [label for label in others if label in example]
    points.go_on(token, "secret", "episode-0")
    page.reload()
    at(page, "episode-0")
    page.locator(".choice").nth(1).click()
    expect(page.locator(".news")).to_have_attribute("data-t", "1")
    expect(page.locator(".news")).to_contain_text(f"{HIDDEN.task.arms[0][1]}.")
    expect(page.locator("table.counts thead th").nth(1)).to_have_text("Outcomes")
    expect(page.locator("table.counts tbody tr")).to_have_count(3)
    expect(page.locator("td.latest")).to_have_count(1)
    text = page.locator("main").inner_text()
    assert not [label for label in others if label in text]
    assert violations(page) == []
