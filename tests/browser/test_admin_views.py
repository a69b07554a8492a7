"""What the researcher's pages keep in their address, and what they say about labels, in a real browser."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.accessibility import violations
from tests.browser.test_admin import DESIGN, Server, Visit

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def opened(tmp_path: Path, new_context: Callable[..., Any]) -> Iterator[Visit]:
    """A researcher in front of the page of a study."""
    with contextlib.closing(Server(tmp_path)) as server:
        visit = Visit(new_context().new_page(), server)
        visit.login()
        yield visit


def test_back_leads_to_the_same_view(opened: Visit) -> None:
    page, server = opened.page, opened.server
    rehearsal = {"key": uuid.uuid4().hex, "consent_version": DESIGN.consent.version, "rehearsal": True}
    token = server.admin.post("/api/studies/quick/participants", json=rehearsal).json()["token"]
    server.go_on(token, "quick")
    page.get_by_role("button", name="Rehearsal").click()
    page.get_by_role("button", name="finished").click()
    page.get_by_label("Search by id").fill("p-")
    page.wait_for_url("**/admin/studies/1?kind=rehearsal&status=finished&search=p-")
    page.locator("#people tbody a").click()
    page.wait_for_url("**/participants/*")
    page.get_by_role("tab").nth(2).click()
    expect(page.locator("#episode-facts")).to_contain_text("Condition")
    expect(page.locator("#episode-facts")).not_to_contain_text("Partner")
    page.wait_for_url(re.compile(r"\?episode=2$"))
    page.reload()
    expect(page.get_by_role("tab").nth(2)).to_have_attribute("aria-selected", "true")
    expect(page.locator("#panel")).to_have_attribute("data-shown", "2 1")
    page.go_back()
    expect(page.get_by_role("button", name="Rehearsal")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="finished")).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_label("Search by id")).to_have_value("p-")
    expect(page.locator("#people tbody tr")).to_have_count(1)
    page.goto(f"{server.address}/admin/studies/1?kind=nonsense&offset=-3&sort=%00&status=")
    expect(page.get_by_role("button", name="Participants 0")).to_have_attribute("aria-pressed", "true")
    assert opened.complaints == []


def test_a_label_that_has_a_link_is_named(opened: Visit) -> None:
    page = opened.page
    page.get_by_role("button", name="Personal links …").click()
    dialog = page.get_by_role("dialog")
    for label in ("anna", "anna"):
        dialog.get_by_label("Labels, one per line").fill(label)
        dialog.get_by_role("button", name="Create").click()
        expect(dialog.locator("#links tbody tr")).to_have_count(1)
    expect(dialog.get_by_role("alert")).to_contain_text("Labels that have a link already: anna.")
    dialog.get_by_label("Create another link").check()
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.locator("#links tbody tr")).to_have_count(2)
    expect(dialog.get_by_label("Create another link")).to_be_hidden()
    assert [complaint for complaint in opened.complaints if "409" not in complaint] == []


@pytest.mark.usefixtures("without_scripts")
def test_without_uplot_the_monitor_shows_a_static_chart_and_says_so(opened: Visit, fits: Callable[..., None]) -> None:
    page = opened.page
    opened.server.go_on(opened.server.arrive("quick"), "quick")
    expect(page.locator("#curves .plot")).to_have_attribute("data-n", "1 1")
    expect(page.locator("#curves svg.static-chart path.line")).to_have_count(2)
    expect(page.get_by_text("The chart is static and has no bands, because uPlot")).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 664})
    fits(page, "narrow")
    assert violations(page) == []
    assert opened.complaints == []


def test_results_are_shown_after_unblinding(opened: Visit) -> None:
    page, server = opened.page, opened.server
    assert server.admin.post("/api/admin/studies/1/blind").status_code == 200
    page.get_by_role("link", name="Results").click()
    expect(page.get_by_role("heading", name="The results are hidden")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Show the conditions and the results").click()
    expect(page.get_by_role("heading", name="Hypotheses")).to_be_visible(timeout=120_000)
    expect(page.locator("#summary")).to_contain_text("0 of 0 who began are analysed")
    assert violations(page) == []
    with page.expect_download() as download:
        page.get_by_role("link", name="Tests (CSV)").click()
    assert download.value.suggested_filename == "results.csv"
    assert opened.complaints == []
