"""The shipped designs between subjects, played to the end in a real browser, at a desk and on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cobandit.studies import StudyDesign, load_design, verify_study
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.browser.participants import at, choose, expect, fill, go_on, pass_quiz
from tests.browser.site import Site

SIZES = [(1366, 625), (390, 664)]


def shorter(name: str, **changes: Any) -> StudyDesign:
    return StudyDesign.from_dict(load_design(name).to_dict() | {"completion_code": "DONE4242"} | changes)


MIXED = shorter("burger-mixed", rounds=3)
PRACTICE = {"agent": "very-naive-ucb", "rounds": 6, "episodes": 1}
BETWEEN = shorter("casino-between", rounds=5, episodes=2, practice=PRACTICE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    server = Site(tmp_path_factory.mktemp("cells"), MIXED, BETWEEN)
    yield server
    server.close()


@pytest.fixture(params=SIZES, ids=["desk", "phone"])
def page(request: pytest.FixtureRequest, new_context: Callable[..., Any]) -> Iterator[Any]:
    width, height = request.param
    complaints: list[str] = []
    tab = new_context(viewport={"width": width, "height": height}, locale="en-GB").new_page()
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    yield tab
    assert complaints == []


def begin(page: Any, site: Site, study: str, quiz: tuple[int, ...]) -> None:
    """Go from the open link to the end of the quiz."""
    page.goto(f"{site.address}/s/{study}")
    pass_quiz(page, *quiz)


def stored(site: Site, study: str) -> Any:
    with site.database.read() as connection:
        known = find_study(connection, study)
        assert known is not None
        return study_data(connection, known)


def test_the_mixed_burger_study(page: Any, site: Site, fits: Callable[..., None]) -> None:
    begin(page, site, "burger-mixed", (0, 1, 1, 2))
    for part in (1, 2):
        at(page, f"partner-{part}")
        go_on(page)
        at(page, f"episode-{part - 1}")
        expect(page.locator("h1")).to_have_text(f"Part {part} of 2")
        fits(page, "in a round")
        choose(page, 0)
        if part == 1:
            page.reload()  # the assignment stays
            at(page, "episode-0")
        choose(page, 1)
        choose(page, 1)
        page.locator(".panel .primary").click()
        at(page, f"survey-{part}")
        fits(page, "in the survey")
        fill(page, 1)
        go_on(page)
    at(page, "thanks")
    assert page.locator("#code").inner_text() == "DONE4242"
    data = stored(site, "burger-mixed")
    assert verify_study(data) == []
    latest = data.participants[-1]
    conditions = [episode.condition for episode in latest.plan(MIXED).episodes]
    assert MIXED.same_people(*conditions)
    assert len(set(conditions)) == 2


def test_the_casino_between_subjects(page: Any, site: Site, fits: Callable[..., None]) -> None:
    begin(page, site, "casino-between", (0, 1, 2))

    def play(episode: int, then: str) -> None:
        at(page, f"episode-{episode}")
        fits(page, "in a casino")
        page.keyboard.down("ArrowUp")
        at(page, then)
        page.keyboard.up("ArrowUp")

    play(0, "rest-1")
    go_on(page)
    at(page, "partner-1")
    fits(page, "with the partner")
    go_on(page)
    play(1, "rest-2")
    go_on(page)
    play(2, "survey-1")
    fill(page, 1)
    go_on(page)
    at(page, "thanks")
    assert page.locator("#code").inner_text() == "DONE4242"
    data = stored(site, "casino-between")
    assert verify_study(data) == []
    assert len(data.participants[-1].plan(BETWEEN).conditions) == 1


def test_two_people_are_in_two_cells(site: Site) -> None:
    tokens = [site.someone("burger-mixed", ready=False) for _ in range(2)]
    names = {site.name(token) for token in tokens}
    people = [person for person in stored(site, "burger-mixed").participants if person.id in names]
    assert {MIXED.cell_of(person.order) for person in people} == {"low", "high"}
