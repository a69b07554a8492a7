"""A server with studies and a Chromium beside it, for the tools that take pictures of pages."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from cobandit.studies import StudyDesign
from cobandit.web import WebConfig
from cobandit.web.serving import prepare, running


@contextmanager
def demo_site(designs: Sequence[StudyDesign] = ()) -> Iterator[tuple[str, Browser]]:
    """Serve the designs, with demos, from a temporary database; yield the address and a browser."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        database = f"sqlite:///{folder}/studies.sqlite"
        prepare(database, list(designs), password="only for pictures")
        with running(WebConfig(database=database, demo=True)) as address:
            yield address, playwright.chromium.launch(executable_path=chromium, args=arguments)
