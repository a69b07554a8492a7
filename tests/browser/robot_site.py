"""A server with a robot, for the tests of its pages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from cobandit.studies import StudyDesign, load_design
from tests.browser.accessibility import violations
from tests.browser.site import Site

DESIGN = StudyDesign.from_dict(load_design("burger").to_dict() | {"name": "shop", "rounds": 6})
Visit = Callable[..., Any]


def serve(folder: Path, **robot: Any) -> Iterator[Site]:
    """A server whose study has its database in a folder."""
    site = Site(folder, DESIGN, **robot)
    yield site
    site.close()


@contextmanager
def quiet_pages(new_context: Callable[..., Any], width: int = 1100, height: int = 800) -> Iterator[Visit]:
    """Opens pages that must not complain."""
    complaints: list[str] = []

    def open_page(address: str, script: str = "", **options: Any) -> Any:
        context = new_context(**({"viewport": {"width": width, "height": height}, "locale": "en-GB"} | options))
        if script:
            context.add_init_script(script)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_page
    assert complaints == []


def choose(page: Any, arm: int) -> None:
    page.locator(".choice").nth(arm).click()


def shown(page: Any, n: int) -> None:
    expect(page.locator("#app")).to_have_attribute("data-shown", str(n))


def clean(page: Any) -> None:
    assert violations(page) == []
