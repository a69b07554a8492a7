"""A real browser, and a report made of every panel for it to open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cobandit.experiments import CurveResult, Panel, PanelResult, Settings, chunks
from cobandit.experiments.figures import PANELS, THEORY, panel
from cobandit.experiments.work import compute
from cobandit.report.page import write_page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NEEDED = (
    "The browser tests need the Python package 'playwright' and one of the browsers "
    f"{', '.join(BROWSERS)}: pip install playwright; apt-get install chromium"
)
ARGUMENTS = [
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def _unable() -> None:
    """Where nobody looks, a test that did not run must not pass for one that did."""
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(NEEDED, pytrace=False)
    pytest.skip(NEEDED)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium without a window.

    Not for all modules at once: while it is there, an event loop of playwright's runs in this thread, and other tests
    want to run their own.
    """
    path = next((found for found in map(shutil.which, BROWSERS) if found), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        _unable()
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=path, args=[*ARGUMENTS, *(["--no-sandbox"] if root else [])]
        )
        yield chromium
        chromium.close()


class Visit:
    """An open page, and everything it asked for or complained of."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Visit]]:
    """Open a file with the network cut off; ``options`` are those of a browser context."""
    contexts = []

    def open_file(path: Path, **options: Any) -> Visit:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        context.set_offline(True)
        context.route(lambda url: not url.startswith(("file:", "data:")), lambda route: route.abort())
        visit = Visit(context.new_page())
        visit.page.goto(path.as_uri())
        return visit

    yield open_file
    for context in contexts:
        context.close()


def play(one: Panel, settings: Settings) -> PanelResult:
    """A panel played here and now, nothing stored."""
    results = []
    for chunk in chunks(one, settings):
        done = compute(chunk)
        results.append(
            CurveResult(chunk.curve, done.checkpoints, done.task_regret, done.team_regret, done.engine, done.seconds)
        )
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
