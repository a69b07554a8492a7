"""The report of a study in a real browser, with the network cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("axe_playwright_python", reason="the page is checked with axe: pip install axe-playwright-python")

from playwright.sync_api import expect

from cobandit.analysis import Analysis, analyse_data
from cobandit.report import write_study_report
from cobandit.studies import load_design, rehearsed_data
from tests.browser.accessibility import violations
from tests.parameters import quick

Open = Callable[..., Any]
Check = Callable[..., None]

PAPER = "getComputedStyle(document.body).backgroundColor"
SHOWN = "(all) => all.filter((one) => one.checkVisibility()).length"
# Letters of the drawn figures, in points of the screen, that are smaller than 9.
TINY = """(all) => all.filter((one) => one.checkVisibility() && one.textContent.trim() !== ""
  && one.getBoundingClientRect().height > 0
  && parseFloat(getComputedStyle(one).fontSize) * Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b) < 9).length"""


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    design = replace(load_design("casino"), rounds=15, episodes=3, practice=None)
    return analyse_data(rehearsed_data(design, [("softmax", i, i % 2) for i in range(6)], answers="drawn"))


@pytest.fixture(scope="module", autouse=True)
def svg_alone() -> Iterator[None]:
    """Only the page is looked at here, and most of the time goes into fonts of PDF files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cobandit.report.kit.figure.FORMATS", ("svg",))
        yield


@pytest.fixture(scope="module")
def study(svg_alone: None, analysis: Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_study_report(analysis, tmp_path_factory.mktemp("study"), {"when": "2022-02-22", "command": "x " * 60})


def test_opens_offline_and_asks_nobody_for_anything(visit: Open, study: Path) -> None:
    opened = visit(study)
    assert opened.page.title() == "A casino with an AI partner: results of simulated participants"
    assert opened.requests == [study.as_uri()]
    assert opened.complaints == []
    assert opened.page.get_by_text("SIMULATED PARTICIPANTS.", exact=True).is_visible()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_fits_the_screen_and_is_accessible(visit: Open, study: Path, fits: Check, width: int, scheme: str) -> None:
    page = visit(study, viewport={"width": width, "height": 844}, color_scheme=scheme).page
    assert (page.evaluate(PAPER) == "rgb(255, 255, 255)") == (scheme == "light")
    fits(page)
    pictures = page.locator("svg.drawn")
    assert pictures.count() == 12
    assert pictures.evaluate_all(SHOWN) == 5  # the static chart gives way to the live one
    assert page.locator("svg.drawn text").evaluate_all(TINY) == 0
    page.locator("details").evaluate_all("(all) => all.forEach((one) => (one.open = true))")
    fits(page)
    assert violations(page) == []


def test_the_chart_begins_with_task_regret_and_follows_the_switches(visit: Open, study: Path) -> None:
    opened = visit(study)
    figure = opened.page.locator('figure[data-panel="regret"]')
    plot = figure.locator(".plot")
    assert plot.get_attribute("data-regret") == "task"
    assert plot.get_attribute("data-drawn") == "2"
    assert plot.get_attribute("data-bands") == "2"
    figure.get_by_role("button", name="Team regret").click()
    figure.get_by_role("button", name="Median, 10\N{EN DASH}90 %").click()
    assert (plot.get_attribute("data-regret"), plot.get_attribute("data-stat")) == ("team", "median")
    plot.focus()
    opened.page.keyboard.press("End")
    assert figure.locator("[aria-live]").text_content().startswith("Round 15. ")
    assert opened.complaints == []


def test_hypotheses_can_be_filtered(visit: Open, study: Path, analysis: Analysis) -> None:
    page = visit(study).page
    verdicts = [row.verdict for row in analysis.exploratory]
    rows = page.locator("#summary tr[data-outcome]")
    page.locator('.filters button[data-outcome="not supported"]').click()
    assert rows.evaluate_all(SHOWN) == verdicts.count("not supported") > 0
    page.locator('.filters button[data-outcome=""]').click()
    assert rows.evaluate_all(SHOWN) == len(verdicts) + 1
    assert page.locator("#summary .group-row").evaluate_all(SHOWN) == 2


def test_the_paragraphs_can_be_copied(visit: Open, study: Path, analysis: Analysis) -> None:
    page = visit(study, permissions=["clipboard-read", "clipboard-write"]).page
    for name, text in (("results", analysis.results_text), ("methods", analysis.methods)):
        page.get_by_role("button", name=f"Copy the {name}").click()
        expect(page.locator(f"[data-copy={name}-text] + .copied")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()") == text


def test_where_nothing_may_be_copied_the_text_is_selected(visit: Open, study: Path) -> None:
    page = visit(study).page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.get_by_role("button", name="Copy the methods").click()
    page.locator(".copied", has_text="Selected").wait_for()
    assert page.evaluate("getSelection().toString()").startswith("Participants. 6 simulated participants")


def test_prints_wide_figures_in_light_colours(visit: Open, study: Path, fits: Check) -> None:
    page = visit(study, color_scheme="dark", viewport={"width": 700, "height": 1000}).page
    page.emulate_media(media="print")
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)"
    fits(page)
    assert page.locator("svg.drawn.wide").evaluate_all(SHOWN) == 6
    assert page.locator("svg.drawn.narrow").evaluate_all(SHOWN) == 0
    assert page.locator(".plot, .contents, .copy, details").evaluate_all(SHOWN) == 0
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_without_scripts_everything_can_be_read(visit: Open, study: Path) -> None:
    page = visit(study, java_script_enabled=False).page
    assert page.locator(".static-charts svg.drawn.wide").is_visible()
    assert page.locator("svg.drawn.wide").first.is_visible()
    assert page.locator(".copy").first.is_hidden()


@pytest.mark.parametrize("count", quick([0, 1], [0]))
def test_nearly_nobody_makes_a_sound_page(visit: Open, tmp_path: Path, fits: Check, count: int) -> None:
    data = rehearsed_data(load_design("burger"), [("softmax", i, 0) for i in range(count)])
    opened = visit(write_study_report(analyse_data(data), tmp_path), viewport={"width": 390, "height": 844})
    assert opened.complaints == []
    fits(opened.page)
    assert opened.page.locator(".undrawn").count() == (5 if count == 0 else 1)
    assert violations(opened.page) == []
