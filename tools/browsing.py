"""Start a server with studies and a Chromium, for the tools that take pictures of pages."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cobandit.studies import StudyDesign
from cobandit.web import WebConfig
from cobandit.web.serving import prepare, running

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The headless shell is the same engine without windows: a new context takes a fifth of the computing time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def installed_browser() -> str | None:
    """Return the path of the first browser of the list that is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def demo_site(designs: Sequence[StudyDesign] = ()) -> Iterator[tuple[str, Browser]]:
    """Serve the designs, with demos, from a temporary database; yield the address and a browser."""
    from playwright.sync_api import sync_playwright

    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = f"sqlite:///{folder}/studies.sqlite"
        prepare(database, list(designs), password="only for pictures")
        with running(WebConfig(database=database, demo=True)) as address:
            yield address, playwright.chromium.launch(executable_path=installed_browser(), args=arguments)
