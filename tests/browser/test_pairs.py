"""Two people in two browsers at the same time: lobby, rounds together, a reload, and a partner who leaves."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from cobandit.base.records import Table
from cobandit.studies import StudyDesign, load_design, verify_study
from cobandit.web import WebConfig
from cobandit.web.serving import prepare, running
from cobandit.web.storage.database import Database
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.clients import http_client
from tests.team_designs import team_design

OVERLAPPING = """() => [...document.querySelectorAll(".counts td b")].filter((number) => {
  const cell = number.closest("td").getBoundingClientRect();
  const box = number.getBoundingClientRect();
  return box.right > cell.right + 1 || box.left < cell.left - 1;
}).length"""
SIZES = ({"width": 1366, "height": 625}, {"width": 390, "height": 664})
PAIR = load_design("burger-pair")
HUMAN = replace(
    PAIR,
    conditions=PAIR.conditions[:1],
    rounds=3,
    demographics=(),
    quiz=(),
    attention=(),
    languages=("en",),
    translations=Table(),
)

FIVE = StudyDesign.from_dict(
    team_design(2, 3, rounds=3).to_dict() | {"conditions": team_design().to_dict()["conditions"][:1]}
)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A server with pairs who play together at once."""
    database = f"sqlite:///{tmp_path / 'studies.sqlite'}"
    prepare(database, [HUMAN, FIVE], password="correct horse", seed=4)
    with running(WebConfig(database=database, consent_elsewhere=True)) as url:
        yield url


def arrive(server: str, study: str = HUMAN.name) -> str:
    """Somebody who has agreed and read the instructions; the address of their page."""
    with http_client(server) as client:
        body = {"key": uuid.uuid4().hex, "consent_version": "1"}
        token = client.post(f"/api/studies/{study}/participants", json=body).json()["token"]
        client.post(f"/api/participants/{token}/answers/instructions", json={"answers": {}}).raise_for_status()
    return f"{server}/p/{token}"


@pytest.fixture
def pair(server: str, new_context: Callable[..., Any]) -> list[Any]:
    """Two pages in the lobby of one study, each in a browser of its own."""
    pages = []
    for size in SIZES:
        page = new_context(viewport=size).new_page()
        page.complaints = []
        page.on("pageerror", lambda error, page=page: page.complaints.append(str(error)))
        page.goto(arrive(server))
        pages.append(page)
    return pages


def begin(pages: list[Any]) -> None:
    """Go from the lobby to the first round; on a busy machine a page may ask meanwhile whether somebody is there."""
    for page in pages:
        idle = page.locator("dialog[aria-labelledby=idle-heading]")
        page.add_locator_handler(idle, lambda dialog: dialog.get_by_role("button").click())
    for page in pages:
        page.get_by_role("button", name="Begin with").click()
    for page in pages:
        page.locator(".choices-row button").first.wait_for()


def choose(page: Any, arm: int) -> None:
    page.locator(f".choices-row button[data-arm='{arm}']").click()


def counted(page: Any) -> int:
    """How many outcomes the page has counted, satisfied customers and others."""
    return sum(
        int(word) for line in page.locator(".totals").all_inner_texts() for word in line.split() if word.isdigit()
    )


def shown(page: Any, played: int) -> None:
    page.locator(f"main[data-shown='{played}']").wait_for()


def test_two_browsers_play_at_the_same_time(
    server: str, pair: list[Any], fits: Callable[..., None], tmp_path: Path
) -> None:
    first, second = pair
    begin(pair)
    for page in pair:
        fits(page)
    choose(first, 0)
    first.get_by_text("Your partner has not chosen yet").wait_for()
    assert second.locator(".notice").inner_text() == ""
    first.reload()  # the choice is still there
    first.get_by_text("Your partner has not chosen yet").wait_for()
    choose(second, 1)
    for page in pair:
        shown(page, 1)
    for t in (2, 3):
        for page in pair:
            choose(page, 1)
        for page in pair:
            shown(page, t)
    for page in pair:
        page.get_by_role("button", name="Continue").click()
        page.locator("main[data-step='survey-1']").wait_for()
        assert page.complaints == []
    database = Database(f"sqlite:///{tmp_path / 'studies.sqlite'}")
    with database.read() as connection:
        study = find_study(connection, "burger-pair")
        assert study is not None
        data = study_data(connection, study)
    database.close()
    assert verify_study(data) == []
    assert [len(log) for person in data.participants for log in person.episodes.values()] == [3, 3]


def test_a_page_that_was_away_shows_the_rounds_it_missed(pair: list[Any], tmp_path: Path) -> None:
    """An AI chooses twice for the first person; then the page gets both rounds at once, and the person plays on."""
    first, second = pair
    cut = "**/api/participants/*/*"
    first.route("**/stream*", lambda route: route.abort())
    begin(pair)
    first.route(cut, lambda route: route.abort())
    database = Database(f"sqlite:///{tmp_path / 'studies.sqlite'}")
    for t in (1, 2):
        choose(second, 1)
        second.get_by_text("Your partner has not chosen yet").wait_for()
        with database.write() as connection:
            connection.execute(text("UPDATE episodes SET deadline = 1, round_at = round_at - 900000"))
        shown(second, t)
    database.close()
    first.unroute(cut)
    shown(first, 2)
    for page in pair:
        choose(page, 0)
    for page in pair:
        shown(page, 3)
    assert counted(first) == counted(second) == 3
    assert first.complaints == []


def test_outcomes_of_five_seats_can_be_read(
    server: str, new_context: Callable[..., Any], fits: Callable[..., None]
) -> None:
    """Two people and three AIs: 16 combinations of the others' arms."""
    pages = []
    for size in SIZES:
        page = new_context(viewport=size).new_page()
        page.goto(arrive(server, FIVE.name))
        pages.append(page)
    begin(pages)
    for page in pages:
        choose(page, 1)
    for page in pages:
        shown(page, 1)
        fits(page)
        assert page.locator(".counts tbody td").count() == 32
        assert page.evaluate(OVERLAPPING) == 0
        assert page.locator(".side .avatar").count() == 0  # they would show AIs as people


def test_the_lobby_says_how_many_are_there(
    server: str, new_context: Callable[..., Any], fits: Callable[..., None]
) -> None:
    page = new_context(viewport=SIZES[1]).new_page()
    page.goto(arrive(server))
    page.locator(".lobby .figure", has_text="1 of 2 are here").wait_for()
    assert page.get_by_role("heading", name="Waiting for your partner").is_visible()
    fits(page)
