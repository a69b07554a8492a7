"""A real browser, and a report made of every panel for it to open."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cobandit.experiments import CurveResult, Panel, PanelResult, Settings, chunks
from cobandit.experiments.figures import PANELS, THEORY, panel
from cobandit.experiments.work import compute
from cobandit.report.simulation.page import write_page
from tests.clients import PATIENCE
from tests.conftest import unable
from tools.browsing import BROWSERS, installed_browser

NEEDED = (
    "The browser tests need the Python package 'playwright' and one of the browsers "
    f"{', '.join(BROWSERS)}: pip install playwright; apt-get install chromium"
)
FITS = "document.documentElement.scrollWidth <= window.innerWidth"
# Playwright itself may evaluate; what a page does later by itself is under its policy.
EVALUATES = """() => new Promise((done) => setTimeout(() => {
  try { done(eval("'a string was run'")); } catch (error) { done(error.name); }
}))"""
MILLISECONDS = 1000 * PATIENCE

ARGUMENTS = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser(third_party_scripts: None) -> Iterator[Any]:
    """Chromium without a window.

    Not for all modules at once: while it is there, an event loop of playwright's runs in this thread, and other tests
    want to run their own.
    """
    path = installed_browser()
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        path = None
    if path is None:
        unable(NEEDED)
    expect.set_options(timeout=MILLISECONDS)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=[*ARGUMENTS, *(["--no-sandbox"] if root else [])]
        )
        yield chromium
        chromium.close()


def _until(page: Any, look: Callable[[], Any], what: str = "") -> None:
    """Look again and again, from here, until it is true.

    For what ``expect(locator)`` cannot say. ``page.wait_for_function`` is no way: it makes the page itself evaluate a
    string at each look, and the pages' Content-Security-Policy forbids just that.
    """
    deadline = time.monotonic() + PATIENCE
    while not look():
        assert time.monotonic() < deadline, f"still not so at {page.url}: {what}"
        page.wait_for_timeout(20)


@pytest.fixture(scope="session")
def until() -> Callable[..., None]:
    """Wait for something that no locator can say: ``until(page, look)``."""
    return _until


@pytest.fixture(scope="session")
def fits() -> Callable[..., None]:
    """Nothing sticks out to the right, ``fits(page, where)``; a chart may need a moment to follow a new width."""
    return lambda page, where="": _until(page, lambda: page.evaluate(FITS), f"it fits {where}")


class Visit:
    """An open page, and everything it asked for or complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)


@pytest.fixture(scope="session")
def strict() -> Callable[[Any], None]:
    """The page is under its policy: it runs no strings."""

    def check(page: Any) -> None:
        assert page.evaluate(EVALUATES) == "EvalError", page.url

    return check


@pytest.fixture
def new_context(browser: Any) -> Iterator[Callable[..., Any]]:
    """Make a browser of one's own, with nothing in it that others left behind; closed after the test.

    Without motion, unless a test asks for it: what is half faded in has, for a moment, too little contrast for axe.
    """
    contexts = []

    def new(**options: Any) -> Any:
        given = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"} | options
        contexts.append(browser.new_context(**given))
        contexts[-1].set_default_timeout(MILLISECONDS)
        return contexts[-1]

    yield new
    for context in contexts:
        context.close()


@pytest.fixture
def visit(new_context: Callable[..., Any]) -> Callable[..., Visit]:
    """Open a file with the network cut off; ``options`` are those of a browser context."""

    def open_file(path: Path, **options: Any) -> Visit:
        context = new_context(**options)
        context.set_offline(True)
        context.route(lambda url: not url.startswith(("file:", "data:")), lambda route: route.abort())
        visit = Visit(context.new_page())
        visit.page.goto(path.as_uri())
        return visit

    return open_file


def play(one: Panel, settings: Settings) -> PanelResult:
    """A panel played here and now, nothing stored."""
    results = [CurveResult.of_runs(chunk.curve, compute(chunk)) for chunk in chunks(one, settings)]
    return PanelResult(one, settings, tuple(results))


@pytest.fixture(scope="session")
def results() -> list[PanelResult]:
    """Every panel, short."""
    settings = Settings(runs=12, horizon=300)
    return [play(panel(name), settings) for name in (*PANELS, THEORY)]


@pytest.fixture(scope="session")
def report(results: list[PanelResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of every panel."""
    return write_page(results, tmp_path_factory.mktemp("report"), {"when": "2022-02-22 22:22"})


@pytest.fixture(scope="session")
def small_report(results: list[PanelResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two panels, for what is the same with all of them: the page of every panel takes a while to draw."""
    few = [result for result in results if result.panel.name in ("sim1-left", THEORY)]
    return write_page(few, tmp_path_factory.mktemp("small-report"), {"when": "2022-02-22 22:22"})


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Some small studies at an address, for the tests of a module."""
    from tests.browser.participants import DESIGNS
    from tests.browser.site import Site

    running = Site(tmp_path_factory.mktemp("site"), *DESIGNS)
    yield running
    running.close()


@pytest.fixture
def guest(new_context: Callable[..., Any], site: Any) -> Iterator[Callable[..., Any]]:
    """Invites people to the site; none of their pages may complain."""
    from tests.browser.participants import Guest

    guests: list[Guest] = []

    def invite(script: str = "", **options: Any) -> Guest:
        given = {"viewport": {"width": 1000, "height": 800}, "locale": "en-GB"} | options
        guests.append(Guest(new_context(**given), site))
        if script:
            guests[-1].context.add_init_script(script)
        return guests[-1]

    yield invite
    for visitor in guests:
        visitor.context.close()
        assert visitor.complaints == []
