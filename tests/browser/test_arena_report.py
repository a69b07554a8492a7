"""The page of an arena in a real browser, with the network cut off."""

from __future__ import annotations

import pytest

from cobandit.experiments import Arena
from cobandit.report import write_arena_report
from tests.arena_results import invented
from tests.browser.accessibility import violations

pytest.importorskip("playwright.sync_api")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return write_arena_report(
        invented(Arena.of(["fixed-500", "casino", "near-half", "exact-12"])), tmp_path_factory.mktemp("arena")
    )


@pytest.mark.parametrize(("scheme", "width"), [("light", 1366), ("dark", 390)])
def test_is_readable_by_everybody_and_asks_nobody(visit, report, scheme, width):
    opened = visit(report, color_scheme=scheme, viewport={"width": width, "height": 664})
    assert opened.requests == [report.as_uri()]
    assert opened.complaints == []
    page = opened.page
    page.get_by_text("casino: the casino", exact=False).first.click()
    page.get_by_role("heading", name="Whole teams").wait_for()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
