"""A run to watch, in a real browser, with the network cut off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import cobandit as cb
from tests.browser.accessibility import violations

expect = pytest.importorskip("playwright.sync_api").expect
SIZES = [(1366, 625, "light"), (390, 664, "dark")]


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    problem = cb.Problem.bernoulli([[0.8, 0.4], [0.2, 0.6]], observability=[1.0, 0.5])
    result = cb.simulate(problem, cb.Team.of("partner-aware-ucb"), horizon=120, runs=4, seed=3, engine="reference")
    return result.watch(1, tmp_path_factory.mktemp("watch") / "run.html")


def words(page: Any) -> Any:
    return page.locator("#words")


def test_keys_buttons_and_the_slider_go_through_the_rounds(visit: Any, watched: Path, strict: Any) -> None:
    opened = visit(watched)
    page = opened.page
    expect(words(page)).to_contain_text("Round 1 of 120")
    for key, round_ in (("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("End", 120), ("Home", 1)):
        page.keyboard.press(key)
        expect(words(page)).to_contain_text(f"Round {round_} of 120")
    page.get_by_label("One round on").click()
    expect(words(page)).to_contain_text("Round 2 of 120")
    page.locator("#round").fill("57")
    expect(words(page)).to_contain_text("Round 57 of 120")
    page.locator("#strips svg").click(position={"x": 900, "y": 10})
    expect(words(page)).not_to_contain_text("Round 57 of 120")
    expect(page.locator("#small li")).to_have_count(4)
    expect(page.locator("#truth .cell.played")).to_have_count(1)
    assert opened.requests == [watched.as_uri()]
    assert opened.complaints == []
    strict(page)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_it_plays_to_the_end_and_again(visit: Any, watched: Path, motion: str) -> None:
    page = visit(watched, reduced_motion=motion).page
    page.locator("#speed").select_option("120")
    page.locator("h1").click()  # the select would take the key
    page.keyboard.press(" ")
    expect(page.locator("#play")).to_have_text("Pause")
    expect(words(page)).to_contain_text("Round 120 of 120")
    expect(page.locator("#play")).to_have_text("Play")
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_text("Pause")
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_text("Play")


@pytest.mark.parametrize(("width", "height", "scheme"), SIZES)
def test_it_fits_and_can_be_used_by_all(
    visit: Any, watched: Path, fits: Any, width: int, height: int, scheme: str
) -> None:
    page = visit(watched, viewport={"width": width, "height": height}, color_scheme=scheme).page
    page.keyboard.press("Shift+ArrowRight")
    fits(page)
    assert violations(page) == []
