"""Two participants and a researcher at the same time: the monitor, a message, replacing a member, ending a team."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cobandit.studies import load_design, verify_study
from cobandit.web.storage.studies import find_study
from cobandit.web.storage.study_data import study_data
from tests.browser.accessibility import violations
from tests.browser.site import PASSWORD, Site
from tests.browser.test_pairs import HUMAN, SIZES, begin, choose, shown

expect = pytest.importorskip("playwright.sync_api").expect

LONE = replace(load_design("three-by-three"), name="lone", rounds=4, demographics=(), quiz=(), attention=())
MESSAGES = {
    "en": ("Message from the research team", "Close"),
    "de": ("Nachricht vom Studienteam", "Schließen"),
    "es": ("Mensaje del equipo de investigación", "Cerrar"),
    "fr": ("Message de l\u2019équipe de recherche", "Fermer"),
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Site]:
    with contextlib.closing(Site(tmp_path, HUMAN, LONE, seed=4)) as site:
        yield site


@pytest.fixture
def visit(new_context: Callable[..., Any]) -> Callable[..., Any]:
    """Open a page in a browser of its own, and note what it complains of."""

    def open_page(address: str, **options: Any) -> Any:
        page = new_context(**options).new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(address)
        return page

    return open_page


@pytest.fixture
def researcher(server: Site, visit: Callable[..., Any]) -> Any:
    page = visit(f"{server.address}/admin/studies/1", viewport={"width": 1366, "height": 625})
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/admin/studies/1")
    return page


def in_lobby(server: Site, visit: Callable[..., Any], number: int) -> tuple[str, Any]:
    """Somebody who waits for a team: pseudonym and page."""
    token = server.arrive("burger-pair")
    server.go_on(token, "burger-pair", "lobby")
    return server.name(token), visit(f"{server.address}/p/{token}", viewport=SIZES[number])


def verified(server: Site) -> list[str]:
    """Everything that was stored can be computed again; why each participant has left."""
    with server.database.read() as connection:
        study = find_study(connection, "burger-pair")
        assert study is not None
        data = study_data(connection, study)
    assert verify_study(data) == []
    return sorted(str(person.team.left_reason) for person in data.participants if person.team is not None)


def playing(server: Site, visit: Callable[..., Any]) -> dict[str, Any]:
    """Two people who have just begun to play: pages by pseudonym."""
    pages = dict(in_lobby(server, visit, number) for number in (0, 1))
    begin(list(pages.values()))
    return pages


def test_a_researcher_watches_and_writes_to_a_team(
    server: Site, visit: Callable[..., Any], researcher: Any, fits: Callable[..., None]
) -> None:
    one, first = in_lobby(server, visit, 0)
    waiting = researcher.locator("#lobby tbody tr")
    expect(waiting).to_contain_text(one)
    expect(waiting).to_contain_text("here")
    assert violations(researcher) == []
    two, second = in_lobby(server, visit, 1)
    begin([first, second])
    team = researcher.locator("#teams tbody tr")
    for text in ("playing", "1 of 3", one, two):
        expect(team).to_contain_text(text)
    expect(researcher.locator("#nobody-waits")).to_be_visible()
    choose(first, 0)
    expect(team).to_contain_text("waits for")

    # By keyboard alone; both pages show it by their streams.
    team.get_by_role("button", name="Message … to").focus()
    researcher.keyboard.press("Enter")
    expect(researcher.locator("#message-text")).to_be_focused()
    assert violations(researcher) == []
    researcher.keyboard.type("Please hurry a little.")
    researcher.keyboard.press("Tab")
    researcher.keyboard.press("Enter")
    for page in (first, second):
        expect(page.locator(".notes .message")).to_contain_text("Please hurry a little.")
        assert page.locator(".notes").get_attribute("aria-live") == "polite"
        assert violations(page) == []
        fits(page)
    first.locator(".notes button").focus()
    first.keyboard.press("Enter")
    expect(first.locator(".notes .message")).to_have_count(0)
    expect(first.locator("h1")).to_be_focused()
    assert first.locator("main").get_attribute("data-shown") == "0"  # the key closed the message and chose nothing
    first.reload()
    first.get_by_text("Your partner has not chosen yet").wait_for()
    expect(first.locator(".notes .message")).to_have_count(0)
    second.reload()  # it was not closed there
    expect(second.locator(".notes .message")).to_contain_text("Please hurry a little.")
    assert [page.complaints for page in (first, second, researcher)] == [[], [], []]


def test_a_researcher_replaces_a_member_and_ends_the_team(
    server: Site, visit: Callable[..., Any], researcher: Any, fits: Callable[..., None]
) -> None:
    pages = playing(server, visit)
    (_, first), (two, second) = pages.items()
    team = researcher.locator("#teams tbody tr")
    choose(first, 0)

    # An AI takes the seat of the one who has not moved: the round is decided, and the other plays on.
    team.get_by_role("button", name=f"Replace … {two} by an AI").click()
    assert violations(researcher) == []
    researcher.get_by_label("Message to who leaves the team").fill("Thank you. We go on without you.")
    researcher.locator("#team-confirm").click()
    shown(first, 1)
    first.get_by_text("Your partner has left").wait_for()
    second.locator("main[data-step='survey-1']").wait_for()
    expect(second.locator(".notes")).to_contain_text("We go on without you.")
    expect(team).to_contain_text("ended by a researcher")
    fits(researcher)

    team.get_by_role("button", name="End …").click()
    researcher.locator("#team-confirm").click()
    first.locator("main[data-step='survey-1']").wait_for()
    expect(researcher.locator("#no-teams")).to_have_text("No team is at work.")
    expect(team).to_have_count(0)
    researcher.get_by_role("button", name="Over").click()
    expect(team).to_contain_text("over")
    assert verified(server) == ["researcher", "researcher"]
    assert [page.complaints for page in (*pages.values(), researcher)] == [[], [], []]
    actions = {entry["action"] for entry in server.admin.get("/api/admin/log").json()["entries"]}
    assert {"message-sent", "member-replaced", "team-ended"} <= actions


@pytest.mark.parametrize("language", MESSAGES)
def test_a_message_in_a_study_of_single_people(server: Site, visit: Callable[..., Any], language: str) -> None:
    token = server.arrive("lone")
    server.go_on(token, "lone", "episode-0")
    page = visit(f"{server.address}/p/{token}?language={language}", viewport=SIZES[1])
    page.locator(".choices-row button").first.wait_for()
    sent = {"text": "Ten minutes left.\nThank you!", "participant": server.name(token)}
    server.admin.post("/api/admin/studies/2/messages", json=sent).raise_for_status()
    choose(page, 0)  # it comes with the next answer
    note = page.locator(".notes .message")
    expect(note).to_contain_text("Ten minutes left.")
    heading, close = MESSAGES[language]
    expect(note).to_contain_text(heading)
    note.get_by_role("button", name=close).click()
    expect(note).to_have_count(0)
    page.reload()
    shown(page, 1)
    expect(page.locator(".notes .message")).to_have_count(0)
    kinds = [kind for kind, _ in server.events(token) if kind.startswith("message")]
    assert kinds == ["message", "message-shown", "message-dismissed"]
    assert page.complaints == []


def test_a_page_that_does_nothing_asks_now_and_then(server: Site, visit: Callable[..., Any]) -> None:
    token = server.arrive("lone")
    page = visit("about:blank")
    page.clock.install()
    page.goto(f"{server.address}/p/{token}")
    page.locator("h1").wait_for()
    sent = {"text": "We begin at ten.", "participant": server.name(token)}
    server.admin.post("/api/admin/studies/2/messages", json=sent).raise_for_status()
    page.clock.fast_forward(15_000)
    expect(page.locator(".notes .message")).to_contain_text("We begin at ten.")
