"""The tutorial "Your first study", walked through in a browser with the server that its first command starts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.participants import at, choose, expect, fill, go_on, tap, unsent, wait_shown
from tests.terminal import ServeCommand

pytestmark = pytest.mark.slow

TUTORIAL = (Path(__file__).resolve().parents[2] / "docs/tutorials/first-study.md").read_text(encoding="utf-8")
ROUNDS = 20


def section(number: int) -> str:
    return TUTORIAL.split(f"\n## {number}. ")[1].split("\n## ")[0]


def titles() -> list[str]:
    """Return the titles of the pages, as the tutorial announces them."""
    return [title.rstrip(".") for title in re.findall(r"^\d\. \*\*(.+?)\*\*", section(2), re.MULTILINE)]


def heading(page: Any, title: str) -> None:
    expect(page.locator("h1")).to_have_text(re.compile(f"^{re.escape(title)}"))


@pytest.mark.long
def test_walk_through(new_context: Callable[..., Any], tmp_path: Path) -> None:
    (command,) = re.findall(r"^\$ (cobandit study serve .*)$", section(1), re.MULTILINE)
    welcome, about, instructions, quiz, part_1, impressions, part_2, thanks = titles()
    server = ServeCommand(command, tmp_path)
    try:
        page = new_context(locale="en-GB").new_page()
        page.goto(server.demo)
        begin(page, welcome, about, instructions, quiz)
        heading(page, part_1)
        choose(page, 0)
        page.reload()
        wait_shown(page, 1)
        server.stop()
        page.locator(".choice").nth(1).click()
        unsent(page, 1)
        password = server.password
        server = ServeCommand(command, tmp_path, server.port)
        wait_shown(page, 2)
        play_on(page, 2)
        at(page, "survey-1")
        heading(page, impressions)
        fill(page, 1)
        go_on(page)
        at(page, "partner-2")
        go_on(page)
        at(page, "episode-1")
        heading(page, part_2)
        play_on(page, 0)
        at(page, "survey-2")
        fill(page, 1)
        go_on(page)
        at(page, "thanks")
        heading(page, thanks)
        expect(page.locator("#code")).to_be_visible()
        look_as_researcher(page, server, password)
    finally:
        server.stop()


def begin(page: Any, welcome: str, about: str, instructions: str, quiz: str) -> None:
    """Agree, answer and read, up to the first burger; the quiz is wrong at first."""
    at(page, "consent")
    heading(page, welcome)
    go_on(page)
    at(page, "demographics")
    heading(page, about)
    page.fill("#age", "33")
    fill(page, 0)
    go_on(page)
    at(page, "instructions")
    heading(page, instructions)
    go_on(page)
    at(page, "quiz")
    heading(page, quiz)
    fill(page, 0)
    go_on(page)
    expect(page.locator(".failed")).to_have_count(3)
    fill(page, 0, 1, 1, 2)
    go_on(page)
    at(page, "partner-1")
    go_on(page)
    at(page, "episode-0")


def play_on(page: Any, played: int) -> None:
    """Stack the other burgers of a part by key, as section 2 says, and go on to the survey."""
    for t in range(played, ROUNDS):
        tap(page, str(1 + t % 2))
        wait_shown(page, t + 1)
    page.locator(".panel .primary").click()


def look_as_researcher(page: Any, server: ServeCommand, password: str) -> None:
    """Find what section 3 names on the researcher's pages."""
    text = section(3)
    page.goto(f"{server.address}/admin")
    page.fill("#password", password)
    page.locator("main .primary").click()
    page.get_by_role("link", name="Stacking burgers with a robot").click()
    for words in ("Participants", "Rehearsal", "Demo", "By condition", "By order"):
        assert f"*{words}*" in text
        expect(page.get_by_text(words).filter(visible=True).first).to_be_visible()
    regret = page.get_by_role("heading", name="Task regret so far")
    expect(regret).to_be_hidden()
    page.locator("#kinds [data-kind=demo]").click()
    expect(regret).to_be_visible()
    assert "*Task regret so far*" in text
    row = page.locator("#people tbody tr")
    expect(row).to_have_count(1)
    row.get_by_role("link").first.click()
    expect(page.locator("#rounds tbody tr")).to_have_count(ROUNDS)
    page.goto(f"{server.address}/s/burger")
    heading(page, "This study has not begun yet")
    assert "This study has not begun yet" in TUTORIAL
