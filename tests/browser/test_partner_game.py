"""The example of the partner service in a browser: a game with a partner, and the page of the team's history."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cobandit.web import WebConfig
from cobandit.web.services.partner.keys import add_key
from cobandit.web.serving import prepare, running
from cobandit.web.storage.database import Database
from tests.browser.accessibility import violations
from tests.browser.conftest import FITS

SERVER = Path(__file__).resolve().parents[2] / "examples" / "partner_game" / "server.py"
ROUNDS = 6
SIZES = [(390, 664), (1366, 625)]


@pytest.fixture(scope="module")
def game_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The example in a process of its own, before a partner service."""
    database = f"sqlite:///{tmp_path_factory.mktemp('partner') / 'partner.sqlite'}"
    prepare(database, [], password="correct horse")
    opened = Database(database)
    with opened.write() as connection:
        key = add_key(connection, "test", "tea-house", scope="admin")[1]
    opened.close()
    with running(WebConfig(database=database, partners=True)) as url:
        environment = os.environ | {"COBANDIT_URL": url, "COBANDIT_KEY": key}
        command = [sys.executable, str(SERVER), "0"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            yield process.stdout.readline().strip().partition(" at ")[2]
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_team_plays_and_reads_its_history(browser: Any, game_url: str, scheme: str, tmp_path: Path) -> None:
    from playwright.sync_api import expect

    page = browser.new_page(viewport={"width": 390, "height": 664}, color_scheme=scheme)
    errors = list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(game_url)
    expect(page.locator("body[data-ready]")).to_be_attached()
    for number in range(1, ROUNDS + 1):
        page.get_by_role("button", name=["Green", "Black", "Hibiscus"][number % 3]).click()
        expect(page.locator("#guests")).to_have_text(str(number))
    happy = int(page.locator("#happy").inner_text())
    expect(page.locator("#said")).to_contain_text("Your partner served")
    page.reload()
    expect(page.locator("#happy")).to_have_text(str(happy))
    look(page, tmp_path, f"game-{scheme}")
    page.get_by_role("link", name="History").click()
    expect(page.locator("#rounds li")).to_have_count(ROUNDS)
    assert page.locator("#rounds .good").count() == happy
    assert page.locator("#pairs tr").count() == 3
    look(page, tmp_path, f"history-{scheme}")
    assert errors == []
    page.close()


def look(page: Any, folder: Path, name: str) -> None:
    """No sideways scrolling and no barrier, at each size; pictures are in the folder of the test."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(FITS)
        page.screenshot(path=str(folder / f"{name}-{width}.png"))
    assert violations(page) == []


@pytest.mark.slow
def test_two_tabs_are_one_game(browser: Any, game_url: str) -> None:
    """A second tab that plays the same round gets what was played there, or the page says so and catches up."""
    from playwright.sync_api import expect

    context = browser.new_context()
    one, two = context.new_page(), context.new_page()
    one.goto(game_url)
    expect(one.locator("body[data-ready]")).to_be_attached()
    two.goto(game_url)
    expect(two.locator("body[data-ready]")).to_be_attached()
    one.get_by_role("button", name="Green").click()
    expect(one.locator("#guests")).to_have_text("1")
    two.get_by_role("button", name="Black").click()
    expect(two.locator("#problem")).to_contain_text("another team action")
    expect(two.locator("#guests")).to_have_text("1")
    context.close()
