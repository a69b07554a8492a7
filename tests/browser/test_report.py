"""The report in a real browser, with the network cut off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cobandit.experiments import Panel, PanelResult
from cobandit.report.simulation.page import write_page
from tests.parameters import quick

Open = Callable[..., Any]
Check = Callable[..., None]
expect = pytest.importorskip("playwright.sync_api").expect

# How many pixels of a chart have, nearly, the colour of each of its lines.
COLOURED = """(figure) => {
  const canvas = figure.querySelector("canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const panel = JSON.parse(document.getElementById("data").textContent).panels
    .find((panel) => panel.name === figure.dataset.panel);
  return [...panel.curves, ...panel.levels].map((line) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue("--c" + line.number).trim();
    const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    let count = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      const off = Math.abs(pixels[i] - r) + Math.abs(pixels[i + 1] - g) + Math.abs(pixels[i + 2] - b);
      if (off < 60 && pixels[i + 3] > 200) count += 1;
    }
    return count;
  });
}"""
PICTURE = "(figure) => figure.querySelector('canvas').toDataURL()"
CURVE = "path[style*='fill: none'][style*='var(--c']"
ALL_SHOWN = "(all) => all.every((one) => one.checkVisibility())"
PAPER = "getComputedStyle(document.body).backgroundColor"


def chart(page: Any, name: str) -> Any:
    return page.locator(f'figure[data-panel="{name}"]')


def drawn(figure: Any) -> int:
    return int(figure.locator(".plot").get_attribute("data-drawn"))


def test_opens_offline_and_asks_nobody_for_anything(visit: Open, report: Path) -> None:
    opened = visit(report)
    assert opened.page.title() == "Bandit teams: the paper's figures"
    assert [url for url in opened.requests if not url.startswith(("file:", "data:"))] == []
    assert opened.requests == [report.as_uri()]
    assert opened.complaints == []


def test_without_uplot_the_charts_are_static_and_the_page_says_so(
    visit: Open, results: list[PanelResult], without_scripts: Path, tmp_path: Path
) -> None:
    opened = visit(write_page([results[0]], tmp_path, {"when": "2022-02-22 22:22"}))
    expect(opened.page.get_by_text("The charts are static, because uPlot")).to_be_visible()
    figure = chart(opened.page, results[0].panel.name)
    expect(figure.locator(".static-charts svg").first).to_be_visible()
    expect(figure.locator(".plot")).to_be_hidden()
    opened.page.get_by_role("button", name="Dark").click()
    expect(opened.page.locator(":root")).to_have_attribute("data-theme", "dark")
    assert opened.complaints == []


def test_it_runs_no_strings(visit: Open, small_report: Path, strict: Check) -> None:
    strict(visit(small_report).page)


@pytest.mark.parametrize("scheme", quick(["light", "dark"], ["dark"]))
def test_every_panel_drew_all_its_curves(visit: Open, report: Path, results: list[PanelResult], scheme: str) -> None:
    opened = visit(report, color_scheme=scheme)
    assert opened.page.locator("figure.chart").count() == len(results)
    for result in results:
        figure = chart(opened.page, result.panel.name)
        extra = 4 if result.panel.name == "theorem-1" else 0
        assert drawn(figure) == len(result.curves) + extra
        assert figure.locator(".legend button").count() == len(result.curves) + extra
        counts = figure.evaluate(COLOURED)
        assert all(count > 25 for count in counts), (result.panel.name, counts)
    assert opened.complaints == []


def test_a_press_in_the_legend_hides_a_curve_and_brings_it_back(visit: Open, small_report: Path) -> None:
    figure = chart(visit(small_report).page, "sim1-left")
    entry = figure.get_by_role("button", name="Naive UCB")
    before = figure.evaluate(COLOURED)
    entry.click()
    hidden = figure.evaluate(COLOURED)
    assert entry.get_attribute("aria-pressed") == "false"
    assert drawn(figure) == 2
    assert hidden[1] == 0
    assert hidden[0] > 0
    entry.click()
    assert entry.get_attribute("aria-pressed") == "true"
    assert figure.evaluate(COLOURED) == before


def test_switches_change_the_picture_and_the_table(visit: Open, small_report: Path) -> None:
    opened = visit(small_report)
    figure = chart(opened.page, "sim1-left")
    section = opened.page.locator("#sim1-left")
    plot = figure.locator(".plot")
    seen = {figure.evaluate(PICTURE)}
    assert section.locator('tbody[data-regret="team"]').is_visible()
    assert not section.locator('tbody[data-regret="task"]').is_visible()
    for name, attribute, value in [
        ("Median, 10\N{EN DASH}90 %", "data-stat", "median"),
        ("Log regret", "data-y", "log"),
        ("Log rounds", "data-x", "log"),
        ("Task regret", "data-regret", "task"),
    ]:
        button = figure.get_by_role("button", name=name)
        button.focus()
        opened.page.keyboard.press("Enter")
        assert button.get_attribute("aria-pressed") == "true"
        assert plot.get_attribute(attribute) == value
        picture = figure.evaluate(PICTURE)
        assert picture not in seen, f"{name} changed nothing"
        seen.add(picture)
    assert all(count > 25 for count in figure.evaluate(COLOURED))
    assert section.locator('tbody[data-regret="task"]').is_visible()
    assert not section.locator('tbody[data-regret="team"]').is_visible()
    assert opened.complaints == []


def test_every_chart_can_be_drawn_in_every_way(visit: Open, report: Path) -> None:
    opened = visit(report)
    for key in ("stat", "logy", "logx", "regret"):
        opened.page.locator(f'.switch[data-key="{key}"]').evaluate_all("(all) => all.forEach((one) => one.click())")
    for figure in opened.page.locator("figure.chart").all():
        assert figure.locator(".plot").get_attribute("data-stat") == "median"
        assert all(count > 10 for count in figure.evaluate(COLOURED))
    assert opened.complaints == []


def test_pointing_at_a_round_shows_every_curve_there(visit: Open, small_report: Path) -> None:
    page = visit(small_report).page
    figure = chart(page, "sim1-left")
    figure.scroll_into_view_if_needed()
    box = figure.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    tip = figure.locator(".tip")
    for text in ("Round 150", "Partner-Aware UCB", "Naive UCB", "Naive Thompson"):
        expect(tip).to_contain_text(text)
    expect(tip).to_be_visible()
    page.mouse.move(2, 2)
    tip.wait_for(state="hidden")


def test_arrow_keys_read_the_chart(visit: Open, small_report: Path) -> None:
    page = visit(small_report).page
    figure = chart(page, "sim1-left")
    figure.locator(".plot").focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert "Round 297" in figure.locator(".tip").inner_text()
    spoken = figure.locator("[aria-live]").text_content()
    assert spoken.startswith("Round 297. Naive UCB: ")
    page.keyboard.press("Escape")
    assert not figure.locator(".tip").is_visible()


def test_claims_can_be_filtered_by_their_verdict(visit: Open, report: Path, results: list[PanelResult]) -> None:
    page = visit(report).page
    outcomes = [verdict.outcome for result in results for verdict in result.verdicts]
    rows = page.locator("#summary tr[data-outcome]")
    assert rows.count() == len(outcomes)
    page.locator('.filters button[data-outcome="does not hold"]').click()
    shown = rows.evaluate_all("(all) => all.filter((one) => one.checkVisibility()).length")
    assert shown == outcomes.count("does not hold")
    page.locator('.filters button[data-outcome=""]').click()
    assert rows.evaluate_all(ALL_SHOWN)


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (390, "light")])
def test_fits_the_screen_in_light_and_dark(visit: Open, report: Path, fits: Check, width: int, scheme: str) -> None:
    page = visit(report, viewport={"width": width, "height": 844}, color_scheme=scheme).page
    fits(page)
    light = page.evaluate(PAPER) == "rgb(255, 255, 255)"
    assert light == (scheme == "light")
    before = chart(page, "sim1-left").evaluate(PICTURE)
    page.get_by_role("button", name="Dark", exact=True).click()
    assert (page.evaluate(PAPER) == "rgb(255, 255, 255)") != light
    assert chart(page, "sim1-left").evaluate(PICTURE) != before, "the chart kept its colours"
    page.set_viewport_size({"width": width - 30, "height": 844})
    fits(page)


@pytest.mark.parametrize("scheme", quick(["light", "dark"], ["dark"]))
def test_prints_still_charts_in_light_colours(
    visit: Open, report: Path, results: list[PanelResult], fits: Check, scheme: str
) -> None:
    page = visit(report, color_scheme=scheme, viewport={"width": 700, "height": 1000}).page
    page.get_by_role("button", name="Dark", exact=True).click()
    page.emulate_media(media="print")
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)"
    fits(page)
    charts = page.locator("svg.drawn")
    assert charts.count() == 2 * len(results)
    assert charts.evaluate_all(ALL_SHOWN)
    assert page.locator(".plot, .controls, .legend").evaluate_all("(all) => all.every((one) => !one.checkVisibility())")
    assert page.locator("tbody[data-regret]").evaluate_all(ALL_SHOWN)
    first = page.locator("#sim1-left svg.drawn").first
    assert first.locator(CURVE).count() == 3
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_without_scripts_the_still_charts_stand_in(visit: Open, small_report: Path) -> None:
    page = visit(small_report, java_script_enabled=False).page
    assert page.locator("#sim1-left svg.drawn").first.is_visible()
    assert page.locator("#theme").is_hidden()


def test_labels_are_text_whatever_they_hold(visit: Open, results: list[PanelResult], tmp_path: Path) -> None:
    nasty = '</script><img src=x onerror="window.struck=1">&amp;"'
    one = results[2]
    curves = tuple(replace(c, curve=replace(c.curve, label=f"{n}{nasty}")) for n, c in enumerate(one.curves))
    panel: Panel = replace(one.panel, title=nasty, varies=nasty, fixed=nasty, claims=())
    page_file = write_page([replace(one, panel=panel, curves=curves)], tmp_path, {"title": nasty, nasty: nasty})
    opened = visit(page_file)
    figure = chart(opened.page, "sim1-left")
    assert drawn(figure) == 3
    assert figure.locator(".legend button").first.inner_text() == f"0{nasty}"
    assert opened.page.locator("h1").inner_text() == nasty
    assert opened.page.locator("img").count() == 0
    assert opened.page.evaluate("window.struck") is None
    assert opened.complaints == []
